"""The paper's tables: `grid` runs a profile's `cells` and writes a `folder`; `report` reads it."""
