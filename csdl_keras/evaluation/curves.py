"""Computes decision curves and cost curves: the value of classifiers over a range of costs."""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from csdl_keras._utils.arrays import check_entries, check_range, check_rows, real_array
from csdl_keras._utils.checks import check_choice, check_number
from csdl_keras._utils.labels import check_decisions
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.checks import check_cost_matrix, check_labels, check_probabilities
from csdl_keras.evaluation.bounded_mean import BoundedMean
from csdl_keras_cli.optional import optional_module

ALL, NONE, CONSTANT = "treat all", "treat none", "best constant decision"


class NetBenefitDifference(NamedTuple):
    """Area between two decision curves, and the ends of the interval of the expected area."""

    difference: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class DecisionCurve:
    """Net benefits of models, as `decision_curve` computes them.

    Args:
        thresholds: `(M,)`, ascending.
        net_benefit, low, high: dicts of `(M,)` net benefits and ends of their intervals, by model.
            Each interval is valid at its threshold, but not all of them at once.
        treat_all, treat_none: `(M,)`, net benefits of always and of never deciding for the class.
        confidence: confidence level of the intervals.
        is_positive, probabilities: `(N,)` booleans, and a dict of `(N,)` probabilities.
    """

    thresholds: np.ndarray
    net_benefit: dict[str, np.ndarray]
    low: dict[str, np.ndarray]
    high: dict[str, np.ndarray]
    treat_all: np.ndarray
    treat_none: np.ndarray
    confidence: float
    is_positive: np.ndarray = dataclasses.field(repr=False)
    probabilities: dict[str, np.ndarray] = dataclasses.field(repr=False)

    def to_frame(self) -> Any:
        """Returns a `pandas.DataFrame` with a row for each threshold of each model and constant."""
        curves = self.net_benefit | {ALL: self.treat_all, NONE: self.treat_none}
        return _frame("threshold", self.thresholds, "net_benefit", curves, self.low, self.high)

    def area(self, name: str, other: str = NONE) -> NetBenefitDifference:
        """Computes the area between two curves, from the first threshold to the last.

        The area is the integral of the net benefit of `name` minus that of `other` by the
        trapezoidal rule, not divided by the range of thresholds: 0.01 from 0.1 to 0.3 is 0.05 on
        average. It is a mean over examples, so that its interval is that of paired differences.

        Args:
            name: a model.
            other: another model, `"treat all"` or `"treat none"` (default).
        """
        size, grid = len(self.is_positive), self.thresholds
        scores = self.probabilities | {ALL: np.ones(size), NONE: np.full(size, -1.0)}
        check_choice("name", name, self.probabilities)
        check_choice("other", other, scores)
        half_steps = np.diff(grid) / 2.0
        weights = np.append(half_steps, 0.0) + np.append(0.0, half_steps)
        # The contribution of an example follows from its class and the thresholds it reaches.
        gains = np.append(0.0, np.cumsum(weights))
        losses = np.append(0.0, np.cumsum(weights * grid / (1.0 - grid)))
        own, rival = (np.searchsorted(grid, scores[it], side="right") for it in (name, other))
        values = np.where(self.is_positive, gains[own] - gains[rival], losses[rival] - losses[own])
        gain, loss = gains[-1], losses[-1]
        bounds = {ALL: (-gain, loss), NONE: (-loss, gain)}
        low, high = bounds.get(other, (-max(gain, loss), max(gain, loss)))
        ends = BoundedMean(values, low, high).interval(self.confidence)
        return NetBenefitDifference(float(values.mean()), *ends)


def net_benefit(y: ArrayLike, probabilities: ArrayLike, thresholds: ArrayLike) -> np.ndarray:
    """Computes `P(decided, true) - P(decided, false) t / (1 - t)`, deciding 1 where `p >= t`.

    Args:
        y: labels 0 and 1, or booleans, `(N,)`. Both must occur.
        probabilities: of class 1, `(N,)`.
        thresholds: `(M,)`, in [0, 1).

    Returns:
        A float64 array `(M,)`, in right decisions per example.

    Example:

    >>> net_benefit([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.9], [0.2, 0.5])
    array([0.4375, 0.    ])
    """
    is_positive = check_labels(y, 2) == 1
    if is_positive.all() or not is_positive.any():
        raise ValueError(
            f"`y` has {is_positive.sum()} examples of the positive class and "
            f"{(~is_positive).sum()} others. Pass examples of both."
        )
    scores = real_array("probabilities", probabilities, 1, "(N,)")
    check_rows("probabilities", scores, len(is_positive))
    check_range("`probabilities`", scores, 0, 1, hint=" Are they logits?")
    grid = real_array("thresholds", thresholds, 1, "(M,)")
    check_entries("thresholds", grid, (grid >= 0.0) & (grid < 1.0), "at least 0 and below 1")
    return np.array([_benefits(is_positive, scores, t).mean() for t in grid])


