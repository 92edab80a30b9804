"""Computes the costs of one model's decisions, and compares them, for a report."""

import dataclasses

import numpy as np

from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.known import CostsLike
from csdl_keras.evaluation.bounded_mean import BoundedMean
from csdl_keras.evaluation.cost_bounds import CostBounds
from csdl_keras.evaluation.intervals import CostDifference, paired_difference
from csdl_keras.evaluation.scores import (
    chosen_costs,
    cost_per_class,
    error_rate,
    example_costs,
)


@dataclasses.dataclass(frozen=True)
class CostRow:
    """Costs of one model's decisions, of today's rule or of the best constant decision.

    Args:
        name: name of the model.
        average_cost: average cost of its decisions.
        low: lower end of the 95 % interval of that cost, see `cost_interval`.
        high: upper end of that interval.
        normalized_cost: average cost relative to that of the best constant decision;
            NaN unless that decision's cost is above 0.
        error_rate: share of wrong decisions among those for a class, see `error_rate`;
            NaN if there are none.
        abstained: share of decisions that are not a class; 0 without labels.
        per_class: average cost of each true class; empty without labels.
        against_best: comparison with the model of lowest average cost; `None` for
            that model itself, and for what is no model.
        total_cost: sum of the costs of all decisions.
        against_constant: comparison with the best constant decision; `None` for itself.
        against_baseline: comparison with today's rule; `None` for itself and without one.
    """

    name: str
    average_cost: float
    low: float
    high: float
    normalized_cost: float
    error_rate: float
    abstained: float
    per_class: tuple[float, ...]
    against_best: CostDifference | None
    total_cost: float
    against_constant: CostDifference | None
    against_baseline: CostDifference | None

    @property
    def savings(self) -> float:
        """Share of the best constant decision's cost that is saved."""
        return 1.0 - self.normalized_cost


class PricedExamples:
    """Test examples with the cost of each decision.

    Args:
        y_true: integer labels `(N,)` or cost vectors `(N, D)`.
        cost_matrix: costs or `None`, as in `decision_costs`.
        lowest: what was subtracted from all amounts, since costs are not negative.
        largest: the largest amount that is possible, or `None`.
    """

    def __init__(
        self,
        y_true: ArrayLike,
        cost_matrix: CostsLike | None,
        lowest: float,
        largest: float | None,
    ):
        self._y_true, self._cost_matrix, self._lowest = y_true, cost_matrix, lowest
        #: The amounts themselves, `(N, D)`.
        self.costs = example_costs(y_true, cost_matrix) + lowest
        self.bounds = CostBounds(y_true, cost_matrix, largest, lowest)
        means = self.costs.mean(axis=0)
        #: The best constant decision.
        self.constant = int(means.argmin())
        self._constant_cost = float(means.min())

    def row(
        self,
        name: str,
        decisions: np.ndarray,
        best: np.ndarray | None,
        constant: np.ndarray | None,
        baseline: np.ndarray | None,
    ) -> CostRow:
        """Returns the costs of decisions, compared with those of three others.

        Args:
            name: name of the model or rule.
            decisions: `(N,)`.
            best: decisions of the best model, or `None` for no comparison.
            constant: likewise, the best constant decision.
            baseline: likewise, those of today's rule.
        """
        paid = chosen_costs(self.costs, decisions)
        average = float(paid.mean())
        low, high = BoundedMean(paid, *self.bounds.of_costs(paid)).interval()
        per_class: tuple[float, ...] = ()
        if self._cost_matrix is not None:
            classes = cost_per_class(self._y_true, decisions, self._cost_matrix)
            per_class = tuple((classes + self._lowest).tolist())

        def against(rival: np.ndarray | None) -> CostDifference | None:
            if rival is None:
                return None
            return paired_difference(paid, chosen_costs(self.costs, rival), self.bounds)

        of_constant = average / self._constant_cost if self._constant_cost > 0 else float("nan")
        return CostRow(
            name=name,
            average_cost=average,
            low=low,
            high=high,
            normalized_cost=of_constant,
            error_rate=error_rate(self._y_true, decisions, self._cost_matrix),
            abstained=float(np.mean(decisions >= len(per_class))) if per_class else 0.0,
            per_class=per_class,
            against_best=against(best),
            total_cost=average * len(paid),
            against_constant=against(constant),
            against_baseline=against(baseline),
        )
