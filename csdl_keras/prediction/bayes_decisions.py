"""Bayes decisions from probabilities, whatever computed them."""

from collections.abc import Mapping
from typing import Any, Literal, overload

import numpy as np

from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.checks import check_bool, check_integer
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.known import CostsLike, check_known_costs, expected_costs
from csdl_keras.evaluation.calibration_error import check_probabilities
from csdl_keras.prediction.capacity import limited_decisions


@overload
def bayes_decisions(
    probabilities: ArrayLike,
    costs: CostsLike,
    capacity: Mapping[int, int] | None = None,
    return_prices: Literal[False] = False,
    classes: Any = None,
) -> np.ndarray: ...


@overload
def bayes_decisions(
    probabilities: ArrayLike,
    costs: CostsLike,
    capacity: Mapping[int, int] | None = None,
    *,
    return_prices: Literal[True],
    classes: Any = None,
) -> tuple[np.ndarray, dict[int, float]]: ...


def bayes_decisions(
    probabilities: ArrayLike,
    costs: CostsLike,
    capacity: Mapping[int, int] | None = None,
    return_prices: bool = False,
    classes: Any = None,
) -> np.ndarray | tuple[np.ndarray, dict[int, float]]:
    """Decides for each example at the lowest expected cost, by any classifier's probabilities.

    `d_n = argmin_k sum_y P(y|x_n) C[n, y, k]`, the lowest index among equals. With a
    `capacity`, the total `sum_n r[n, d_n]` of expected costs is the lowest that is possible
    when decision `k` is taken at most `capacity[k]` times: with one limit those examples get it
    that gain most by it, with several it is a transport problem, solved exactly: for 100,000
    examples in seconds, or where limits leave hardly a choice in half a minute on two cores.

    Args:
        probabilities: `(N, K)`, rows that sum to 1; or `(N,)` or `(N, 1)`, of class 1; or
            `(N, ..., K)` or `(N, ..., 1)`, such as those of pixels, for a cost matrix `(K, D)`.
        costs: a cost matrix `(K, D)`, `C[true, decision]`; a matrix for each example,
            `(N, K, D)`; or `csdl_keras.costs.AffineCosts`.
        capacity: how often decisions may be taken at most, such as `{1: 200}`; the others
            have no limit. `None` (default) limits nothing.
        return_prices: whether to return also by how much one more of each limited decision
            would lower the total expected cost. Defaults to False.
        classes: the `K` labels in the order of the columns of `probabilities`, or the estimator
            that made them, such as `classes=estimator`. A data frame of costs is put into that
            order. Defaults to `None`.

    Returns:
        An int64 array of decisions, `(N,)` or `(N, ...)`; with `return_prices=True` a tuple of
        that and a dict from limited decisions to prices.

    Raises:
        ValueError: if an argument fails its check, or the limits leave some example without
            a decision.

    Example:

    >>> probabilities = [[0.9, 0.1], [0.7, 0.3], [0.8, 0.2]]
    >>> costs = [[0, 1], [9, 0]]
    >>> bayes_decisions(probabilities, costs)
    array([0, 1, 1])
    >>> bayes_decisions(probabilities, costs, capacity={1: 1}, return_prices=True)
    (array([0, 1, 0]), {1: 1.0})
    """
    check_bool("return_prices", return_prices)
    array = as_array("probabilities", probabilities, "(N, K), (N,) or (N, ..., K)")
    of_parts, shape = array.ndim > 2, array.shape[:1] if array.ndim == 1 else array.shape[:-1]
    if array.ndim == 1:
        probabilities = array[:, None]
    elif of_parts and array.size:
        probabilities = array.reshape(-1, array.shape[-1])
    rows = check_probabilities(probabilities, classes)
    size = None if of_parts else len(rows)
    checked = check_known_costs(costs, size, rows.shape[1], classes)
    if of_parts and len(checked.shape) != 2:
        raise ValueError(
            f"Expected `costs` of shape ({rows.shape[1]}, D), one matrix for probabilities of "
            f"shape {array.shape}; received shape {checked.shape}."
        )
    expected = expected_costs(rows, checked)
    limits = _check_capacity(capacity, len(rows), expected.shape[1])
    if limits:
        decisions, prices = limited_decisions(expected, limits, return_prices)
    else:
        decisions, prices = np.argmin(expected, axis=1), {}
    decisions = decisions.reshape(shape)
    return (decisions, prices) if return_prices else decisions


def _check_capacity(
    capacity: Mapping[int, int] | None, num_examples: int, num_decisions: int
) -> dict[int, int]:
    """Returns the limits by decision, if they leave a decision for every example."""
    if capacity is None:
        return {}
    if not isinstance(capacity, Mapping):
        raise ValueError(
            f"Expected `capacity` to be a dict from decisions to numbers; received {capacity!r}."
        )
    limits = {}
    for decision, number in capacity.items():
        index = check_integer("a decision in `capacity`", decision, 0)
        if index >= num_decisions:
            raise ValueError(
                f"Expected decisions in `capacity` below {num_decisions}; received {index}."
            )
        limits[index] = check_integer(f"capacity[{index}]", number, 0)
    if len(limits) == num_decisions and sum(limits.values()) < num_examples:
        raise ValueError(
            f"Expected `capacity` for {num_examples} examples or a decision without a limit; "
            f"received {sum(limits.values())} in all."
        )
    return limits
