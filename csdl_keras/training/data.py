"""Checks training and validation examples: arrays, data frames, and labels of any type."""

import dataclasses
import functools
from typing import Any

import numpy as np

from csdl_keras._utils.arrays import (
    as_array,
    check_entries,
    check_example_shape,
    check_rows,
    input_array,
    shown,
)
from csdl_keras._utils.files import fingerprint
from csdl_keras._utils.labels import label_array, one_hot_hint, own_classes, positions
from csdl_keras._utils.streams import StoredRows, as_stream, read_in
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.checks import check_cost_vectors, check_labels
from csdl_keras.costs.known import (
    AffineCosts,
    CostsLike,
    KnownCosts,
    check_known_costs,
    mean_matrix,
)
from csdl_keras_cli.columns import Columns, Table, as_table, is_frame

#: Default share of the examples that are held out for validation.
HELD_OUT = 0.15


@dataclasses.dataclass(frozen=True)
class Examples:
    """Inputs and labels, and cost vectors `(N, D)` or known costs if each example has its own."""

    x: Any  # an array, or `StoredRows`
    y: np.ndarray
    costs: np.ndarray | None = None
    known: KnownCosts | None = None

    def at(self, rows: np.ndarray) -> "Examples":
        costs = None if self.costs is None else self.costs[rows]
        known = None if self.known is None else self.known[rows]
        return Examples(self.x[rows], self.y[rows], costs, known)

    def in_memory(self) -> "Examples":
        """Returns the examples with inputs in an array; of inputs in a file, at most a sample."""
        if not isinstance(self.x, StoredRows):
            return self
        rows = self.x.sampled_rows()
        return dataclasses.replace(self.at(rows), x=self.x.take(rows))


@dataclasses.dataclass(frozen=True)
class TrainingData:
    """Examples, with columns of a data frame, and with labels unless these are integers."""

    train: Examples
    validation: Examples | None = None
    unlabelled: np.ndarray | None = None
    columns: Columns | None = None
    classes: np.ndarray | None = None

    def split(self, generator: np.random.RandomState) -> "TrainingData":
        """Returns the same data with a share of the training examples held out for validation."""
        kept, held_out = validation_split(self.train.y, HELD_OUT, generator)
        if not len(held_out):
            return self
        train, validation = self.train.at(kept), self.train.at(held_out)
        return dataclasses.replace(self, train=train, validation=validation)

    @property
    def parts(self) -> list[Examples]:
        return [part for part in (self.train, self.validation) if part is not None]

    @functools.cached_property
    def mean_costs(self) -> np.ndarray | None:
        """The mean matrix of costs that are known when deciding, or `None`."""
        return None if self.train.known is None else mean_matrix(self.train.known)

    @functools.cached_property
    def fingerprints(self) -> dict[str, str | None]:
        """Digests of inputs and labels, of unlabelled inputs, and of costs."""
        return {
            "data": fingerprint(*(array for part in self.parts for array in (part.x, part.y))),
            "unlabelled": None if self.unlabelled is None else fingerprint(self.unlabelled),
            "costs": fingerprint(*(it.costs for it in self.parts if it.costs is not None)),
        }


def check_data(
    x: Any,
    y: ArrayLike | None,
    costs: CostsLike | None = None,
    validation_data: Any = None,
    unlabelled: Any = None,
) -> TrainingData:
    """Returns checked copies of the data, with data frames and labels as numbers."""
    x, y = _read(x, y)
    if y is None:
        raise ValueError("`y` is missing. Pass labels (N,), or a data set with labels as `x`.")
    given = label_array("y", y)
    if given.ndim != 1:
        single = given.shape[-1:] == (1,)
        hint = " Pass numpy.ravel(y)." if single else one_hot_hint("y", given)
        raise ValueError(
            f"`y` must be labels of shape (N,); received {shown(y)}, and {shown(x)} as `x`."
            f"{hint or ' The order is csdl_keras.train(x, y, cost_matrix).'}"
        )
    table, classes = as_table(x), own_classes("y", y)
    train = _examples("x", x if table is None else table, y, costs, classes)
    shape, validation = train.x.shape[1:], None
    if unlabelled is not None:
        if table is not None and is_frame(unlabelled):
            unlabelled = table.columns.encode(unlabelled)
        unlabelled = _inputs("unlabelled", unlabelled)
        check_example_shape("unlabelled inputs", unlabelled, shape, "like those with labels")
    if not isinstance(validation_data, (tuple, list)) and as_stream(validation_data) is not None:
        validation_data = validation_data, None
    if isinstance(validation_data, (tuple, list)):
        validation = _check_validation(validation_data, train, table, classes)
    elif validation_data is not None:
        held_out = _held_out(validation_data, len(train.y))
        train, validation = train.at(~held_out), train.at(held_out)
    columns = None if table is None else table.columns
    return TrainingData(train, validation, unlabelled, columns, classes)


def _read(x: Any, y: Any, columns: Columns | None = None) -> tuple[Any, Any]:
    """Returns inputs and labels; those in batches become `StoredRows` and an array."""
    stream = as_stream(x, y)
    return (x, y) if stream is None else read_in(stream, _inputs, columns)


