"""What decisions save relative to the best constant decision, and what is as good as the best.

A saving is a row of `results.csv`, or the mean of some, with these columns:

- `constant_decision`, the name of the one decision that costs least if it is always taken, and
  `constant_cost`, its average cost;
- `saved`, how much less than that the decisions cost, and `saved_low` and `saved_high`, the paired
  95 % interval of that;
- `against_best`: `"best"`, `"tied"` if the paired 95 % interval of the difference to the best
  algorithm contains 0, or `"costlier"`.
"""

from collections.abc import Mapping
from typing import Any

from csdl_keras.evaluation import CostReport
from csdl_keras.evaluation._report_text import warning

COLUMNS = ("constant_decision", "constant_cost", "saved", "saved_low", "saved_high", "against_best")


def savings_of(report: CostReport) -> dict[str, dict[str, Any]]:
    """Returns the savings of a report's rows by their names."""
    found = {}
    for row in report.rows:
        pair, best = row.against_constant, row.against_best
        assert pair is not None  # Only the row of the constant decision has none.
        place = "best" if best is None else "costlier" if best.costlier else "tied"
        cost, constant = report.constant.average_cost, report.constant_name
        figures = cost, 0.0 - pair.difference, 0.0 - pair.high, 0.0 - pair.low
        found[row.name] = dict(zip(COLUMNS, (constant, *figures, place), strict=True))
    return found


def findings(savings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Returns savings and their warning as `run.json` holds them."""
    rows = {name: {column: it[column] for column in COLUMNS} for name, it in savings.items()}
    return {"warning": warning(savings), "savings": rows}
