"""Encodes data frames as matrices of numbers; needs only NumPy, so that it loads quickly."""

import dataclasses
import datetime
import numbers
from collections.abc import Mapping
from typing import Any, Self, TypeGuard

import numpy as np

from csdl_keras_cli.choices import LARGEST_NUMBER

#: A column with more categories is most likely a name or an identifier.
MOST_CATEGORIES = 10_000

# The first matching kind is used, since booleans and durations are also numbers.
_KINDS: dict[str, Any] = {
    "date": (datetime.date, np.datetime64),
    "other": np.timedelta64,
    "boolean": (bool, np.bool_),
    "string": str,
    "number": numbers.Real,
}


def is_frame(x: object) -> bool:
    """Returns whether `x` is a data frame of pandas, Polars or a similar library."""
    return all(hasattr(x, name) for name in ("columns", "to_numpy", "__getitem__"))


@dataclasses.dataclass(frozen=True)
class Columns:
    """The names of a data frame's columns, the categories of each (or `None`), and the dates.

    `dates` pairs the name of each column of dates with its `strptime` format, `""` for ISO 8601.
    A date becomes four encoded columns: days since 1970, weekday, month and hour.
    """

    names: tuple[Any, ...]
    categories: tuple[tuple[Any, ...] | None, ...]
    dates: tuple[tuple[Any, str], ...] = ()

    @classmethod
    def of(cls, frame: Any, dates: Mapping[Any, str] | None = None) -> Self:
        """Returns the columns of a data frame; `dates` has the formats of text columns of dates."""
        names = list(frame.columns)
        if not all(isinstance(name, (str, int)) for name in names) or len(set(names)) < len(names):
            raise ValueError(f"Columns need distinct names, strings or integers; received {names}.")
        found: list[tuple[Any, ...] | None] = []
        formats = dict(dates or {})
        for name in names:
            values = read_column(name, frame[name])
            if _is_dates(values):
                formats.setdefault(name, "")
            coded = isinstance(values, list) and name not in formats
            found.append(_in_order(name, set(values) - {None} if coded else set()))
        ordered_dates = tuple((name, formats[name]) for name in names if name in formats)
        return cls(tuple(names), tuple(found), ordered_dates)

    def merged(self, other: "Columns") -> "Columns":
        """Returns the columns of two parts of one data frame, with the categories of both."""
        if self.names != other.names:
            raise ValueError(
                f"All parts must have the columns {list(self.names)}; received {list(other.names)}."
            )
        found: list[tuple[Any, ...] | None] = []
        for name, *known in zip(self.names, self.categories, other.categories, strict=True):
            found.append(_in_order(name, {one for each in known for one in each or ()}))
        dates = {**dict(self.dates), **dict(other.dates)}
        ordered = tuple((name, dates[name]) for name in self.names if name in dates)
        return Columns(self.names, tuple(found), ordered)

    @property
    def _encoded(self) -> list[tuple[str, int]]:
        """The name of each encoded column with its number of categories, 0 for numbers."""
        formats, found = dict(self.dates), []
        for name, known in zip(self.names, self.categories, strict=True):
            found.append((str(name), len(known or ())))
            if name in formats:
                parts = {"weekday": 7, "month": 12, "hour": 0}
                found += [(f"{name}: {part}", size) for part, size in parts.items()]
        return found

    @property
    def encoded_names(self) -> list[str]:
        """The names of the encoded columns, for a date `"when"`, `"when: weekday"` and so on."""
        return [name for name, _ in self._encoded]

    @property
    def width(self) -> int:
        return len(self._encoded)

    @property
    def categorical(self) -> dict[int, int]:
        """The number of categories of each categorical encoded column, by its index."""
        return {place: size for place, (_, size) in enumerate(self._encoded) if size}

    def encode(self, rows: Any) -> np.ndarray:
        """Returns numbers `(N, F)`: categories as indices, missing and unknown values as NaN."""
        have = list(rows) if isinstance(rows, Mapping) else list(rows.columns)
        lacking = [name for name in self.names if name not in have]
        if lacking:
            raise ValueError(f"Columns {lacking} are missing; received the columns {have}.")
        formats = dict(self.dates)
        encoded = [
            _date_parts(name, rows[name], formats[name])
            if name in formats
            else _codes(name, rows[name], known)
            for name, known in zip(self.names, self.categories, strict=True)
        ]
        sizes = [len(column) for column in encoded]
        if len(set(sizes)) > 1 or 0 in sizes:
            raise ValueError(f"Columns must have the same length, at least 1; received {sizes}.")
        return np.column_stack(encoded)


def _in_order(name: Any, distinct: set[Any]) -> tuple[Any, ...] | None:
    """Returns the sorted categories of a column, or `None` if it has none."""
    if len(distinct) > MOST_CATEGORIES:
        raise ValueError(
            f"Column {name!r} has {len(distinct)} categories, more than {MOST_CATEGORIES}. Drop it "
            "if it identifies the examples, or group its values."
        )
    return tuple(sorted(distinct, key=lambda one: (str(type(one)), one))) or None


@dataclasses.dataclass(frozen=True)
class Table:
    """The encoded `rows` `(N, F)` of a data frame with its `columns`."""

    rows: Any  # an array, or `StoredRows`
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


def as_table(x: Any, train: Any = None, dates: Mapping[Any, str] | None = None) -> Table | None:
    """Encodes a data frame with the categories of rows `train`; returns `None` for other `x`."""
    if isinstance(x, Table):
        return x
    if not is_frame(x):
        return None
    some = x if train is None else x.iloc[train] if hasattr(x, "iloc") else x[train]
    columns = Columns.of(some, dates)
    return Table(columns.encode(x), columns)


