"""A value that was tried on the validation examples."""

import dataclasses
from typing import Any

from csdl_keras.experiments.outcome import Outcome
from csdl_keras.training.settings import column


@dataclasses.dataclass(frozen=True)
class Choice:
    """A value of one choice of `Settings`, tried for an algorithm.

    Args:
        dataset: name of the data set.
        imbalanced: whether it is the imbalanced variant.
        algorithm: name of the algorithm.
        cost_seed: seed of the cost matrix.
        parameter: name of the choice, as `column` has it.
        value: what was tried.
        criterion: `"cost"`, or `"error"` in cost-blind rows.
        validation: the criterion on the validation examples; the lowest is chosen.
        chosen: whether this value was.
        test_cost: average cost of the decisions on test examples. Nothing is
            chosen by it; it draws the curve of `beta`.
        test_cost_error: standard error of that average over test examples.
    """

    dataset: str
    imbalanced: bool
    algorithm: str
    cost_seed: int
    parameter: str
    value: Any
    criterion: str
    validation: float
    chosen: bool
    test_cost: float
    test_cost_error: float

    @classmethod
    def of(cls, outcome: Outcome, parameter: str, value: Any, chosen: bool) -> "Choice":
        """The record of an outcome that was tried."""
        cell, costs = outcome.cell, outcome.test_costs
        return cls(
            dataset=cell.source.name,
            imbalanced=cell.source.imbalanced,
            algorithm=cell.algorithm,
            cost_seed=cell.cost_seed,
            parameter=column(parameter),
            value=value,
            criterion="error" if cell.row.series == "blind" else "cost",
            validation=outcome.criterion,
            chosen=chosen,
            test_cost=float(costs.mean()),
            test_cost_error=float(costs.std(ddof=1) / len(costs) ** 0.5),
        )
