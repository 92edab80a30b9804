"""Cost matrices and cost vectors, in NumPy.

Everywhere in this package a cost matrix is `C[true, decision]`: row `y` is the
true class, column `k` the decision, `C[y, k]` what it costs to decide `k` when
`y` is true, and `C[y, y] = 0`. A cost vector is one such row that belongs to
one example.
"""

from typing import Any

import numpy as np

from csdl_keras._checks import check_integer, check_number

_REGRET_HINT = (
    "If the costs are amounts of money (gains are negative, right decisions cost something "
    "too), pass `csdl_keras.costs.regret(...)` of them, which changes no optimal decision."
)


def _real_array(name: str, values: Any, ndim: int, shape: str) -> np.ndarray:
    """`values` as a finite float64 array of `ndim` dimensions."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"Expected `{name}` of shape {shape}; received rows of different lengths."
        ) from error
    if array.dtype.kind not in "iuf":
        raise ValueError(f"Expected `{name}` to hold real numbers; received dtype {array.dtype}.")
    if array.ndim != ndim or 0 in array.shape:
        raise ValueError(f"Expected `{name}` of shape {shape}; received shape {array.shape}.")
    array = array.astype(np.float64)
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        index = tuple(int(i) for i in wrong[0])
        raise ValueError(
            f"Expected every entry of `{name}` to be finite; received {array[index]} at {index}."
        )
    return array


def _check_non_negative(name: str, array: np.ndarray) -> None:
    wrong = np.argwhere(array < 0)
    if len(wrong):
        index = tuple(int(i) for i in wrong[0])
        raise ValueError(
            f"Expected every entry of `{name}` to be at least 0; "
            f"received {array[index]} at {index}. {_REGRET_HINT}"
        )


def check_cost_matrix(
    cost_matrix: Any, num_classes: int | None = None, square: bool = True
) -> np.ndarray:
    """Checks a cost matrix `C[true, decision]` and returns it as float64.

    Args:
        cost_matrix: array-like of shape `(K, D)`, row = true class, column =
            decision: finite, not negative, zero on the diagonal. Column `k < K`
            decides class `k`.
        num_classes: the expected `K`; `None` accepts any of at least 2.
        square: `True` (default) demands `D = K`; `False` also accepts `D > K`,
            where the columns after the `K`-th are decisions that are no class.

    Returns:
        A new float64 array of shape `(K, D)`.

    Raises:
        ValueError: if the array is anything else.

    Example:

    >>> check_cost_matrix([[0, 1], [5, 0]])
    array([[0., 1.],
           [5., 0.]])
    """
    array = _real_array("cost_matrix", cost_matrix, 2, "(K, K), C[true, decision],")
    rows, columns = array.shape
    expected = "(K, K)" if square else "(K, D) with D >= K"
    if rows < 2 or columns < rows or (square and columns != rows):
        raise ValueError(
            f"Expected `cost_matrix` of shape {expected}, K at least 2, C[true, decision]; "
            f"received shape {array.shape}."
        )
    if num_classes is not None and rows != num_classes:
        raise ValueError(
            f"Expected `cost_matrix` with one row for each of {num_classes} classes; "
            f"received shape {array.shape}."
        )
    _check_non_negative("cost_matrix", array)
    diagonal = np.diagonal(array)
    if np.any(diagonal):
        index = int(np.argmax(diagonal != 0))
        raise ValueError(
            "Expected a `cost_matrix` whose diagonal is 0 (the right decision costs nothing); "
            f"received C[{index}, {index}] = {diagonal[index]}. {_REGRET_HINT}"
        )
    return array


def check_cost_vectors(costs: Any, num_decisions: int | None = None) -> np.ndarray:
    """Checks cost vectors, one row for each example, and returns them as float64.

    Args:
        costs: array-like of shape `(N, D)`: `costs[n, k]` is what it costs to
            decide `k` for example `n`; finite and not negative.
        num_decisions: the expected `D`; `None` accepts any.

    Returns:
        A new float64 array of shape `(N, D)`.

    Raises:
        ValueError: if the array is anything else.

    Example:

    >>> check_cost_vectors([[0, 2, 1]], num_decisions=3)
    array([[0., 2., 1.]])
    """
    array = _real_array("costs", costs, 2, "(N, D), a cost for each decision,")
    if num_decisions is not None and array.shape[1] != num_decisions:
        raise ValueError(
            f"Expected `costs` of shape (N, {num_decisions}); received shape {array.shape}."
        )
    _check_non_negative("costs", array)
    return array


def check_labels(labels: Any, num_classes: int | None = None) -> np.ndarray:
    """Checks class labels and returns them as an integer array.

    Args:
        labels: array-like of shape `(N,)` of an integer dtype, `0 <= y < K`.
        num_classes: `K`; `None` checks only that labels are not negative.

    Returns:
        An int64 array of shape `(N,)`.

    Raises:
        ValueError: if the array is anything else.

    Example:

    >>> check_labels([0, 2, 1], num_classes=3)
    array([0, 2, 1])
    """
    array = np.asarray(labels)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"Expected `labels` of shape (N,) with N at least 1; received shape {array.shape}."
        )
    if array.dtype.kind not in "iu":
        hint = " If they hold whole numbers, pass `labels.astype(int)`."
        raise ValueError(
            f"Expected `labels` of an integer dtype; received {array.dtype}."
            f"{hint if array.dtype.kind == 'f' else ''}"
        )
    highest = "" if num_classes is None else f" and below {num_classes}, the number of classes"
    limit = np.iinfo(np.int64).max if num_classes is None else num_classes
    wrong = array[(array < 0) | (array >= limit)]
    if len(wrong):
        raise ValueError(f"Expected `labels` of at least 0{highest}; received {wrong[0]}.")
    return array.astype(np.int64)


def zero_one(num_classes: int) -> np.ndarray:
    """The cost matrix `C[y, k] = [y != k]`, whose average cost is the error rate.

    Args:
        num_classes: `K`, at least 2.

    Returns:
        A float64 array of shape `(K, K)`.

    Raises:
        ValueError: if `num_classes` is not an integer of at least 2.

    Example:

    >>> zero_one(2)
    array([[0., 1.],
           [1., 0.]])
    """
    return 1.0 - np.eye(check_integer("num_classes", num_classes, low=2))


def randomized_proportional(
    labels: Any,
    num_classes: int | None = None,
    scale: float = 10.0,
    seed: int | None = None,
) -> np.ndarray:
    """Draws a cost matrix in the randomized proportional setup.

    `C[y, k] ~ Uniform[0, scale * n_k / n_y]` for `k != y`, where `n_j` counts
    the examples of class `j`: mistaking a rare class for a frequent one costs
    more in expectation. Exactly,
    `numpy.random.default_rng(seed).uniform(size=(K, K)) * scale * n_k / n_y`
    with a zero diagonal.

    Args:
        labels: the training labels, integers of shape `(N,)`.
        num_classes: `K`; `None` (default) takes the highest label plus 1.
        scale: upper end of the uniform distribution between two classes of the
            same size. Defaults to 10, as in the paper; other work uses 2000.
        seed: seed of the generator; `None` draws anew each time.

    Returns:
        A float64 array of shape `(K, K)`, `C[true, decision]`.

    Raises:
        ValueError: if a class has no example, or an argument is out of range.

    References:
        - [Abe, Zadrozny, Langford: An iterative method for multi-class
          cost-sensitive learning, KDD 2004](https://doi.org/10.1145/1014052.1014056)

    Example:

    >>> randomized_proportional([0, 0, 1], seed=0).round(2)
    array([[0.  , 1.35],
           [0.82, 0.  ]])
    """
    if num_classes is not None:
        check_integer("num_classes", num_classes, low=2)
    scale = check_number("scale", scale, low=0, exclude_low=True)
    labels = check_labels(labels, num_classes)
    size = check_integer("num_classes", num_classes or int(labels.max()) + 1, low=2)
    counts = np.bincount(labels, minlength=size)
    absent = np.flatnonzero(counts == 0)
    if len(absent):
        raise ValueError(
            f"Expected at least one example of each of the {size} classes in `labels`, since "
            f"costs are proportional to class counts; received none of class(es) {absent.tolist()}."
        )
    uniform = np.random.default_rng(seed).uniform(size=(size, size))
    cost_matrix = uniform * scale * counts[None, :] / counts[:, None]
    np.fill_diagonal(cost_matrix, 0.0)
    return cost_matrix


def cost_vectors(cost_matrix: Any, labels: Any) -> np.ndarray:
    """The cost vector of each example: row `labels[n]` of the cost matrix.

    Args:
        cost_matrix: shape `(K, D)`, `C[true, decision]`.
        labels: integers of shape `(N,)`.

    Returns:
        A float64 array of shape `(N, D)`.

    Raises:
        ValueError: if either argument fails its check.

    Example:

    >>> cost_vectors([[0, 1], [5, 0]], [1, 0, 1])
    array([[5., 0.],
           [0., 1.],
           [5., 0.]])
    """
    matrix = check_cost_matrix(cost_matrix, square=False)
    return matrix[check_labels(labels, matrix.shape[0])]


def regret(costs: Any) -> np.ndarray:
    """What each decision costs beyond the cheapest one: subtracts row minima.

    Turns amounts of money (gains negative, right decisions not free) into the
    form that losses and layers take. A constant taken off a row changes the
    expected cost of every decision alike, so no optimal decision changes.

    Args:
        costs: shape `(K, D)`, `C[true, decision]`, or cost vectors `(N, D)`:
            finite, of any sign.

    Returns:
        A float64 array of the same shape, whose rows have minimum 0.

    Raises:
        ValueError: if the array is not two-dimensional, real and finite.

    Example:

    >>> regret([[-3, 10], [40, -2]])
    array([[ 0., 13.],
           [42.,  0.]])
    """
    array = _real_array("costs", costs, 2, "(K, D) or (N, D)")
    return array - array.min(axis=1, keepdims=True)


def class_means(labels: Any, costs: Any, num_classes: int | None = None) -> np.ndarray:
    """The mean cost vector of each class, where costs differ from example to example.

    `M[y, k]` averages `costs[n, k]` over the examples with label `y`: the cost
    matrix to decide by if nothing else is known of an example's costs. It is
    no cost matrix in the strict sense, since even a right decision may cost
    something; see `regret`.

    Args:
        labels: integers of shape `(N,)`.
        costs: `(N, D)` cost vectors.
        num_classes: `K`; `None` (default) takes the highest label plus 1.

    Returns:
        A float64 array of shape `(K, D)`.

    Raises:
        ValueError: if a class has no example, or an argument fails its check.

    Example:

    >>> class_means([0, 1, 1], [[0, 2], [6, 0], [8, 0]])
    array([[0., 2.],
           [7., 0.]])
    """
    labels, vectors = check_labels(labels, num_classes), check_cost_vectors(costs)
    if len(labels) != len(vectors):
        raise ValueError(
            f"Expected a cost vector for each of {len(labels)} labels; received {len(vectors)}."
        )
    size = int(labels.max()) + 1 if num_classes is None else num_classes
    counts = np.bincount(labels, minlength=size)
    absent = np.flatnonzero(counts == 0)
    if len(absent):
        raise ValueError(
            f"Expected at least one example of each of the {size} classes in `labels`; "
            f"received none of class(es) {absent.tolist()}."
        )
    totals = np.zeros((size, vectors.shape[1]))
    np.add.at(totals, labels, vectors)
    return totals / counts[:, None]


def with_abstain(cost_matrix: Any, price: Any) -> np.ndarray:
    """Adds a decision that is no class, such as to abstain or to ask a person.

    Args:
        cost_matrix: `(K, D)`, `C[true, decision]`.
        price: what the new decision costs: a number, or `K` numbers, one for
            each true class; not negative.

    Returns:
        A float64 array of shape `(K, D + 1)`; the new decision has index `D`.

    Raises:
        ValueError: if an argument fails its check.

    References:
        - [Chow: On optimum recognition error and reject tradeoff, IEEE
          Transactions on Information Theory 1970](https://doi.org/10.1109/TIT.1970.1054406)

    Example:

    >>> with_abstain([[0, 1], [5, 0]], price=0.5)
    array([[0. , 1. , 0.5],
           [5. , 0. , 0.5]])
    """
    matrix = check_cost_matrix(cost_matrix, square=False)
    prices = np.full(len(matrix), price) if np.ndim(price) == 0 else price
    prices = _real_array("price", prices, 1, f"() or ({len(matrix)},)")
    _check_non_negative("price", prices)
    if len(prices) != len(matrix):
        raise ValueError(
            f"Expected one `price`, or one for each of {len(matrix)} classes; "
            f"received {len(prices)}."
        )
    return np.hstack([matrix, prices[:, None]])


def check_mean_costs(mean_costs: Any, num_classes: int | None = None) -> np.ndarray:
    """Checks mean costs of classes, `class_means`, and returns them as float64.

    Args:
        mean_costs: array-like of shape `(K, D)`, K at least 2: finite, not
            negative; the diagonal may be anything.
        num_classes: the expected `K`; `None` (default) accepts any.

    Returns:
        A new float64 array.

    Raises:
        ValueError: if the array is anything else.

    Example:

    >>> check_mean_costs([[0.5, 2], [7, 0]])
    array([[0.5, 2. ],
           [7. , 0. ]])
    """
    array = _real_array("mean_costs", mean_costs, 2, "(K, D)")
    _check_non_negative("mean_costs", array)
    if len(array) < 2:
        raise ValueError(f"Expected `mean_costs` of at least 2 classes; received {array.shape}.")
    if num_classes is not None and len(array) != num_classes:
        raise ValueError(
            f"Expected `mean_costs` with one row for each of {num_classes} classes; "
            f"received shape {array.shape}."
        )
    return array
