"""What the tests of data sets share."""

import numpy as np

from csdl_keras.datasets import DataSet

SPLITS = ("train", "val", "test")


def labels(data: DataSet, split: str) -> np.ndarray:
    return getattr(data, f"y_{split}")


def hashes(data: DataSet, split: str) -> list[bytes]:
    """The bytes of each image and its label."""
    pairs = zip(getattr(data, f"x_{split}"), labels(data, split), strict=True)
    return [image.tobytes() + bytes([label]) for image, label in pairs]


def share_images(data: DataSet) -> bool:
    """Whether an image is in two splits."""
    train, val, test = (set(hashes(data, split)) for split in SPLITS)
    return bool(train & val or train & test or val & test)


def toy_data(per_class: int = 20, num_classes: int = 5) -> DataSet:
    """Images of 1x1 that are all different, in splits of 6:2:2, shuffled."""
    y = np.repeat(np.arange(num_classes), per_class)
    part = np.tile(np.arange(per_class) * 10 // per_class, num_classes)
    x = np.arange(len(y), dtype="float32").reshape(-1, 1, 1, 1)
    order = np.random.default_rng(3).permutation(len(y))
    x, y, part = x[order], y[order], part[order]
    splits = []
    for members in (part < 6, (part >= 6) & (part < 8), part >= 8):
        splits += [x[members], y[members]]
    return DataSet("toy", num_classes, *splits)
