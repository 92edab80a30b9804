"""The same numbers in everything that people keep numbers in."""

import contextlib
from typing import Any

import ml_dtypes
import numpy as np
import pandas
import polars

# More than any other axis of the tests: a shift of rows that shows.
_INDEX = 7


def _read_only(a: np.ndarray) -> np.ndarray:
    a = a.copy()
    a.setflags(write=False)
    return a


def _frame(a: np.ndarray) -> Any:
    return pandas.DataFrame(a) if a.ndim == 2 else pandas.Series(a)


def _shuffled_index(a: np.ndarray) -> Any:
    """Row `n` carries the label of another row; what belongs to classes is tried on its own."""
    if a.ndim == 2 or a.dtype.kind == "f":
        return _frame(a)
    return pandas.Series(a, index=np.roll(np.arange(len(a)), _INDEX))


def _same_names(a: np.ndarray) -> Any:
    if a.ndim == 2:
        return pandas.DataFrame(a)
    return pandas.Series(a, index=["a"] * len(a), name="a")


def _typed(a: np.ndarray, whole: str, real: str) -> Any:
    return _frame(a).astype(whole if a.dtype.kind in "iu" else real)


def _polars(a: np.ndarray) -> Any:
    return polars.Series(a) if a.ndim == 1 else polars.DataFrame(a)


def _cast(dtype: Any) -> Any:
    """The array in another type where that holds it exactly, otherwise as it is."""

    def cast(a: np.ndarray) -> np.ndarray:
        if a.dtype.kind in "iu" and np.dtype(dtype).kind not in "iu":
            return a  # labels of a float type are refused
        other = a.astype(dtype)
        return other if np.array_equal(other.astype(a.dtype), a) else a

    return cast


CONTAINERS = {
    "list": np.ndarray.tolist,
    "tuple": lambda a: tuple(map(tuple, a)) if a.ndim == 2 else tuple(a),
    "list of rows": list,
    "Fortran order": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=0)[::2],
    "backwards": lambda a: np.ascontiguousarray(a[::-1])[::-1],
    "read-only": _read_only,
    "nothing masked": np.ma.masked_array,
    "pandas": _frame,
    "pandas, shuffled index": _shuffled_index,
    "pandas, equal names": _same_names,
    "pandas, nullable": lambda a: _typed(a, "Int64", "Float64"),
    "polars": _polars,
    "bfloat16": _cast(ml_dtypes.bfloat16),
} | {dtype: _cast(dtype) for dtype in ("u1", "i1", "i4", "u8", ">i8", "f2", "f4", ">f8", "g")}
with contextlib.suppress(ImportError, NameError):  # no pyarrow, or one that fits neither
    _typed(np.zeros(1), "", "double[pyarrow]")
    CONTAINERS["pandas, Arrow"] = lambda a: _typed(a, "int64[pyarrow]", "double[pyarrow]")


def contained(argument: Any, name: str) -> Any:
    """A vector or table in the container of that name, also in a dict; the rest as it is."""
    if isinstance(argument, dict):
        return {key: contained(value, name) for key, value in argument.items()}
    if isinstance(argument, np.ndarray) and argument.ndim in (1, 2):
        return CONTAINERS[name](argument)
    return argument
