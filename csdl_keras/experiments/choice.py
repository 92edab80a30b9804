"""The rows of `choices.csv`: what was tried on validation examples."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from csdl_keras.experiments.cell import Cell, Outcome
from csdl_keras.experiments.results import CellRow, cell_columns
from csdl_keras.experiments.search import Search
from csdl_keras.training.settings import column


@dataclasses.dataclass(frozen=True)
class Choice(CellRow):
    """A value of one choice of `Settings`, tried for an algorithm on the validation examples.

    Args:
        parameter: name of the choice, as `column` has it.
        value: the value that was tried.
        given: other choices that were made with it, such as `"optimizer_name=adam"`.
        criterion: `"cost"`, or `"error"` for cost-blind algorithms.
        validation: the criterion on the validation examples; the lowest is chosen.
        collapsed: whether it decides no better than one decision for all examples, see
            `Outcome.collapsed`; such a value is chosen only if all of them are.
        chosen: whether this value was chosen.
        edge: `"low"` or `"high"` if a chosen value is the lowest or highest one that was
            tried of a choice whose search widens.
        epochs: epochs of the training.
        train_seconds: seconds of pre-training and training, shared stages in full, and those that
            were interrupted from where they went on.
        test_cost: average cost of the decisions on test examples. Nothing is
            chosen by it; it draws the curve of `beta`.
        test_cost_error: standard error of that average over test examples.
        cell: key of the cell that tried it; one cell may stand for values of several choices.
    """

    parameter: str
    value: object
    given: str
    criterion: str
    validation: float
    collapsed: bool
    chosen: bool
    edge: str
    epochs: int
    train_seconds: float
    test_cost: float
    test_cost_error: float
    cell: str

    @classmethod
    def of(cls, outcome: Outcome, search: Search, value: object) -> "Choice":
        """Returns the record of a value that was tried, not chosen yet."""
        cell, costs = outcome.cell, outcome.test_costs
        with np.errstate(invalid="ignore"):  # infinite costs have no standard error
            error = float(costs.std(ddof=1) / len(costs) ** 0.5)
        return cls(
            **cell_columns(cell),
            **_tried(search, value),
            criterion=outcome.criterion_name,
            validation=outcome.criterion,
            collapsed=outcome.collapsed,
            chosen=False,
            edge="",
            epochs=outcome.epochs,
            train_seconds=outcome.train_seconds,
            test_cost=float(costs.mean()),
            test_cost_error=error,
            cell=cell.key,
        )

    @classmethod
    def on_file(cls, row: Mapping[str, str], cell: Cell, search: Search, value: object) -> "Choice":
        """Returns the record of a value whose cell a row of `choices.csv` tells of."""
        return cls(
            **cell_columns(cell),
            **_tried(search, value),
            criterion=row["criterion"],
            validation=float(row["validation"]),
            collapsed=row["collapsed"] == "True",
            chosen=False,
            edge="",
            epochs=int(row["epochs"]),
            train_seconds=float(row["train_seconds"]),
            test_cost=float(row["test_cost"]),
            test_cost_error=float(row["test_cost_error"]),
            cell=row["cell"],
        )

    @property
    def rank(self) -> tuple[bool, bool, float]:
        """The order of choices, the best one first; those that diverged or collapsed come last."""
        return math.isinf(self.validation), self.collapsed, self.validation


def _tried(search: Search, value: object) -> dict[str, Any]:
    given = ",".join(f"{column(name)}={it}" for name, it in search.given.items())
    return {"parameter": column(search.field), "value": value, "given": given}