def rows_of(x: Any) -> Any:
    """Returns the encoded rows of a `Table`, or else `x` unchanged."""
    return x.rows if isinstance(x, Table) else x


def read_column(name: Any, values: Any) -> np.ndarray | list[Any]:
    """Returns numbers and booleans as float64, dates as datetime64, other values as a list."""
    categorical = str(getattr(values, "dtype", "")) == "category"
    if getattr(getattr(values, "dtype", None), "time_zone", None):
        values = values.to_list()  # Polars would convert an array of times to UTC.
    array = np.asarray(values if hasattr(values, "dtype") else np.array(values, dtype=object))
    if array.ndim != 1:
        raise ValueError(f"Column {name!r} must have one value per row; received {array.shape}.")
    if array.dtype.kind in "biuf" and not categorical:
        return array.astype("float64")
    if array.dtype.kind == "M":
        return array.astype("datetime64[us]")
    # `tolist` would turn durations into integers.
    listed = list(array) if array.dtype.kind == "m" else array.tolist()
    listed = [None if _is_missing(value) else value for value in listed]
    kinds: dict[str, Any] = {}
    for value in (one for one in listed if one is not None):
        of = (kind for kind, types in _KINDS.items() if isinstance(value, types))
        kinds[next(of, "other")] = value
    if list(kinds) == ["date"]:
        return _moments(listed)
    if categorical and array.dtype.kind != "m":
        return [_category(value) for value in listed]
    if "other" in kinds or len(kinds) > 1:
        received = sorted({type(value).__name__ for value in kinds.values()})
        raise ValueError(
            f"Column {name!r} has values of type {' and '.join(received)}, such as "
            f"{next(iter(kinds.values()))!r}. Its values must be all numbers, all strings, all "
            "booleans or all dates; write times as numbers, such as hours."
        )
    if "string" in kinds:
        return listed
    return np.array([np.nan if value is None else float(value) for value in listed], "float64")


def _is_missing(value: Any) -> bool:
    missing = value is None or type(value).__name__ in ("NAType", "NaTType")
    return missing or (isinstance(value, float) and value != value)


def _is_dates(values: np.ndarray | list[Any]) -> TypeGuard[np.ndarray]:
    return isinstance(values, np.ndarray) and values.dtype.kind == "M"


def _moments(values: list[Any]) -> np.ndarray:
    """Returns dates as datetime64, in the local time of their own time zones."""
    plain = (it.replace(tzinfo=None) if isinstance(it, datetime.datetime) else it for it in values)
    return np.array(list(plain), "datetime64[us]")


def _category(value: Any) -> Any:
    """Returns a category as a value that JSON can store; whole floats become integers."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    # The intervals of `pandas.cut`, for example, become strings.
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def _codes(name: Any, column: Any, known: tuple[Any, ...] | None) -> np.ndarray:
    """Returns a column as numbers; categories become their index among the known ones."""
    values = read_column(name, column)
    if _is_dates(values):
        values = list(values.tolist())  # The error below shows one.
    numeric = not isinstance(values, list)
    if numeric and known is not None:
        # Floating point would round integers above 2**53.
        exact = np.asarray(column).tolist()
        values = [None if _is_missing(value) else _category(value) for value in exact]
    strings = known is not None and all(isinstance(one, str) for one in known)
    for value in [] if numeric and known is None else values:
        wrong = isinstance(value, str) != strings or isinstance(value, datetime.date)
        if value is not None and wrong:
            right = "strings" if strings else "numbers"
            raise ValueError(f"Expected {right} in column {name!r}; received {value!r}.")
    if known is None:
        return np.array(values, "float64")  # `None` becomes NaN
    index = {category: float(code) for code, category in enumerate(known)}
    return np.array([index.get(value, np.nan) for value in values])


def finite_numbers(name: Any, column: Any, missing: bool = False) -> np.ndarray:
    """Returns a column as floats; raises an error for other and, by default, missing values."""
    values = _codes(name, column, None)
    wrong = ~(np.abs(values) <= LARGEST_NUMBER) & ~(np.isnan(values) & missing)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"Column {name!r} has {values[row]} in row {row + 1}. Numbers must be finite and of a "
            f"size up to {LARGEST_NUMBER:g}."
        )
    return values


def _date_parts(name: Any, column: Any, form: str) -> np.ndarray:
    """Returns `(N, 4)`: days since 1970, weekdays from Monday, months and hours of dates."""
    values = read_column(name, column)
    if not _is_dates(values):
        listed = np.array(values, object).tolist()
        dates = {it: _parsed(name, it, form) for it in {*listed} if not _is_missing(it)}
        values = _moments([dates.get(it) for it in listed])
    midnights, first = values.astype("datetime64[D]"), np.datetime64(0, "D")
    days = (midnights - first) / np.timedelta64(1, "D")
    months = (values.astype("datetime64[M]") - np.datetime64(0, "M")) / np.timedelta64(1, "M")
    hours = (values - midnights) / np.timedelta64(1, "h")
    return np.column_stack([days, (days + 3) % 7, months % 12, hours])  # 1970 began on a Thursday.


def _parsed(name: Any, value: Any, form: str) -> datetime.datetime | None:
    """Parses a date; text without letters and digits, such as a dash, counts as missing."""
    if isinstance(value, str) and not any(map(str.isalnum, value)):
        return None
    try:
        if form:  # pandas reads 20261129 as a number.
            text = f"{value:.0f}" if isinstance(value, float) else value
            return datetime.datetime.strptime(text, form)
        return datetime.datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        written = f"in the format {form!r}" if form else "such as 2026-11-29T14:30"
        raise ValueError(
            f"Column {name!r} has {value!r}, which is not a date. Write dates {written}."
        ) from error
