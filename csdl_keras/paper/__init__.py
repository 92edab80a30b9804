"""The paper's tables: the grid that trains them, the folder of results, and the report on it.

A folder holds `results.csv` and other tables, `test_decisions/` and `run.json`; see `folder`.
`grid` writes it (`profiles`: how much to run; `cells`: one result; `running`: the only file that
trains). `report` reads it: `table2`, `claims`, `beta_curve` and `searches`.
"""
