"""Costs of single examples in columns of a user's data, in the order of the labels."""

from collections.abc import Sequence

import numpy as np

from csdl_keras.costs import class_means, regret
from csdl_keras.costs.checks import amounts


def costs_of_columns(
    columns: np.ndarray, names: Sequence[str], labels: Sequence[str], numbers: np.ndarray
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Returns what each decision costs each example, and the names of decisions, labels first.

    Columns that are named like the labels are matched by name; the others follow as decisions
    that are no label. Otherwise the first columns are those of the labels, in their order.

    Args:
        columns: `(N, D)` numbers; gains are negative.
        names: names of the columns.
        labels: the labels as text, in the order of their numbers.
        numbers: the number of each example's label.

    Raises:
        ValueError: if there are fewer columns than labels, a cost is not finite, or the right
            decision is not the cheapest label to decide, in the mean over the examples of one.

    Example:

    >>> costs_of_columns(np.array([[0, 5], [9, 0]]), ["yes", "no"], ["no", "yes"], [1, 0])
    (array([[5., 0.],
           [0., 9.]]), ('no', 'yes'))
    """
    size = len(labels)
    if len(names) < size:
        raise ValueError(
            f"Expected --cost-columns with a column for each label, {', '.join(labels)}; "
            f"received {len(names)}: {', '.join(names)}."
        )
    if {*labels} <= {*names}:
        ordered = [*labels, *(name for name in names if name not in labels)]
        columns, names = columns[:, [list(names).index(name) for name in ordered]], ordered
    vectors = amounts("cost columns", columns, 2, "(N, D)")
    vectors = regret(vectors) if (vectors < 0).any() else vectors
    means = class_means(numbers, vectors)[:, :size]
    wrong = np.diagonal(means) > means.min(axis=1)
    if wrong.any():
        row = int(np.argmax(wrong))
        told = ", ".join(f"{name} {mean:g}" for name, mean in zip(names, means[row], strict=False))
        raise ValueError(
            f"Expected --cost-columns in the order of the labels, {', '.join(labels)}, or named "
            "like them, by which the right decision is the cheapest in the mean; received for the "
            f"label {labels[row]!r}, whose column is {names[row]!r}, the mean costs {told}."
        )
    return vectors, (*labels, *names[size:])
