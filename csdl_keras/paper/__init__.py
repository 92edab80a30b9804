"""The paper's tables: the grid that trains them, the folder of results, and the report on it.

`grid` runs `cells`, as many as `profiles` say, and writes the `folder`; `report` reads it.
"""
