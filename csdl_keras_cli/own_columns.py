"""Columns of a user's table: labels, costs, and inputs that are probably something else."""

import collections
import datetime
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas

from csdl_keras._utils.arrays import LARGEST_NUMBER
from csdl_keras._utils.labels import label_array
from csdl_keras_cli.choices import SHARES

#: More labels are hardly classes.
MOST_LABELS = 1000

_DAY, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|\.)?", r"(?:1[5-9]|2\d)\d\d"
_MONTH = (
    r"(?:jan|ene|feb|fév|m[aä]r|apr|abr|avr|ma[iy]|ju[inl]|giu|lug|aug|aoû|ago|sep|o[ck]t|ott|nov"
    r"|d[eé][cz]|dic)[^\W\d]*\.?"
)
_TIME = r"\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\ ?[ap]\.?m\.?)?(?:\ ?(?:z|utc|gmt|[-+]\d\d:?\d\d))?"
#: Between the parts of a date.
_ON = r"[-/.,\ ]\ ?"
_DATE = rf"""(?ix) \s* (?:
    (?:[^\W\d]{{2,9}}\.?,?\ )?  # day of the week
    (?: {_YEAR}[-/.]{_DAY}(?:[-/.]{_DAY})? | {_DAY}[-/.]\ ?(?:{_DAY}[-/.]\ ?)?{_YEAR}
      | {_DAY}[-/.]{_DAY}[-/.]\d\d | {_YEAR}[-\ ]?[QW]\d\d?(?:-\d)? | Q\d[-/\ ]?{_YEAR}
      | {_DAY}(?:{_ON})?{_MONTH}(?:{_ON})?(?:{_YEAR}|\d\d) | {_YEAR}{_ON}{_MONTH}(?:{_ON}{_DAY})?
      | {_MONTH}{_ON}(?:{_DAY}{_ON})?{_YEAR} | {_MONTH}(?:[-/]|\ ?['’])\d\d
    ) (?:(?:T|,?\ +){_TIME})?
  | {_TIME}
) \s*"""
_UNIT = r"(?:[$€£¥₹%‰]|eur|usd|gbp|chf)?"
_NUMBER = rf"""(?ix) \s* [(<>~]?\s?[-+−]?\s?{_UNIT}\s?[-+−]?
    (?: \d{{1,3}}(?:[.,'’\s]\d{{3}})+(?:[.,]\d+)? | \d\d?(?:,\d\d)+,\d{{3}}(?:\.\d+)?
      | \d+(?:[.,]\d*)? | [.,]\d+ )
    (?:e[-+]?\d+)? \s?{_UNIT}[-)]? \s*"""
_KINDS = {"dates": _DATE, "numbers as texts": _NUMBER}
_WAYS_OUT = (
    "--drop COLUMN leaves a column out, --categories COLUMN takes its texts as categories, and "
    "--missing TEXT says what stands for a missing value, such as --missing='?'. Or write plain "
    "numbers, such as 1202.5, and of dates the days since a reference date."
)


def finite_numbers(name: str, column: Any, missing: bool = False) -> np.ndarray:
    """Returns a column as floats; refuses other values, and missing ones unless `missing`."""
    column = pandas.Series(column)
    numbers = pandas.to_numeric(column, errors="coerce").to_numpy("float64", na_value=np.nan)
    wrong = ~(np.abs(numbers) <= LARGEST_NUMBER) & ~(column.isna().to_numpy() & missing)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"Expected finite numbers of a size up to {LARGEST_NUMBER:g} in column {name!r}; "
            f"received {column.iloc[row]} in row {row + 1}."
        )
    return numbers


def check_inputs(frame: pandas.DataFrame, categories: Sequence[str]) -> None:
    """Refuses infinite numbers, and columns of texts most of which look like dates or numbers.

    A cell without a letter or digit, such as a dash, counts as missing there. Columns in
    `categories` hold categories, whatever they look like.
    """
    told: list[str] = []
    for name, column in frame.items():
        if column.dtype.kind == "f":
            finite_numbers(str(name), column, missing=True)
        if column.dtype.kind in "biuf" or str(name) in categories:
            continue
        counts = collections.Counter(
            str(value) for value in column.dropna() if isinstance(value, (str, datetime.date))
        )
        words = [text for text in counts if re.search(r"\w", text)]
        for kind, pattern in _KINDS.items():
            alike = dict.fromkeys(text for text in words if re.fullmatch(pattern, text))
            if 2 * sum(counts[it] for it in alike) > sum(counts[it] for it in words):
                listed = " and ".join(map(repr, list(alike)[:2]))
                others = ", ".join([repr(text) for text in counts if text not in alike][:3])
                besides = f", and besides {others}" if others else ""
                told.append(
                    f"Expected no {kind} in column {str(name)!r}; received {listed}{besides}."
                )
                break
    if told:
        raise ValueError(f"{' '.join(told)} {_WAYS_OUT}")