def _held_out(given: Any, size: int) -> np.ndarray:
    """Returns the mask `(N,)` of the examples that a mask or indices hold out for validation."""
    rows, mask = as_array("validation_data", given, "(N,)"), np.zeros(size, bool)
    whole = rows.dtype.kind in "iu" and rows.ndim == 1
    if whole and ((rows >= 0) & (rows < size)).all():
        mask[rows] = True
    elif rows.dtype.kind == "b" and rows.shape == (size,):
        mask = rows
    if not 0 < mask.sum() < size:
        span = f", from {rows.min()} to {rows.max()}" if whole and rows.size else ""
        raise ValueError(
            f"`validation_data` must be (x_val, y_val), or a mask ({size},) or indices below "
            f"{size} of some of the examples, not all; received {type(given).__name__} of shape "
            f"{rows.shape} and dtype {rows.dtype}{span}."
        )
    return mask


def _check_validation(
    given: Any, train: Examples, table: Table | None, classes: np.ndarray | None
) -> Examples:
    if len(given) not in (2, 3):
        raise ValueError(
            "`validation_data` must be (x_val, y_val) or (x_val, y_val, costs_val), or an array of "
            f"the examples to hold out; received a {type(given).__name__} of length {len(given)}."
        )
    x, y, *costs = given
    x, y = _read(x, y, None if table is None else table.columns)
    if table is not None and is_frame(x):
        x = Table(table.columns.encode(x), table.columns)
    elif table is not None and table.columns.categorical and not isinstance(x, Table):
        raise ValueError(
            "The inputs of `validation_data` must be a data frame, like `x`; received "
            f"{type(x).__name__}."
        )
    found = _examples("validation_data", x, y, costs[0] if costs else None, classes)
    check_example_shape("validation inputs", found.x, train.x.shape[1:], "as in training")
    costs = [it.costs if it.known is None else it.known for it in (train, found)]
    shapes = [() if own is None else own.shape[1:] for own in costs]
    if shapes[0] != shapes[1]:
        raise ValueError(
            "Training and validation must have the same kind of costs; received shapes "
            f"{shapes[0]} and {shapes[1]} per example."
        )
    return found


def _examples(
    name: str, x: Any, y: ArrayLike, costs: CostsLike | None, classes: np.ndarray | None
) -> Examples:
    """Returns checked copies of the examples; known costs are not copied."""
    # Contents are part of cache keys, so they must not change when the caller changes an array.
    if classes is not None:
        y = positions(f"labels of `{name}`", y, classes)
    labels = check_labels(y)
    inputs = _inputs(name, x)
    check_rows(name, inputs, len(labels))
    if costs is None:
        return Examples(inputs, labels)
    if isinstance(costs, AffineCosts) or as_array("costs", costs, "(N, D) or (N, K, D)").ndim == 3:
        return Examples(inputs, labels, known=check_known_costs(costs, len(labels)))
    vectors = np.ascontiguousarray(check_cost_vectors(costs, classes=classes))
    check_rows("costs", vectors, len(labels))
    return Examples(inputs, labels, vectors)


def _inputs(name: str, x: Any) -> Any:
    """Returns a float32 copy of inputs; only a `Table` may have NaN, for missing values."""
    framed = isinstance(x, Table)
    if isinstance(x.rows if framed else x, StoredRows):
        return x.rows if framed else x
    hint = " If it was a data frame with strings or categories, pass the data frame itself."
    inputs = x.rows if framed else input_array(name, x, hint=hint)
    with np.errstate(over="ignore"):  # Values beyond float32 become infinite.
        inputs = inputs.astype("float32", order="C")
    right = np.isfinite(inputs) | (framed & np.isnan(inputs))
    check_entries(name, inputs, right, "finite, also as float32")
    return inputs


def validation_split(
    labels: np.ndarray, fraction: float, generator: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Returns sorted indices for training and validation, with the same share of every class."""
    size = len(labels)
    order = np.lexsort((generator.uniform(size=size), labels))  # Each class is shuffled.
    # Examples are chosen as evenly along that order as whole numbers allow.
    counts = np.floor(fraction * np.arange(size + 1) + 0.5)
    chosen = np.diff(counts) > 0
    chosen[np.flatnonzero(np.diff(labels[order], prepend=-1))] = False  # One per class is kept.
    if chosen.sum() < len(np.unique(labels)):  # These are too few to validate on.
        chosen[:] = False
    return np.sort(order[~chosen]), np.sort(order[chosen])


def assign_folds(labels: np.ndarray, number: int, seed: int | None) -> np.ndarray:
    """Returns a fold `(N,)` for each example, with about the same share of every class in each."""
    order = np.lexsort((np.random.default_rng(seed or 0).uniform(size=len(labels)), labels))
    folds = np.empty(len(labels), np.int64)
    folds[order] = np.arange(len(labels)) % number
    folds[np.bincount(labels)[labels] == 1] = -1  # All networks need the only one of a class.
    return folds
