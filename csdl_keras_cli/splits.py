"""Splits examples into training, validation and test sets."""

import warnings
from typing import Any

import numpy as np

from csdl_keras_cli.choices import SHARES


def split(y: Any, seed: int = 0, by: Any = None, groups: Any = None) -> dict[str, np.ndarray]:
    """Splits examples into 60 % for training, 20 % for validation and 20 % for the test.

    Args:
        y: labels `(N,)`; each part gets its share of each label, and at least one example of it.
        seed: seed of the split. Defaults to 0.
        by: dates or numbers `(N,)`: the latest examples become the test set, those before them
            the validation set, whatever their labels. Examples of one date stay together. `None`
            (default) splits at random.
        groups: group of each example `(N,)`, such as its customer; each group stays in one part.
            With `by`, the date of a group is that of its last example. Defaults to `None`.

    Returns:
        Sorted indices of the examples of `"train"`, `"val"` and `"test"`.

    Raises:
        ValueError: if dates or groups are missing or too few, or if a label has no training
            example.

    Example:

    >>> from csdl_keras.datasets import split
    >>> parts = split(["no", "yes"] * 5, by=[3, 1, 4, 2, 5, 9, 6, 8, 7, 10])
    >>> {name: rows.tolist() for name, rows in parts.items()}
    {'train': [0, 1, 2, 3, 4, 6], 'val': [7, 8], 'test': [5, 9]}
    """
    labels = np.unique(np.asarray(y), return_inverse=True)[1]
    order = None if by is None else _ranks("by", by, len(labels))
    group = None if groups is None else _ranks("groups", groups, len(labels))
    if order is not None:
        parts = _in_order(order, group)
    elif group is not None:
        parts = _by_group(labels, group, seed)
    else:
        parts = _at_random(labels, seed)
    lost = np.setdiff1d(labels, labels[parts["train"]])
    if len(lost) or not all(map(len, parts.values())):
        what = "training set lacks a label" if len(lost) else "split has an empty part"
        sizes = ", ".join(f"{len(rows)} {name}" for name, rows in parts.items())
        raise ValueError(f"The {what} ({sizes} examples). Split in another way, or add examples.")
    return parts


def _ranks(name: str, values: Any, size: int) -> np.ndarray:
    """Returns the rank of each value; equal values share a rank."""
    array = np.asarray(values)
    missing = [value is None or value != value for value in array.tolist()]
    if name == "by" and any(isinstance(value, str) for value in array.tolist()):
        raise ValueError(
            f"`by` must be dates or numbers; received {str(array[0])!r}. Convert strings "
            "with pandas.to_datetime."
        )
    if array.shape != (size,) or any(missing):
        raise ValueError(
            f"`{name}` must have a value for each of {size} examples; received shape {array.shape} "
            f"with {sum(missing)} missing."
        )
    return np.unique(array, return_inverse=True)[1]


def _at_random(labels: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    parts: dict[str, list[np.ndarray]] = {name: [] for name in SHARES}
    for label in np.unique(labels):
        own = generator.permutation(np.flatnonzero(labels == label))
        val, test = (max(1, round(SHARES[name] * len(own))) for name in ("val", "test"))
        cuts = [len(own) - val - test, len(own) - test]
        for name, rows in zip(parts, np.split(own, cuts), strict=True):
            parts[name].append(rows)
    return {name: np.sort(np.concatenate(rows)) for name, rows in parts.items()}


def _in_order(order: np.ndarray, group: np.ndarray | None) -> dict[str, np.ndarray]:
    if group is not None:
        last = np.zeros(group.max() + 1, dtype=order.dtype)
        np.maximum.at(last, group, order)
        order = last[group]
    # A part begins with a new date, so that equal dates stay together.
    shares = np.cumsum(np.bincount(order)) / len(order)
    ends = np.cumsum([*SHARES.values()])[:-1]
    starts = np.searchsorted(shares, ends - 1e-9) + 1
    places = np.searchsorted(starts, order, side="right")
    return {name: np.flatnonzero(places == place) for place, name in enumerate(SHARES)}


def _by_group(labels: np.ndarray, group: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    from sklearn.model_selection import StratifiedGroupKFold

    if group.max() < 4:
        raise ValueError(f"A split by groups needs at least 5 groups; received {group.max() + 1}.")
    folds = StratifiedGroupKFold(5, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # It warns about labels with fewer than five examples, which need not be in each part.
        warnings.simplefilter("ignore", UserWarning)
        held_out = [rows for _, rows in folds.split(labels, labels, group)]
    train = np.sort(np.concatenate(held_out[2:]))
    return {"train": train, "val": held_out[1], "test": held_out[0]}
