"""Labels in a column of a user's data, and splits by them."""

from typing import Any

import numpy as np

from csdl_keras._utils.frames import read_column
from csdl_keras_cli.choices import SHARES

#: More labels are hardly classes.
MOST_LABELS = 1000


def read_labels(name: str, values: Any) -> tuple[tuple[Any, ...], np.ndarray]:
    """Returns the labels in sorted order, and the number of each example's label.

    Args:
        name: name of the column in messages.
        values: the column: strings, whole numbers or booleans.

    Raises:
        ValueError: if a label is missing or no whole number, if there are fewer than 2 or more
            than `MOST_LABELS` of them, or fewer than 3 examples of one.

    Example:

    >>> read_labels("animal", np.array(["dog", "cat"] * 3))
    (('cat', 'dog'), array([1, 0, 1, 0, 1, 0]))
    """
    column, kind = read_column(name, values), np.asarray(values).dtype.kind
    if kind in "iu":  # As floating point, those above 2**53 would become one another.
        column = np.asarray(values)
    missing = np.array([value is None or value != value for value in column.tolist()])
    if missing.any():
        raise ValueError(
            f"Expected a label in each row of {name!r}; received {missing.sum()} rows without "
            f"one, the first of them row {int(np.argmax(missing)) + 1}. Remove these rows, or name "
            "their label, if it is one, otherwise than NA, None or nan, which count as missing."
        )
    if column.dtype.kind == "f":
        broken = column[(column != np.floor(column)) | ~(np.abs(column) <= 2**53)]
        if len(broken):
            raise ValueError(
                f"Expected labels of classes in {name!r}, strings or whole numbers; received "
                f"{broken[0]:g}. Group amounts into classes first."
            )
        column = column.astype(np.int64)
    labels, numbers, counts = np.unique(column, return_inverse=True, return_counts=True)
    named: list[Any] = [bool(one) for one in labels] if kind == "b" else labels.tolist()
    if not 2 <= len(labels) <= MOST_LABELS:
        told = f"only {named[0]!r}" if len(labels) == 1 else f"{len(labels)} labels"
        raise ValueError(f"Expected 2 to {MOST_LABELS} labels in {name!r}; received {told}.")
    rare = [f"{label!r} ({count})" for label, count in zip(named, counts, strict=True) if count < 3]
    if rare:
        more = f" and {len(rare) - 5} more" if len(rare) > 5 else ""
        raise ValueError(
            f"Expected at least 3 examples of each label in {name!r}, one each for training, "
            f"validation and test; received fewer of {', '.join(rare[:5])}{more}."
        )
    return tuple(named), numbers.astype(np.int64)


def split(
    labels: np.ndarray, seed: int, train_size: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the examples for training, validation and test, a part of each class in `SHARES`.

    Each class has at least one example in each part. With a `train_size`, only as many examples
    are for training and validation together.

    Raises:
        ValueError: if there are not that many, or a class would have none for training.
    """
    generator = np.random.default_rng(seed)
    parts: tuple[list[np.ndarray], ...] = ([], [], [])
    for label in np.unique(labels):
        own = generator.permutation(np.flatnonzero(labels == label))
        held_out = [max(1, round(share * len(own))) for share in SHARES[1:]]
        cut = len(own) - sum(held_out)
        for part, examples in zip(parts, np.split(own, [cut, cut + held_out[0]]), strict=True):
            part.append(examples)
    train, validation, test = map(np.concatenate, parts)
    if train_size is not None:
        total = len(train) + len(validation)
        of_validation = max(1, round(train_size * len(validation) / total))
        if train_size <= total:
            train = _evenly(train, train_size - of_validation)
            validation = _evenly(validation, of_validation)
        lacking = train_size > total or len({*labels[train]}) < len({*labels})
        if lacking:
            raise ValueError(
                f"Expected --train-size of at most {total}, and so large that each label has a "
                f"training example; received {train_size}."
            )
    return np.sort(train), np.sort(validation), np.sort(test)


def _evenly(examples: np.ndarray, number: int) -> np.ndarray:
    """Returns some examples, which are sorted by their classes, of each class its share."""
    return examples[((np.arange(number) + 0.5) * len(examples) / max(number, 1)).astype(int)]
