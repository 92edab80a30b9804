"""Checks the columns of a user's table: labels, dates, and text that looks like numbers."""

import contextlib
import datetime
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas

from csdl_keras_cli.columns import finite_numbers

#: A column with more labels most likely does not contain classes.
MOST_LABELS = 1000

_DAY, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|\.)?", r"(?:1[5-9]|2\d)\d\d"
_MONTH = (
    r"(?:jan|ene|feb|fév|m[aä]r|apr|abr|avr|ma[iy]|ju[inl]|giu|lug|aug|aoû|ago|sep|o[ck]t|ott|nov"
    r"|d[eé][cz]|dic)[^\W\d]*\.?"
)
_TIME = r"\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\ ?[ap]\.?m\.?)?(?:\ ?(?:z|utc|gmt|[-+]\d\d:?\d\d))?"
#: Separators between the parts of a date.
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
#: Formats of `strptime` for days and times of day in columns of dates.
_DAYS = [
    *("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%d.%m.%y"),
    *("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d/%m/%y", "%m/%d/%y"),
    *("%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y"),
    *("%Y-%m", "%m/%Y", "%b %Y", "%B %Y"),
]
_TIMES = ["", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", "T%H:%M:%S"]
_UNIT = r"(?:[$€£¥₹%‰]|eur|usd|gbp|chf)?"
_NUMBER = rf"""(?ix) \s* [(<>~]?\s?[-+−]?\s?{_UNIT}\s?[-+−]?
    (?: \d{{1,3}}(?:[.,'’\s]\d{{3}})+(?:[.,]\d+)? | \d\d?(?:,\d\d)+,\d{{3}}(?:\.\d+)?
      | \d+(?:[.,]\d*)? | [.,]\d+ )
    (?:e[-+]?\d+)? \s?{_UNIT}[-)]? \s*"""
_WAYS_OUT = (
    "Use --drop COLUMN to leave a column out, --categories COLUMN to treat its text as "
    "categories, --missing TEXT for text that marks a missing value, such as --missing='?', or "
    "--date-format 'COLUMN=%d/%m/%Y' for dates. Or write plain numbers, such as 1202.5."
)


def check_inputs(
    frame: pandas.DataFrame, categories: list[str], formats: Mapping[str, str]
) -> dict[str, str]:
    """Returns the date formats of text columns, after checking that all columns can be read."""
    told: list[str] = []
    found = dict(formats)
    for name, column in frame.items():
        if column.dtype.kind == "f":
            finite_numbers(name, column, missing=True)
        if column.dtype.kind in "biufmM" or str(name) in (*categories, *formats):
            continue
        cells = column.astype(object)
        counts = cells[cells.map(lambda it: isinstance(it, str))].value_counts(sort=False)
        words = counts[counts.index.str.contains(r"\w")]
        dates, numbers = (words[words.index.str.fullmatch(it)] for it in (_DATE, _NUMBER))
        if 2 * dates.sum() > words.sum():
            alike, fitting = dates, date_formats(list(words.index))
            if len(fitting) == 1:
                found[str(name)] = fitting[0]
                continue
            what = "dates in unknown or mixed formats"
            if fitting:
                what = f"dates that could be {' or '.join(fitting)}"
        elif 2 * numbers.sum() > words.sum():
            alike, what = numbers, "text that looks like numbers"
        else:
            continue
        others = ", ".join(map(repr, counts.index.difference(alike.index, sort=False)[:3]))
        besides = f", and also {others}" if others else ""
        listed = " and ".join(map(repr, alike.index[:2]))
        told.append(f"Column {str(name)!r} has {what}, such as {listed}{besides}.")
    if told:
        raise ValueError(f"{' '.join(told)} {_WAYS_OUT}")
    return found


def date_formats(texts: list[str]) -> list[str]:
    """Returns the `strptime` formats that fit all texts, `""` for ISO 8601."""
    with contextlib.suppress(ValueError):
        all(map(datetime.datetime.fromisoformat, texts))
        return [""]
    found = [f"{day}{time}" for day in _DAYS for time in _TIMES]
    for some in (texts[:1], texts[:100], texts):  # Most formats fail on the first text.
        found = [
            it
            for it in found
            if pandas.to_datetime(pandas.Series(some), format=it, errors="coerce").notna().all()
        ]
    return found


def as_written(texts: pandas.Series) -> Any:
    """Returns labels of a .csv file: whole numbers and Python's booleans as such, or else text."""
    bare = texts.str.strip()
    if bare.str.fullmatch("0|-?[1-9][0-9]*").eq(True).all():
        whole = np.array([int(text) for text in bare])
        return whole if whole.dtype.kind in "iu" else texts
    return bare == "True" if bare.isin(["True", "False"]).all() else texts


def read_labels(name: str, values: Any) -> tuple[tuple[Any, ...], np.ndarray]:
    """Returns the sorted labels (numbers by size) and the position of each example's label."""
    column = pandas.Series(values)
    if column.isna().any():
        row = int(column.isna().argmax()) + 1
        raise ValueError(f"The label in row {row} of {name!r} is missing. Remove such rows.")
    if pandas.api.types.infer_dtype(column) not in ("string", "integer", "boolean", "floating"):
        raise ValueError(
            f"Labels in {name!r} must all be strings, whole numbers or booleans; received "
            f"{column.iloc[0]!r} among others."
        )
    listed = np.array(column.tolist())
    labels, numbers, counts = np.unique(listed, return_inverse=True, return_counts=True)
    sizes = [size for one in labels.tolist() if (size := number_of(one)) is not None]
    if len(sizes) == len(labels):
        for size in sizes if labels.dtype.kind in "fU" else ():
            if not (size.is_integer() and abs(size) <= 2**53):
                raise ValueError(
                    f"Labels in {name!r} must be strings or whole numbers; received {size:g}. "
                    "Group amounts into classes first."
                )
        order = np.argsort(sizes, kind="stable")  # Strings would have 10 before 9.
        labels, counts, numbers = labels[order], counts[order], np.argsort(order)[numbers]
        labels = labels.astype("int64") if labels.dtype.kind == "f" else labels
    if not 2 <= len(labels) <= MOST_LABELS:
        raise ValueError(
            f"{name!r} must have 2 to {MOST_LABELS} different labels; received {len(labels)}, such "
            f"as {labels[0]!s}."
        )
    named = [f"{label!r} ({count})" for label, count in zip(labels.tolist(), counts, strict=True)]
    bare = [re.sub(r"\s", "", str(label)) for label in labels]
    if alike := [one for one, text in zip(named, bare, strict=True) if bare.count(text) > 1]:
        raise ValueError(
            f"Some labels in {name!r} differ only in spaces: {', '.join(alike)}. Write them alike, "
            "or give them different names."
        )
    if rare := [one for one, count in zip(named, counts, strict=True) if count < 3]:
        raise ValueError(
            f"Each label in {name!r} needs at least 3 examples, one each for training, validation "
            f"and test; there are fewer of {', '.join(rare[:5])}."
        )
    return tuple(labels.tolist()), numbers.astype(np.int64)


def number_of(value: Any) -> float | None:
    """Converts a number or text to a float; returns `None` if that is impossible."""
    try:
        return float(value)
    except ValueError:
        return None
