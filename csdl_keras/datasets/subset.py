"""Smaller training sets."""

import dataclasses

import numpy as np

from csdl_keras._checks import check_integer
from csdl_keras._fit_checks import LARGEST_SEED
from csdl_keras.datasets.data_set import DataSet, check_data_set


def subset(data: DataSet, train_size: int, seed: int = 0) -> DataSet:
    """Takes a stratified part of training plus validation; the test set stays whole.

    Training and validation keep their proportion, and classes theirs.

    Args:
        data: the data set.
        train_size: number of examples of training and validation together.
        seed: seed of the draw, below 2**32. Defaults to 0.

    Returns:
        A new `DataSet`.

    Raises:
        ValueError: if there are not that many examples, or so few that a class
            would have none in training or in validation; or so nearly all that what
            is left out cannot keep the proportion of classes.

    Example:

    >>> import csdl_keras
    >>> small = subset(csdl_keras.datasets.load("digits"), 400)
    >>> len(small.y_train), len(small.y_val), len(small.y_test)
    (350, 50, 540)
    """
    check_data_set("data", data)
    check_integer("train_size", train_size)
    check_integer("seed", seed, low=0, high=LARGEST_SEED)
    sizes = {"train": len(data.y_train), "val": len(data.y_val)}
    total = sum(sizes.values())
    # No integer is too large for that; it is refused below.
    wanted = {"val": round(min(train_size, total + 1) * sizes["val"] / total)}
    wanted["train"] = train_size - wanted["val"]
    if train_size > total or min(wanted.values()) < data.num_classes:
        lowest = int(np.ceil(data.num_classes * total / min(sizes.values())))
        raise ValueError(
            f"Expected `train_size` from {lowest} (an example of each of {data.num_classes} "
            f"classes in both splits) to {total}; received {train_size}."
        )
    splits = {}
    for split, size in wanted.items():
        x, y = getattr(data, f"x_{split}"), getattr(data, f"y_{split}")
        index = np.arange(len(y))
        if size < len(y):
            from sklearn.model_selection import train_test_split  # slow to import

            try:
                index, _ = train_test_split(index, train_size=size, stratify=y, random_state=seed)
            except ValueError as error:
                raise ValueError(
                    f"Expected `train_size` for which every class can be divided, or {total} for "
                    f"all examples; received {train_size}, {size} of {len(y)} examples of "
                    f"{split!r}. scikit-learn says: {error}"
                ) from error
        splits[f"x_{split}"], splits[f"y_{split}"] = x[index], y[index]
    return dataclasses.replace(data, **splits)
