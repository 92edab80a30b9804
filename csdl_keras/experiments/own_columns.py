"""Columns of a user's table: what none may hold, and what of them should be told."""

from typing import Any

import numpy as np

from csdl_keras._utils.arrays import LARGEST_NUMBER

_DATE = r"\s*\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?\s*"
_NUMBER = r"\s*[-+]?(\d[\d,]*\.?\d*|\.\d+)([eE][-+]?\d+)?\s*"
#: Share of dates or numbers among texts from which on they are meant to be such.
_MOST = 0.9
#: Texts that are listed.
_LISTED = 3


def check_numbers(name: str, values: np.ndarray, missing: bool = False) -> None:
    """Raises a ValueError unless a column holds finite numbers; `missing=True` accepts NaN.

    Args:
        name: name of the column.
        values: the column, an array of floats.
        missing: whether numbers may be missing. Defaults to False.
    """
    wrong = ~(np.abs(values) <= LARGEST_NUMBER)
    if missing:
        wrong &= ~np.isnan(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"Expected finite numbers of a size up to {LARGEST_NUMBER:g} in column {name!r}; "
            f"received {values[row]} in row {row + 1}."
        )


def check_inputs(frame: Any) -> tuple[str, ...]:
    """Checks the inputs of a table, and tells which texts are probably numbers.

    Args:
        frame: a data frame of pandas.

    Returns:
        A sentence for each column of texts of which most are numbers.

    Raises:
        ValueError: if a column holds an infinite number, or dates as texts.

    Example:

    >>> import pandas
    >>> check_inputs(pandas.DataFrame({"age": [*map(str, range(20)), "?"]}))
    ("Column 'age' holds 20 numbers and '?'",)
    """
    told = []
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind == "f":
            check_numbers(name, column.to_numpy("float64", na_value=np.nan), missing=True)
        if column.dtype.kind in "biuf":
            continue
        texts = column[[isinstance(value, str) for value in column]].astype(object)
        if not len(texts):
            continue
        dates = texts.str.fullmatch(_DATE)
        if dates.mean() >= _MOST:
            raise ValueError(
                f"Expected no dates in column {name!r}; received {texts[dates].iloc[0]!r}. Leave "
                f"it out, --drop {name}, or write what matters about dates as numbers or "
                "categories, such as the days since a reference date, the month, or the day of "
                "the week."
            )
        numbers = texts.str.fullmatch(_NUMBER)
        if numbers.mean() >= _MOST:
            others = [repr(text) for text in texts[~numbers].unique()]
            if len(others) > _LISTED:
                others[_LISTED:] = ["..."]
            listed = f"{' and ' * bool(others)}{', '.join(others)}" or " as texts"
            told.append(f"Column {name!r} holds {numbers.sum()} numbers{listed}")
    return tuple(told)