def _benefits(is_positive: np.ndarray, scores: np.ndarray, threshold: float) -> np.ndarray:
    """Returns the values `(N,)` whose mean is the net benefit."""
    decided = np.where(is_positive, 1.0, -threshold / (1.0 - threshold))
    return np.where(scores >= threshold, decided, 0.0)


def decision_curve(
    y: ArrayLike,
    probabilities: Mapping[str, ArrayLike],
    thresholds: ArrayLike | None = None,
    positive: int = 1,
    confidence: float = 0.95,
) -> DecisionCurve:
    """Computes `net_benefit` of models at many thresholds, with Gaffke's intervals.

    Args:
        y: integer labels `(N,)`, or booleans.
        probabilities: `{name: array}`, of class `positive`, `(N,)`, or of all classes, `(N, K)`.
        thresholds: `(M,)`, in [0, 1). Defaults to 0.01, 0.02, ..., 0.99; intervals are wide near 1.
        positive: the positive class; all others together are the negative one. Defaults to 1.
        confidence: confidence level, in (0, 1]. Defaults to 0.95.

    Returns:
        A `DecisionCurve`, its thresholds sorted.

    References:
        - [Vickers, Elkin: Decision curve analysis, Medical Decision Making
          2006](https://doi.org/10.1177/0272989X06295361)

    Example:

    >>> labels, scores = [0, 1, 0, 1] * 25, [0.1, 0.3, 0.6, 0.9] * 25
    >>> curve = decision_curve(labels, {"model": scores}, thresholds=[0.2, 0.5])
    >>> round(curve.area("model", "treat all").difference, 6)
    0.009375
    """
    labels = check_labels(y)
    is_positive = labels == positive
    given = np.arange(1, 100) / 100 if thresholds is None else thresholds
    grid = np.unique(real_array("thresholds", given, 1, "(M,)"))
    always, never = net_benefit(is_positive, np.ones(len(labels)), grid), np.zeros(len(grid))
    scores, benefit, low, high = {}, {}, {}, {}
    for name, own in probabilities.items():
        if np.ndim(own) == 2:
            rows = check_probabilities(own)
            check_labels(labels, rows.shape[1])
            own = rows[:, positive]
        benefit[name] = net_benefit(is_positive, own, grid)
        scores[name] = np.asarray(own, np.float64)
        means = [
            BoundedMean(_benefits(is_positive, scores[name], t), -t / (1 - t), 1) for t in grid
        ]
        low[name], high[name] = np.transpose([it.interval(confidence) for it in means])
    return DecisionCurve(grid, benefit, low, high, always, never, confidence, is_positive, scores)


@dataclasses.dataclass(frozen=True)
class CostCurve:
    """Normalised expected costs of models, as `cost_curve` computes them.

    Args:
        values: `(M,)`, ascending, of the quantity that varies.
        costs, low, high: dicts of `(M,)` costs and of the ends of their intervals, by model.
        trivial, trivial_decisions: `(M,)`, costs and indices of the cheapest constant decisions.
        label: name of the quantity that varies.
    """

    values: np.ndarray
    costs: dict[str, np.ndarray]
    low: dict[str, np.ndarray]
    high: dict[str, np.ndarray]
    trivial: np.ndarray
    trivial_decisions: np.ndarray
    label: str

    def to_frame(self) -> Any:
        """Returns a `pandas.DataFrame` with a row for each value of each model and `trivial`."""
        curves = self.costs | {CONSTANT: self.trivial}
        return _frame("value", self.values, "cost", curves, self.low, self.high)


