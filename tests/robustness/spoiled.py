"""Arguments as they arrive when something went wrong before."""

import datetime
from typing import Any

import ml_dtypes
import numpy as np
import pandas
import polars
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

ENTRIES = [np.nan, np.inf, -np.inf, -1.0, -0.25, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 1000.0]
ENTRIES += [1e38, 1e39, 1e300]
DTYPES = ["?", "c16", "U3", "S3", "O", "f2", "f8", "g", "i1", "i8", "u1", "u8", "M8[s]", "m8[s]"]
SCALARS = [0, 1, 2, 3, -1, 0.5, 1.0, 2.5, np.nan, np.inf, -np.inf, True, None, "2", "", 1j, b"1"]
SCALARS += [np.int64(2), np.float32(0.5), np.bool_(True), np.str_("a"), 10**400, 2**63, 1e39]
JUNK: list[Any] = [{}, {1: 2}, {1, 2}, object(), len, range(3), datetime.date(2020, 1, 1), [], [[]]]
JUNK += [[[1], [1, 2]], [None, None], [0, "1"], [[0, 1], [None, 0]], [1, 10**400], [[10**400]]]
JUNK += [
    np.zeros(2, [("a", "i4")]),
    np.ma.masked_array([[0.0, 1.0], [1.0, 0.0]], mask=[[0, 1], [0, 0]]),
    pandas.DataFrame({"a": [0, 1], "b": ["x", "y"]}),
    pandas.DataFrame({"a": [0, None], "b": [1, 0]}, dtype="Int64"),
    pandas.Series([0, None, 1], dtype="Int64"),
    polars.DataFrame({"a": [0, None], "b": [1, 0]}),
]
RESHAPES = [np.ravel, np.transpose, lambda a: a[None], lambda a: a[..., None], lambda a: a[0]]
RESHAPES += [lambda a: a[:-1], lambda a: a[:1], lambda a: a[:0]]
RESHAPES += [lambda a: a[..., :0], lambda a: a[..., :1], lambda a: a[..., :-1]]
RESHAPES += [lambda a: np.concatenate([a, a]), lambda a: np.concatenate([a, a], axis=-1)]

arrays = hnp.arrays(
    st.sampled_from(DTYPES[:2] + DTYPES[4:]).map(np.dtype).filter(lambda d: d.kind != "O"),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)


def with_entry(array: np.ndarray, index: tuple[int, ...], entry: float) -> np.ndarray:
    """The array with one entry that is something else."""
    whole = array.dtype.kind in "iu" and abs(entry) < 1e9 and entry == int(entry)
    spoiled = array.copy() if whole else array.astype(np.float64)
    spoiled[index] = entry
    return spoiled


def masked(array: np.ndarray) -> np.ndarray:
    """The array with its first entry masked."""
    mask = np.zeros(array.shape, bool)
    mask.flat[0] = True
    return np.ma.masked_array(array, mask)


def is_array(argument: Any) -> bool:
    return isinstance(argument, np.ndarray) and argument.ndim > 0


def spoilings(argument: Any) -> list[Any]:
    """Everything that may stand in the place of a right argument."""
    listed = SCALARS + JUNK
    if is_array(argument):
        last = tuple(size - 1 for size in argument.shape)
        near = [with_entry(argument, last, entry) for entry in ENTRIES]
        near += [change(argument) for change in RESHAPES]
        near += [argument.astype("i8").astype(dtype) for dtype in (*DTYPES, ml_dtypes.bfloat16)]
        listed = [*near, masked(argument), *listed]
    return listed


def spoil(argument: Any) -> st.SearchStrategy:
    """A strategy of them, with the wrong entry anywhere."""
    listed = st.sampled_from(spoilings(argument))
    if not is_array(argument):
        return listed
    index = st.tuples(*(st.integers(0, size - 1) for size in argument.shape))
    anywhere = st.builds(with_entry, st.just(argument), index, st.sampled_from(ENTRIES))
    return listed | anywhere | arrays
