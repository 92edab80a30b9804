"""Reads data in batches: data sets of TensorFlow, Keras and PyTorch, and Parquet files."""

import copy
import dataclasses
import math
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

import keras
import numpy as np

from csdl_keras._utils.arrays import as_array, check_example_shape
from csdl_keras._utils.labels import label_array
from csdl_keras_cli.columns import Columns, Table, is_frame
from csdl_keras_cli.optional import optional_module

#: Number of rows of a Parquet file that are read at once.
_PARQUET_ROWS = 2**16
#: Size in bytes of joined small batches, and of rows that are read back for statistics.
_BLOCK, _SAMPLE = 2**24, 2**27


@dataclasses.dataclass(frozen=True)
class Parquet:
    """A Parquet file that is read in parts, so that it need not fit into memory.

    `csdl_keras.train`, `calibrate`, `decide` and `cost_report` accept it instead of arrays.

    Args:
        path: the file.
        label: name of the column of labels; `None` (default) if only inputs are needed.
        columns: names of the columns of inputs; `None` (default) reads all others.

    Example:

    >>> import pandas, tempfile
    >>> path = f"{tempfile.mkdtemp()}/claims.parquet"
    >>> frame = pandas.DataFrame({"age": [31, 45], "fraud": [False, True]})
    >>> frame.to_parquet(path)
    >>> [labels.tolist() for rows, labels in Parquet(path, label="fraud")]
    [[False, True]]
    """

    path: str | os.PathLike
    label: str | None = None
    columns: Sequence[str] | None = None

    def __iter__(self) -> Iterator[tuple[Any, np.ndarray | None]]:
        """Yields pandas data frames, and their labels if `label` is given."""
        file = optional_module("pyarrow.parquet", "compare").ParquetFile(self.path)
        wanted = None
        if self.columns is not None:
            wanted = [*self.columns, *([] if self.label is None else [self.label])]
        lacking = {*(wanted or ()), self.label} - {None, *file.schema_arrow.names}
        if lacking:
            raise ValueError(
                f"{self.path} has no column {', '.join(map(repr, sorted(lacking)))}. Its columns "
                f"are {file.schema_arrow.names}."
            )
        # `ParquetFile.iter_batches` keeps what it has read until the file is closed.
        for index in range(file.num_row_groups):
            group = file.read_row_group(index, columns=wanted)
            for start in range(0, len(group), _PARQUET_ROWS):
                frame = group.slice(start, _PARQUET_ROWS).to_pandas()
                labels = None if self.label is None else frame.pop(self.label).to_numpy()
                yield frame, labels


@dataclasses.dataclass(frozen=True)
class _Batches:
    """Yields batches of a data set as NumPy arrays where possible, with small ones joined."""

    source: Any

    def __iter__(self) -> Iterator[tuple[Any, np.ndarray | None]]:
        waiting: list[tuple[np.ndarray, np.ndarray | None]] = []
        for batch in self._each():
            x, y = _parts(batch)
            if not isinstance(x, np.ndarray):  # It has several inputs, or is a data frame.
                yield x, y
                continue
            waiting.append((x, y))
            if sum(one.nbytes for one, _ in waiting) >= _BLOCK:
                yield _joined(waiting)
                waiting = []
        if waiting:
            yield _joined(waiting)

    def _each(self) -> Iterator[Any]:
        if isinstance(self.source, keras.utils.PyDataset):
            return (self.source[index] for index in range(len(self.source)))
        return iter(self.source)


def as_stream(x: Any, label: Any = None) -> Parquet | _Batches | None:
    """Returns an iterable that reads data in batches, any number of times; `None` for arrays.

    A path must be that of a Parquet file, whose labels are in the column `label`.
    """
    if isinstance(x, (str, pathlib.PurePath)) and str(x).endswith(".parquet"):
        if label is not None and not isinstance(label, str):
            raise ValueError(
                f"Labels of a Parquet file must be the name of a column; received "
                f"{type(label).__name__}."
            )
        return Parquet(x, label)
    made_by = {f"{one.__module__}.{one.__name__}" for one in type(x).__mro__}
    torch = any(name.startswith("torch.utils.data.") for name in made_by)
    tensorflow = any(name.startswith("tensorflow.python.data.") for name in made_by)
    if not (torch or tensorflow or isinstance(x, (Parquet, _Batches, keras.utils.PyDataset))):
        return None
    if label is not None:
        raise ValueError("A data set contains its own labels. Do not pass labels as well.")
    endless = tensorflow and int(x.cardinality()) == -1
    if endless or (isinstance(x, keras.utils.PyDataset) and x.num_batches is None):
        raise ValueError("The data set never ends. Remove its `repeat()`, or `take` some batches.")
    return x if isinstance(x, (Parquet, _Batches)) else _Batches(x)


def stream_labels(stream: Parquet | _Batches) -> np.ndarray:
    """Returns the labels `(N,)` of a stream, if they are the same each time it is read."""
    if isinstance(stream, Parquet):
        return joined_labels([y for _, y in dataclasses.replace(stream, columns=())])
    first, second = (joined_labels([y for _, y in stream]) for _ in range(2))
    if not np.array_equal(first, second):
        raise ValueError(
            "The data set has a different order each time it is read, so its labels do not match "
            "earlier decisions. Disable shuffling."
        )
    return first


