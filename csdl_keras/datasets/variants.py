"""Makes imbalanced, smaller and grayscale variants of a data set."""

import dataclasses

import numpy as np

from csdl_keras._utils.checks import check_integer, check_number
from csdl_keras.datasets.data_set import DataSet


def imbalance(data: DataSet, seed: int = 0, fraction: float = 0.7, num_rare: int = 4) -> DataSet:
    """Removes most examples of a few random classes, in every split.

    The classes are `numpy.random.default_rng(seed).choice(K, num_rare, replace=False)`; the share
    `fraction` of each is removed, drawn by the same generator.

    Args:
        data: the data set.
        seed: seed of the draws. Defaults to 0.
        fraction: share removed, in [0, 0.99]. Defaults to 0.7, as in the paper.
        num_rare: number of classes that become rare. Defaults to 4, as in the paper.

    Returns:
        A new `DataSet` with `imbalanced=True`; the remaining examples keep their order.

    Example:

    >>> import csdl_keras
    >>> data = csdl_keras.datasets.load("digits")
    >>> np.bincount(imbalance(data).y_test).tolist()
    [54, 55, 16, 55, 16, 17, 54, 16, 52, 54]
    """
    fraction = check_number("fraction", fraction, 0, 0.99)
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


def subset(data: DataSet, train_size: int, seed: int = 0) -> DataSet:
    """Draws a stratified subset of the training and validation sets; keeps the test set.

    Args:
        data: the data set.
        train_size: number of examples of training and validation together.
        seed: seed of the draw, below 2**32. Defaults to 0.

    Returns:
        A new `DataSet` with the same ratio of training to validation examples.

    Example:

    >>> import csdl_keras
    >>> small = subset(csdl_keras.datasets.load("digits"), 400)
    >>> len(small.y_train), len(small.y_val), len(small.y_test)
    (350, 50, 540)
    """
    sizes = {"train": len(data.y_train), "val": len(data.y_val)}
    total = sum(sizes.values())
    # Both splits need an example of each class.
    lowest = int(np.ceil(data.num_classes * total / min(sizes.values())))
    check_integer("train_size", train_size, low=lowest, high=total)
    wanted = {"val": round(train_size * sizes["val"] / total)}
    wanted["train"] = train_size - wanted["val"]
    splits = {}
    for split, size in wanted.items():
        x, y = getattr(data, f"x_{split}"), getattr(data, f"y_{split}")
        index = np.arange(len(y))
        if size < len(y):
            from sklearn.model_selection import train_test_split  # This is slow to import.

            index, _ = train_test_split(index, train_size=size, stratify=y, random_state=seed)
        splits[f"x_{split}"], splits[f"y_{split}"] = x[index], y[index]
    return dataclasses.replace(data, **splits)


def grayscale(data: DataSet) -> DataSet:
    """Converts RGB images to gray, `0.299 R + 0.587 G + 0.114 B`, the luma of ITU-R BT.601.

    Args:
        data: a data set with 3 channels, or with 1, which is returned unchanged.

    Returns:
        A `DataSet` with images of one channel.

    Example:

    >>> import csdl_keras
    >>> data = csdl_keras.datasets.load("digits")
    >>> splits = {name: getattr(data, name) for name in ("x_train", "x_val", "x_test")}
    >>> red = {name: np.pad(x, [(0, 0)] * 3 + [(0, 2)]) for name, x in splits.items()}
    >>> round(float(grayscale(dataclasses.replace(data, **red)).x_train.max()), 3)
    0.299
    """
    if data.input_shape[-1] == 1:
        return data
    return dataclasses.replace(
        data, x_train=luma(data.x_train), x_val=luma(data.x_val), x_test=luma(data.x_test)
    )


def luma(images: np.ndarray) -> np.ndarray:
    """Computes the luma `(..., 1)` of RGB images `(..., 3)`, float32 in the same range."""
    # The sum is written out, because a matrix product rounds differently on each machine.
    gray = np.float32(0.299) * images[..., 0]
    gray += np.float32(0.587) * images[..., 1]
    gray += np.float32(0.114) * images[..., 2]
    # The weights sum to 1, but rounding can make the sum larger than every channel.
    return np.minimum(gray, images.max(axis=-1))[..., None]
