"""Data frames as matrices of numbers, and the columns that say how they were encoded.

It needs NumPy alone, so that the command can read tables and serve saved files without Keras.
"""

import dataclasses
import datetime
import numbers
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

#: More categories are hardly learned from; such columns are mostly names or identifiers.
MOST_CATEGORIES = 10_000

# A value is of the first kind that fits, since booleans are also numbers.
_KINDS: dict[str, Any] = {
    "date": (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64),
    "boolean": (bool, np.bool_),
    "string": str,
    "number": numbers.Real,
}


def is_frame(x: object) -> bool:
    """Returns True for a data frame of pandas, Polars and what has their methods."""
    return all(hasattr(x, name) for name in ("columns", "to_numpy", "__getitem__"))


@dataclasses.dataclass(frozen=True)
class Columns:
    """The columns of a data frame, by name: numbers (`None`), and the categories of the others."""

    names: tuple[Any, ...]
    categories: tuple[tuple[Any, ...] | None, ...]

    @classmethod
    def of(cls, frame: Any) -> Self:
        """Returns the columns of a data frame, categories in sorted order."""
        names = list(frame.columns)
        if not all(isinstance(name, (str, int)) for name in names) or len(set(names)) < len(names):
            raise ValueError(f"Expected columns with distinct strings as names; received {names}.")
        found: list[tuple[Any, ...] | None] = []
        for name in names:
            values = read_column(name, frame[name])
            distinct = set(values) - {None} if isinstance(values, list) else set()
            if len(distinct) > MOST_CATEGORIES:
                raise ValueError(
                    f"Expected at most {MOST_CATEGORIES} categories in column {name!r}; received "
                    f"{len(distinct)}. Drop it if it identifies the examples, or group its values."
                )
            ordered = sorted(distinct, key=lambda one: (str(type(one)), one))
            found.append(tuple(ordered) or None)
        return cls(tuple(names), tuple(found))

    @property
    def categorical(self) -> dict[int, int]:
        """The numbers of categories by the indices of columns that have some."""
        return {i: len(them) for i, them in enumerate(self.categories) if them is not None}

    def encode(self, rows: Any) -> np.ndarray:
        """Returns `(N, F)` numbers: categories by their index, NaN where missing or unknown."""
        have = list(rows) if isinstance(rows, Mapping) else list(rows.columns)
        lacking = [name for name in self.names if name not in have]
        if lacking:
            raise ValueError(
                f"Expected the columns {list(self.names)}; received none of the name "
                f"{', '.join(map(repr, lacking))}, but {have}."
            )
        encoded = [
            _codes(name, rows[name], known)
            for name, known in zip(self.names, self.categories, strict=True)
        ]
        sizes = [len(column) for column in encoded]
        if len(set(sizes)) > 1 or 0 in sizes:
            raise ValueError(
                f"Expected columns of one length and at least one example; received {sizes}."
            )
        return np.column_stack(encoded)


@dataclasses.dataclass(frozen=True)
class Table:
    """The encoded `rows` `(N, F)` of a data frame, and its `columns`."""

    rows: np.ndarray
    columns: Columns

    @property
    def shape(self) -> tuple[int, ...]:
        return self.rows.shape

    @property
    def ndim(self) -> int:
        return self.rows.ndim

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, indices: Any) -> "Table":
        return Table(self.rows[indices], self.columns)


def as_table(x: Any) -> Table | None:
    """Returns the encoded rows of a data frame; `None` for anything else."""
    if isinstance(x, Table):
        return x
    if not is_frame(x):
        return None
    columns = Columns.of(x)
    return Table(columns.encode(x), columns)


def rows_of(x: Any) -> Any:
    """Returns the encoded rows of a `Table`; everything else as it is."""
    return x.rows if isinstance(x, Table) else x


def read_column(name: Any, values: Any) -> np.ndarray | list[Any]:
    """Returns numbers or booleans as float64, NaN where missing; others as a list with None."""
    categorical = str(getattr(values, "dtype", "")) == "category"
    array = np.asarray(values if hasattr(values, "dtype") else np.array(values, dtype=object))
    if array.ndim != 1:
        raise ValueError(
            f"Expected one value in each row of column {name!r}; received shape {array.shape}."
        )
    if array.dtype.kind in "biuf" and not categorical:
        return array.astype("float64")
    listed = [None if _is_missing(value) else value for value in array.tolist()]
    kinds = {_kind(value): value for value in listed if value is not None}
    if "date" in kinds or array.dtype.kind in "mM":
        raise ValueError(
            f"Expected no dates in column {name!r}; received {kinds.get('date', array.dtype)!r}. "
            "Pass what matters about them as numbers or categories, such as the days since a "
            "reference date, or the month."
        )
    if categorical:
        return [_category(value) for value in listed]
    if "other" in kinds or len(kinds) > 1:
        received = sorted({type(value).__name__ for value in kinds.values()})
        raise ValueError(
            f"Expected column {name!r} to hold numbers, strings or booleans, one kind of them; "
            f"received {' and '.join(received)}, such as {next(iter(kinds.values()))!r}."
        )
    if "string" in kinds:
        return listed
    return np.array([np.nan if value is None else float(value) for value in listed], "float64")


def _is_missing(value: Any) -> bool:
    missing = value is None or type(value).__name__ in ("NAType", "NaTType")
    return missing or (isinstance(value, float) and value != value)


def _kind(value: Any) -> str:
    return next((kind for kind, types in _KINDS.items() if isinstance(value, types)), "other")


def _category(value: Any) -> Any:
    """Returns the value of a categorical as JSON keeps it; whole floats as integers."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    # Others are such as the intervals of `pandas.cut`.
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def _codes(name: Any, column: Any, known: tuple[Any, ...] | None) -> np.ndarray:
    """Returns a column as numbers; categories as their index among those that are known."""
    values = read_column(name, column)
    numeric = not isinstance(values, list)
    if numeric and known is not None:
        # As floating point, integers above 2**53 are rounded.
        exact = np.asarray(column).tolist()
        values = [None if _is_missing(value) else _category(value) for value in exact]
    strings = known is not None and all(isinstance(one, str) for one in known)
    for value in [] if numeric and known is None else values:
        if value is not None and isinstance(value, str) != strings:
            right = "strings" if strings else "numbers"
            raise ValueError(f"Expected {right} in column {name!r}; received {value!r}.")
    if known is None:
        return np.array(values, "float64")  # `None` becomes NaN
    index = {category: float(code) for code, category in enumerate(known)}
    return np.array([index.get(value, np.nan) for value in values])
