"""Columns of a user's table: what none may hold, and texts that are probably something else."""

import collections
import datetime
import re
import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np

from csdl_keras._utils.arrays import LARGEST_NUMBER
from csdl_keras._utils.optional import optional_module

_DAY, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:1[5-9]|2\d)\d\d"
_MONTH = (
    r"(?:jan|ene|feb|fév|m[aä]r|apr|abr|avr|ma[iy]|ju[inl]|giu|lug|aug|aoû|ago|sep|o[ck]t|ott|nov"
    r"|d[eé][cz]|dic)[^\W\d]*\.?"
)
_TIME = r"\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\ ?[ap]\.?m\.?)?(?:\ ?(?:z|utc|gmt|[-+]\d\d:?\d\d))?"
_DATE = rf"""(?ix) \s* (?:
    (?:[^\W\d]{{2,9}}\.?,?\ )?  # day of the week
    (?: {_YEAR}[-/.]{_DAY}(?:[-/.]{_DAY})?  # 2012/01/01, 2020-01
      | {_DAY}[-/.]\ ?{_DAY}[-/.]\ ?(?:{_YEAR}|\d\d)  # 01.01.2020, 1/1/20
      | {_DAY}[-/.]{_YEAR} | {_YEAR}[-\ ]?[QW]\d\d?(?:-\d)? | Q\d[-/\ ]?{_YEAR}
      | {_DAY}(?:st|nd|rd|th|\.)?[-/\ ]?{_MONTH}[-/,\ ]*(?:{_YEAR}|\d\d)  # 01-Jan-2020
      | {_MONTH}[-/\ ]{_DAY}(?:st|nd|rd|th)?[-/,\ ]+{_YEAR}  # January 1, 2020
      | {_MONTH}(?:[-/\ ]{_YEAR}|(?:[-/]|\ ?')\d\d) | {_YEAR}[-/\ ]{_MONTH}(?:[-/\ ]{_DAY})?
    ) (?:(?:T|,?\ +){_TIME})?
  | {_TIME}
) \s*"""
_UNIT = r"(?:[$€£¥₹%‰]|eur|usd|gbp|chf)?"
_NUMBER = rf"""(?ix) \s* [(<>~]?\s?[-+−]?\s?{_UNIT}\s?[-+−]?
    (?: \d{{1,3}}(?:[.,'’\s]\d{{3}})+(?:[.,]\d+)? | \d\d?(?:,\d\d)+,\d{{3}}(?:\.\d+)?
      | \d+(?:[.,]\d*)? | [.,]\d+ )
    (?:e[-+]?\d+)? \s?{_UNIT}[-)]? \s*"""
_KINDS = {"dates": re.compile(_DATE), "numbers as texts": re.compile(_NUMBER)}
_INSTEAD = {
    "dates": "write what matters about dates as numbers or categories, such as the days since a "
    "reference date, the month, or the day of the week",
    "numbers as texts": "write plain numbers, such as 1202.5, and empty cells where they are "
    "missing",
}
#: Texts that are listed.
_LISTED = 3


def finite_numbers(name: str, column: Any, missing: bool = False) -> np.ndarray:
    """Returns a column as floats; raises a ValueError unless it holds finite numbers.

    Args:
        name: name of the column.
        column: a series of pandas or an array.
        missing: whether numbers may be missing. Defaults to False.
    """
    pandas = optional_module("pandas", "compare")
    column = pandas.Series(column)
    numbers = pandas.to_numeric(column, errors="coerce").to_numpy("float64", na_value=np.nan)
    wrong = ~(np.abs(numbers) <= LARGEST_NUMBER)
    if missing:
        wrong &= column.notna().to_numpy()
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"Expected finite numbers of a size up to {LARGEST_NUMBER:g} in column {name!r}; "
            f"received {column.iloc[row]} in row {row + 1}."
        )
    return numbers


def check_inputs(frame: Any, categories: Sequence[str]) -> None:
    """Checks the inputs of a table.

    Args:
        frame: a data frame of pandas.
        categories: names of columns of categories, whatever they look like.

    Raises:
        ValueError: if a column holds an infinite number, or most of its texts look like dates or
            numbers. A cell without a letter or digit, such as a dash, counts as missing there.

    Example:

    >>> import pandas
    >>> check_inputs(pandas.DataFrame({"due": ["1/2/20", "3/2/20"]}), categories=["due"])
    """
    told: list[str] = []
    kinds: dict[str, str] = {}
    missing: list[str] = []
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind == "f":
            finite_numbers(name, column, missing=True)
        if column.dtype.kind in "biuf" or str(name) in categories:
            continue
        counts = collections.Counter(
            str(value) for value in column.dropna() if isinstance(value, (str, datetime.date))
        )
        kind, alike = _kind(counts)
        if not kind:
            continue
        others = [text for text in counts if text not in alike][:_LISTED]
        listed = " and ".join(map(repr, list(alike)[:2]))
        besides = f", and besides {', '.join(map(repr, others))}" if others else ""
        told.append(f"Expected no {kind} in column {str(name)!r}; received {listed}{besides}.")
        kinds[shlex.quote(str(name))] = kind
        missing += others if kind != "dates" else []
    if told:
        drop, take = (" ".join(f"--{way} {it}" for it in kinds) for way in ("drop", "categories"))
        marks = " ".join(f"--missing={shlex.quote(text)}" for text in dict.fromkeys(missing))
        instead = ", and ".join(_INSTEAD[kind] for kind in dict.fromkeys(kinds.values()))
        raise ValueError(
            f"{' '.join(told)} {drop} leaves out what is no input, {take} takes texts as categories"
            f"{f', {marks} counts them as missing' if marks else ''}; or {instead}."
        )


def _kind(counts: collections.Counter[str]) -> tuple[str, dict[str, None]]:
    """Returns what most texts look like, and which do; `""` for neither dates nor numbers."""
    words = collections.Counter({it: count for it, count in counts.items() if re.search(r"\w", it)})
    for kind, pattern in _KINDS.items():
        alike = dict.fromkeys(text for text in words if pattern.fullmatch(text))
        if 2 * sum(words[text] for text in alike) > words.total():
            return kind, alike
    return "", {}