def cost_curve(
    y: ArrayLike,
    models: Mapping[str, ArrayLike],
    cost_matrix: Any = None,
    vary: Any = "ratio",
    values: ArrayLike | None = None,
    confidence: float = 0.95,
) -> CostCurve:
    """Computes costs of classifiers under other costs or class frequencies.

    Each value has a cost matrix `C`. The normalised cost is the mean of `C[y_n, d_n]` divided by
    that of the worst decisions, `sum_y p[y] max_k C[y, k]`, where `p` are the shares of the classes
    in `y`, which intervals assume to be exact. The `M` intervals of a model hold at once: they are
    Gaffke's with Bonferroni's confidence, `1 - (1 - confidence) / M`.

    Args:
        y: integer labels `(N,)`, or booleans.
        models: `{name: array}`, class probabilities `(N, K)` at the shares `p`, for the Bayes
            decision under each matrix; or integers `(N,)`, decisions that stay as they are.
        cost_matrix: `(K, D)`, `C[true, decision]`; `None` (default) with `"ratio"`.
        vary: `"ratio"` (default), for two classes: PC(+), the share of class 1 times the cost of
            missing it, divided by the sum of both classes' products. The normalised cost is
            `FNR v + FPR (1 - v)`. `("prevalence", k)`: the share of class `k`; others keep their
            proportions. `(i, j)`: the cost `C[i, j]` of a mistake.
        values: `(M,)`, at least 0. Defaults to 51 from 0 to 1, or to twice `C[i, j]`.
        confidence: confidence level, in (0, 1]. Defaults to 0.95.

    Returns:
        A `CostCurve`, its values sorted.

    References:
        - [Drummond, Holte: Cost curves: an improved method for visualizing classifier performance,
          Machine Learning 2006](https://doi.org/10.1007/s10994-006-8199-5)

    Example:

    >>> labels, decisions = [0, 0, 0, 1] * 25, [0, 0, 1, 1] * 25
    >>> curve = cost_curve(labels, {"model": decisions}, values=[0.0, 0.5, 1.0])
    >>> curve.costs["model"].round(3), curve.trivial
    (array([0.333, 0.167, 0.   ]), array([0. , 0.5, 0. ]))
    """
    check_number("confidence", confidence, 0, 1, exclude_low=True)
    of_ratio = isinstance(vary, str) and vary == "ratio"
    if of_ratio and cost_matrix is not None:
        raise ValueError('`cost_matrix` cannot be combined with vary="ratio". Omit it.')
    # PC(+) is the share of class 1 where both mistakes cost the same.
    matrix = check_cost_matrix([[0, 1], [1, 0]] if of_ratio else cost_matrix, square=False)
    labels = check_labels(y, len(matrix))
    shares = np.bincount(labels, minlength=len(matrix)) / len(labels)
    vary = ("prevalence", 1) if of_ratio else vary
    grid, matrices, label = _family(matrix, shares, vary, values)
    worst = matrices.max(axis=2) @ shares
    worst[worst == 0.0] = 1.0  # Where no decision costs anything, the normalised cost is 0 too.
    level = 1.0 - (1.0 - confidence) / len(grid)
    costs, low, high = {}, {}, {}
    for name, own in models.items():
        argument = f"models[{name!r}]"
        if is_probabilities := np.ndim(own) == 2:
            shape = f"(N, {len(matrix)}), a probability of each class"
            own = real_array(argument, check_probabilities(own), 2, shape, len(matrix))
            check_rows(argument, own, len(labels))
        else:
            own = check_decisions(own, len(labels), matrix.shape[1], argument)
        points = []
        for current, unit in zip(matrices, worst, strict=True):
            decisions = (own @ current).argmin(axis=1) if is_probabilities else own
            paid = current[labels, decisions] / unit
            ends = BoundedMean(paid, 0.0, current.max() / unit).interval(level)
            # By definition, no decision costs more than 1.
            points.append((paid.mean(), ends[0], min(ends[1], 1.0)))
        costs[name], low[name], high[name] = np.transpose(points)
    constant = shares @ matrices / worst[:, None]
    trivial, decisions = constant.min(axis=1), constant.argmin(axis=1)
    label = "probability cost PC(+)" if of_ratio else label
    return CostCurve(grid, costs, low, high, trivial, decisions, label)


def _family(
    matrix: np.ndarray, shares: np.ndarray, vary: Any, values: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, str]:
    """Returns values `(M,)`, the cost matrix of each, `(M, K, D)`, and what varies."""
    mistakes = [(y, k) for y, k in np.ndindex(matrix.shape) if y != k]
    if vary not in [*mistakes, *(("prevalence", y) for y in range(len(matrix)))]:
        raise ValueError(
            'Expected `vary` to be "ratio", ("prevalence", k) with a class k, or (i, j), the place '
            f"of a mistake in the matrix; received {vary!r}."
        )
    (first, second), of_costs = vary, vary in mistakes
    if values is None:
        values = np.linspace(0.0, 2.0 * matrix[vary] if of_costs else 1.0, 51)
    grid = np.unique(real_array("values", values, 1, "(M,)", low=0.0))
    if of_costs:
        matrices = np.tile(matrix, (len(grid), 1, 1))
        matrices[:, first, second] = grid
        return grid, matrices, f"cost C[{first}, {second}]"
    check_range("`values`", grid, 0, 1)
    if (share := shares[second]) in (0.0, 1.0):
        raise ValueError(
            f"The share of class {second} in `y` is {share:g}, which cannot vary. Pass examples "
            "of this class and of others."
        )
    # Row y counts as much as class y does at the new shares.
    scales = np.tile((1.0 - grid[:, None]) / (1.0 - share), len(matrix))
    scales[:, second] = grid / share
    return grid, scales[:, :, None] * matrix, f"share of class {second}"


def _frame(column: str, x: np.ndarray, height: str, curves: dict, *ends: dict) -> Any:
    """Returns a data frame with a row for each `x` of each curve; ends may lack a curve."""
    table = {"model": np.repeat([*curves], len(x)), column: np.tile(x, len(curves))}
    for name, values in zip((height, "low", "high"), (curves, *ends), strict=True):
        table[name] = np.concatenate([values.get(it, np.full(len(x), np.nan)) for it in curves])
    return optional_module("pandas", "compare").DataFrame(table)
