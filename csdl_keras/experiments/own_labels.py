"""Labels in a column of a user's data, and splits by them."""

import re
from typing import Any

import numpy as np

from csdl_keras._utils.frames import read_column
from csdl_keras_cli.choices import SHARES

#: More labels are hardly classes.
MOST_LABELS = 1000


def as_written(name: str, texts: Any) -> Any:
    """Returns labels of a .csv file, whole numbers and Python's booleans as such, else as texts.

    01 is no other way to write 1, nor 1.0, nor true one to write True.

    Args:
        name: name of the column in messages.
        texts: a series of strings.

    Raises:
        ValueError: if all are numbers, and one of them is no whole number.
    """
    bare = texts.str.strip()
    if bare.str.fullmatch("0|-?[1-9][0-9]*").eq(True).all():
        whole = np.array([int(text) for text in bare])
        if whole.dtype.kind in "iu":
            return whole
    if bare.isin(["True", "False"]).all():
        return bare == "True"
    numbers = [_number(text) for text in texts.dropna().unique()]
    if None not in numbers:
        _check_whole(name, np.array(numbers))
    return texts


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
        _check_whole(name, column)
        column = column.astype(np.int64)
    labels, numbers, counts = np.unique(column, return_inverse=True, return_counts=True)
    named: list[Any] = [bool(one) for one in labels] if kind == "b" else labels.tolist()
    values = [_number(one) for one in named]
    if None not in values:  # Strings would have 10 before 9.
        order = sorted(range(len(named)), key=lambda place: (values[place], named[place]))
        named, counts = [named[place] for place in order], counts[order]
        numbers = np.argsort(order)[numbers]
    if not 2 <= len(labels) <= MOST_LABELS:
        told = f"only {named[0]!r}" if len(labels) == 1 else f"{len(labels)} labels"
        raise ValueError(f"Expected 2 to {MOST_LABELS} labels in {name!r}; received {told}.")
    alike: dict[str, list[str]] = {}
    for label, count in zip(named, counts, strict=True):
        alike.setdefault(re.sub(r"\s", "", str(label)), []).append(f"{label!r} ({count})")
    wrong = next((them for them in alike.values() if len(them) > 1), None)
    if wrong:
        raise ValueError(
            f"Expected labels in {name!r} that differ in more than blanks; received "
            f"{' and '.join(wrong)}. Write them alike, or give them other names."
        )
    rare = [f"{label!r} ({count})" for label, count in zip(named, counts, strict=True) if count < 3]
    if rare:
        more = f" and {len(rare) - 5} more" if len(rare) > 5 else ""
        raise ValueError(
            f"Expected at least 3 examples of each label in {name!r}, one each for training, "
            f"validation and test; received fewer of {', '.join(rare[:5])}{more}."
        )
    return tuple(named), numbers.astype(np.int64)


def _number(label: Any) -> float | None:
    """Returns the number that a label is or that it writes, `None` if there is none."""
    try:
        return float(label)
    except ValueError:
        return None


def _check_whole(name: str, numbers: np.ndarray) -> None:
    broken = numbers[(numbers != np.floor(numbers)) | ~(np.abs(numbers) <= 2**53)]
    if len(broken):
        raise ValueError(
            f"Expected labels of classes in {name!r}, strings or whole numbers; received "
            f"{broken[0]:g}. Group amounts into classes first."
        )


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
