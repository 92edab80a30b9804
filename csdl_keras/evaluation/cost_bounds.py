"""Bounds of what decisions may cost: known, or judged by the largest amounts seen."""

from collections.abc import Iterable

import numpy as np

from csdl_keras._utils.checks import check_number
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.known import AffineCosts, CostsLike, check_known_costs, vectors_of_labels
from csdl_keras.evaluation.scores import example_costs


class CostBounds:
    """What decisions for new examples may cost at least and at most.

    One matrix has known bounds, and so have amounts of which the largest is given. Those of
    costs of each example are judged: decisions may pay the largest amount seen, or as large
    a share of what may come beyond as they pay of the largest amounts here.

    Args:
        y_true, cost_matrix: as in `decision_costs`.
        largest: the largest amount that is possible, gains included, or `None`.
        lowest: what was subtracted from all amounts.
    """

    #: The largest amount seen; `None` if the bounds are known.
    largest_seen: float | None = None
    #: Share of the ten largest amounts in the sum of all, where each example counts with that
    #: of its costliest decision; `None` if the bounds are known.
    ten_largest: float | None = None

    def __init__(
        self,
        y_true: ArrayLike,
        cost_matrix: CostsLike | None,
        largest: float | None,
        lowest: float = 0.0,
    ):
        costs, known = _of_classes(y_true, cost_matrix)
        # Of gains, costs, and differences between two decisions for one example.
        self._tails: tuple[list[_Tail], ...] = ([], [], [])
        seen, amounts = [], np.zeros(1)
        for rows in costs:
            rows = rows + lowest
            kinds = (-rows, rows, rows - rows.min(axis=1, keepdims=True))
            seen.append([kind.max() for kind in kinds])
            amounts = np.maximum(amounts, abs(rows).max(axis=1))
            if largest is None and not known:
                for tails, kind in zip(self._tails, kinds, strict=True):
                    tails += [_Tail(column) for column in kind.T if column.max() > 0]
        self._seen = np.max(seen, axis=0)
        if largest is not None:
            largest = check_number("largest", largest, 0)
            if amounts.max() > largest:
                raise ValueError(
                    f"Expected amounts of at most `largest`, {largest:g}; received "
                    f"{amounts.max():g}. Pass the largest amount that is possible, or None."
                )
            gain = largest if self._seen[0] > 0 else 0.0
            self._seen = np.array([gain, largest, gain + largest])
        elif not known:
            self.largest_seen = float(amounts.max())
            self.ten_largest = float(np.sort(amounts)[-10:].sum() / (amounts.sum() or 1.0))

    def of_costs(self, paid: np.ndarray) -> tuple[float, float]:
        """Returns the lowest and highest cost of decisions that cost `paid`, `(N,)`."""
        return -self._bound(0, -paid), self._bound(1, paid)

    def of_differences(self, differences: np.ndarray) -> float:
        """Returns the largest difference where those of the examples are `differences`."""
        return self._bound(2, abs(differences))

    def _bound(self, kind: int, values: np.ndarray) -> float:
        return max([float(self._seen[kind]), *(tail.reach(values) for tail in self._tails[kind])])


class _Tail:
    """The largest costs `(N,)` of one decision, and what may come beyond them.

    Beyond the largest of N values lies a share of about 1 / N, whose mean in a tail of index `xi`
    is the largest value divided by `1 - xi`. This is the bound, with the upper 95 % limit of
    Hill's estimate of `xi` from the `2 sqrt(N)` largest values, but at most eight times the
    largest one. Of values that are alike `xi` is 0.
    """

    def __init__(self, costs: np.ndarray):
        from scipy.special import gammaincinv  # slow to import

        root, ordered = len(costs) ** 0.5, np.sort(costs)[::-1]
        excess = ordered - ordered[-1]
        tail = excess[excess > 0][: 1 + round(2 * root)]
        index, count = 1.0, len(tail) - 1
        if count > 0:
            index = np.log(tail[:-1] / tail[-1]).sum() / gammaincinv(count, 0.05)
        self._bound = float(ordered[-1] + excess[0] / (1.0 - min(index, 7 / 8)))
        self._examples = np.flatnonzero((costs >= ordered[round(root) - 1]) & (costs > 0))
        self._costs = costs[self._examples]

    def reach(self, values: np.ndarray) -> float:
        """Returns the bound times the upper 95 % limit of the share of costs that is paid."""
        from scipy.special import betaincinv  # slow to import

        shares = np.clip(values[self._examples] / self._costs, 0.0, 1.0)
        paid = shares.sum()
        return self._bound * float(betaincinv(paid + 1.0, max(len(shares) - paid, 1e-9), 0.95))


def _of_classes(
    y_true: ArrayLike, cost_matrix: CostsLike | None
) -> tuple[Iterable[np.ndarray], bool]:
    """Returns costs `(N, D)` as if each class were the true one, or one matrix, and if it is that.

    Which class is true is random, what it would cost is not.
    """
    if cost_matrix is None:
        return [example_costs(y_true)], False
    costs = check_known_costs(cost_matrix)
    if isinstance(costs, AffineCosts) and not costs.per_unit.any():
        costs = costs.fixed
    if len(costs.shape) == 2:
        return [np.asarray(costs)], True
    ones = np.ones(len(costs), int)
    return (vectors_of_labels(y * ones, costs) for y in range(costs.shape[1])), False
