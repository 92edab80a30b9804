"""Cost matrices of data frames whose rows and columns are named after the classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from csdl_keras._utils.frames import is_frame


def in_class_order(cost_matrix: Any, classes: Sequence[Any] | np.ndarray | None) -> Any:
    """Returns a cost matrix with rows and columns in the order of the classes, if it names them.

    Decisions that are no class follow in their own order. What is no data frame, and a data
    frame whose rows and columns have numbers from 0, is in the order of the classes already.

    Args:
        cost_matrix: `(K, D)`, array-like or a data frame.
        classes: the `K` classes; `None` if they are the numbers of the rows.

    Raises:
        ValueError: if a data frame has names other than the classes; or has the classes in
            another order as the names of its columns alone, such as Polars' data frames, or of
            its rows alone.

    Example:

    >>> import pandas
    >>> names = ["low", "high"]
    >>> frame = pandas.DataFrame([[0, 1], [9, 0]], index=names, columns=names)
    >>> in_class_order(frame, ["high", "low"]).to_numpy()
    array([[0, 9],
           [1, 0]])
    """
    if classes is None or not is_frame(cost_matrix):
        return cost_matrix
    wanted = list(map(str, np.asarray(classes).tolist()))
    of_pandas = hasattr(cost_matrix, "iloc")
    axes = [list(cost_matrix.index) if of_pandas else [], list(cost_matrix.columns)]
    texts = [list(map(str, names)) for names in axes]
    # Frames without names of their own have the numbers of their rows, which sorting rows puts in
    # another order and which may look like those of classes.
    named = [
        set(wanted) <= set(text) and {*map(repr, names)} != {*map(repr, range(len(names)))}
        for names, text in zip(axes, texts, strict=True)
    ]
    if all(named):
        rows, columns = (
            [text.index(name) for name in wanted]
            + [place for place, name in enumerate(text) if name not in wanted]
            for text in texts
        )
        return cost_matrix.iloc[rows, columns]
    others = [
        of_pandas and not found and any(isinstance(name, str) for name in names)
        for names, found in zip(axes, named, strict=True)
    ]
    moved = [
        found and text[: len(wanted)] != wanted for found, text in zip(named, texts, strict=True)
    ]
    if any(others) or any(moved):
        raise ValueError(
            f"Expected `cost_matrix` with rows and columns named {wanted}, or without names and in "
            f"that order; received the columns {texts[1]}"
            f"{f' and the rows {texts[0]}' if of_pandas else ', and no names of rows'}."
        )
    return cost_matrix