def joined_labels(blocks: Sequence[np.ndarray | None]) -> np.ndarray:
    """Returns the labels of all blocks in one array, text as strings."""
    if not blocks or any(labels is None for labels in blocks):
        raise ValueError(
            "The data set has no labels. It must yield batches (inputs, labels); for a Parquet "
            "file, name the column of labels."
        )
    arrays = [label_array("labels", labels) for labels in blocks if labels is not None]
    labels = np.concatenate([one.ravel() if one.shape[1:] == (1,) else one for one in arrays])
    if labels.dtype == object and all(isinstance(one, bytes) for one in labels):
        return np.char.decode(labels.astype(bytes), "utf-8")  # TensorFlow stores strings as bytes.
    return labels


def read_in(
    stream: Parquet | _Batches,
    checked: Callable[[str, Any], np.ndarray],
    columns: Columns | None = None,
) -> tuple["StoredRows | Table", np.ndarray]:
    """Reads inputs, which `checked` converts to float32 arrays, and labels, both once.

    Data frames are read a second time unless their `columns` are known.
    """
    labels = []
    for x, _ in stream if columns is None else ():
        if not is_frame(x):
            break
        found = Columns.of(x)
        columns = found if columns is None else columns.merged(found)

    def blocks() -> Iterator[np.ndarray]:
        for x, y in stream:
            labels.append(y)
            yield checked("x", x if columns is None else Table(columns.encode(x), columns))

    rows = StoredRows.of(blocks())
    return (rows if columns is None else Table(rows, columns)), joined_labels(labels)


class StoredRows:
    """Float32 rows in a temporary file, which is removed with the last object that reads it.

    Indexing returns other `StoredRows`; `take` and `numpy.asarray` read rows into memory.
    """

    dtype = np.dtype("float32")

    def __init__(self, file: Any, shape: tuple[int, ...], limits: tuple[float, float]):
        self._file, self._path, self._stored, self._limits = file, file.name, shape, limits
        self._rows: np.ndarray | None = None

    @classmethod
    def of(cls, blocks: Iterable[np.ndarray]) -> Self:
        """Writes blocks `(n, ...)` of rows to a new file."""
        file: Any = tempfile.NamedTemporaryFile(prefix="csdl_keras-", suffix=".rows")
        size, shape, low, high = 0, None, np.inf, -np.inf
        for block in blocks:
            shape = block.shape[1:] if shape is None else shape
            check_example_shape("every batch", block, shape, "like the first")
            file.write(np.ascontiguousarray(block, cls.dtype).data)
            # Missing values are NaN, which `fmin` and `fmax` ignore.
            low = min(low, float(np.fmin.reduce(block, axis=None)))
            high = max(high, float(np.fmax.reduce(block, axis=None)))
            size += len(block)
        if shape is None:
            raise ValueError("The data set is empty. Pass one with at least one batch.")
        file.flush()
        return cls(file, (size, *shape), (low, high))

    @property
    def shape(self) -> tuple[int, ...]:
        return self._stored if self._rows is None else (len(self._rows), *self._stored[1:])

    @property
    def ndim(self) -> int:
        return len(self._stored)

    def __len__(self) -> int:
        return self.shape[0]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_file": None}  # Another process only reads the file.

    def __getitem__(self, rows: Any) -> "StoredRows":
        view = copy.copy(self)
        view._file = self._file
        view._rows = (np.arange(len(self)) if self._rows is None else self._rows)[rows]
        return view

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.take(slice(None)).astype(dtype or self.dtype, copy=False)

    def take(self, rows: Any, axis: int = 0) -> np.ndarray:
        """Reads the given rows into memory."""
        stored = np.memmap(self._path, self.dtype, "r", shape=self._stored)
        return np.array(stored[rows if self._rows is None else self._rows[rows]])

    def sampled_rows(self) -> np.ndarray:
        """Returns the indices of all rows, or of evenly spaced ones that fill 128 MB."""
        most = max(1, _SAMPLE // (self.dtype.itemsize * math.prod(self.shape[1:])))
        return np.linspace(0, len(self) - 1, min(len(self), most)).round().astype(np.int64)

    def blocks(self) -> Iterator[np.ndarray]:
        """Reads all rows in parts."""
        step = max(1, _BLOCK // (self.dtype.itemsize * math.prod(self.shape[1:])))
        return (self.take(slice(it, it + step)) for it in range(0, len(self), step))

    def min(self) -> float:
        return self._limits[0]

    def max(self) -> float:
        return self._limits[1]


def _parts(batch: Any) -> tuple[Any, np.ndarray | None]:
    """Returns inputs and labels of a batch as NumPy arrays."""
    x, *rest = batch if isinstance(batch, (tuple, list)) else (batch,)
    if len(rest) > 1:
        raise ValueError(
            f"Batches must be inputs, or (inputs, labels); received {len(batch)} parts. Pass "
            "costs of examples as an argument instead."
        )
    x = x if is_frame(x) else keras.tree.map_structure(keras.ops.convert_to_numpy, x)
    return x, as_array("labels", rest[0], "(N,)") if rest else None


def _joined(
    blocks: Sequence[tuple[np.ndarray, np.ndarray | None]],
) -> tuple[np.ndarray, np.ndarray | None]:
    labels = [y for _, y in blocks if y is not None]
    joined = np.concatenate([x for x, _ in blocks])
    return joined, np.concatenate(labels) if len(labels) == len(blocks) else None