def as_written(texts: pandas.Series) -> Any:
    """Returns labels of a .csv file, whole numbers and Python's booleans as such, else as texts.

    01 is no other way to write 1, nor 1.0, nor true one to write True.
    """
    bare = texts.str.strip()
    if bare.str.fullmatch("0|-?[1-9][0-9]*").eq(True).all():
        whole = np.array([int(text) for text in bare])
        return whole if whole.dtype.kind in "iu" else texts
    return bare == "True" if bare.isin(["True", "False"]).all() else texts


def read_labels(name: str, values: Any) -> tuple[tuple[Any, ...], np.ndarray]:
    """Returns the labels in sorted order, those that are numbers by size, and each example's place.

    >>> read_labels("animal", np.array(["dog", "cat"] * 3))
    (('cat', 'dog'), array([1, 0, 1, 0, 1, 0]))
    """
    listed = label_array(name, pandas.Series(values).tolist())
    if listed.dtype.kind not in "biufU":
        raise ValueError(
            f"Expected labels in {name!r} of one type, strings, whole numbers or booleans; "
            f"received {listed[0]!r} among others."
        )
    labels, numbers, counts = np.unique(listed, return_inverse=True, return_counts=True)
    sizes = [size for one in labels.tolist() if (size := number_of(one)) is not None]
    if len(sizes) == len(labels):
        for size in sizes if labels.dtype.kind in "fU" else ():
            if not (size.is_integer() and abs(size) <= 2**53):
                raise ValueError(
                    f"Expected labels of classes in {name!r}, strings or whole numbers; received "
                    f"{size:g}. Group amounts into classes first."
                )
        order = np.argsort(sizes, kind="stable")  # Strings would have 10 before 9.
        labels, counts, numbers = labels[order], counts[order], np.argsort(order)[numbers]
        labels = labels.astype("int64") if labels.dtype.kind == "f" else labels
    if not 2 <= len(labels) <= MOST_LABELS:
        told = f"{len(labels)}, such as {labels[0]!s}"
        raise ValueError(f"Expected 2 to {MOST_LABELS} labels in {name!r}; received {told}.")
    named = [f"{label!r} ({count})" for label, count in zip(labels.tolist(), counts, strict=True)]
    bare = [re.sub(r"\s", "", str(label)) for label in labels]
    if alike := [one for one, text in zip(named, bare, strict=True) if bare.count(text) > 1]:
        raise ValueError(
            f"Expected labels in {name!r} that differ in more than blanks; received "
            f"{', '.join(alike)}. Write them alike, or give them other names."
        )
    if rare := [one for one, count in zip(named, counts, strict=True) if count < 3]:
        raise ValueError(
            f"Expected at least 3 examples of each label in {name!r}, one each for training, "
            f"validation and test; received fewer of {', '.join(rare[:5])}."
        )
    return tuple(labels.tolist()), numbers.astype(np.int64)


def number_of(value: Any) -> float | None:
    """Returns the number that a value is or that a text writes, `None` if there is none."""
    try:
        return float(value)
    except ValueError:
        return None


def split(labels: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """Returns the examples of `"train"`, `"val"` and `"test"`, of each class its part in `SHARES`.

    Each class has at least one example in each.
    """
    generator = np.random.default_rng(seed)
    parts: dict[str, list[np.ndarray]] = {"train": [], "val": [], "test": []}
    for label in np.unique(labels):
        own = generator.permutation(np.flatnonzero(labels == label))
        held_out = [max(1, round(share * len(own))) for share in SHARES[1:]]
        cut = len(own) - sum(held_out)
        for part, examples in zip(parts, np.split(own, [cut, cut + held_out[0]]), strict=True):
            parts[part].append(examples)
    return {part: np.sort(np.concatenate(examples)) for part, examples in parts.items()}
