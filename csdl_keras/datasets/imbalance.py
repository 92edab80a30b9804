"""The imbalanced variants of the paper."""

import dataclasses

import numpy as np

from csdl_keras._checks import check_integer, check_number
from csdl_keras.datasets.data_set import DataSet, check_data_set


def imbalance(data: DataSet, seed: int = 0, fraction: float = 0.7, num_rare: int = 4) -> DataSet:
    """Removes most examples of a few random classes, in every split.

    The classes are `numpy.random.default_rng(seed).choice(K, num_rare,
    replace=False)`; of each, and in training, validation and test alike, the
    share `fraction` is removed, drawn by the same generator.

    Args:
        data: the data set.
        seed: seed of the choice. Defaults to 0.
        fraction: share removed, in [0, 1). Defaults to 0.7, as in the paper.
        num_rare: number of classes that become rare. Defaults to 4, as in the paper.

    Returns:
        A new `DataSet` with `imbalanced=True`; the order of what stays is kept.

    Raises:
        ValueError: if an argument is out of range, there are fewer than
            `num_rare` classes, or the data set is imbalanced already.

    References:
        - Chung, Lin, Yang, IJCAI 2016, section "Setup"

    Example:

    >>> import csdl_keras
    >>> data = csdl_keras.datasets.load("digits")
    >>> np.bincount(imbalance(data).y_test).tolist()
    [54, 55, 16, 55, 16, 17, 54, 16, 52, 54]
    """
    check_data_set("data", data)
    check_integer("seed", seed, low=0)
    fraction = check_number("fraction", fraction, 0, 1)
    check_integer("num_rare", num_rare)
    if fraction == 1.0:
        raise ValueError("Expected `fraction` below 1, or the rare classes are gone; received 1.")
    if num_rare > data.num_classes:
        raise ValueError(
            f"Expected at least num_rare={num_rare} classes; {data.name!r} has {data.num_classes}."
        )
    if data.imbalanced:
        raise ValueError(f"Expected a balanced data set; {data.name!r} is imbalanced already.")
    rng = np.random.default_rng(seed)
    rare = rng.choice(data.num_classes, num_rare, replace=False)
    splits = {}
    for split in ("train", "val", "test"):
        labels = getattr(data, f"y_{split}")
        keep = np.ones(len(labels), dtype=bool)
        for label in rare:
            members = np.flatnonzero(labels == label)
            gone = rng.permutation(len(members))[: int(round(fraction * len(members)))]
            keep[members[gone]] = False
        splits[f"x_{split}"] = getattr(data, f"x_{split}")[keep]
        splits[f"y_{split}"] = labels[keep]
    return dataclasses.replace(data, imbalanced=True, **splits)
