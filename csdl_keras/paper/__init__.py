"""The paper's tables: the grid of trainings, the folder of results, and the report.

`grid` runs the `cells` of a profile and writes the `folder`; `report` reads it.
"""
