"""Training data as users have them: data frames, and labels of any type."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.data_model import with_data
from csdl_keras._utils.frames import Columns, Table, as_table, is_frame
from csdl_keras._utils.labels import own_classes, positions
from csdl_keras._utils.tensors import float_dtype
from csdl_keras._utils.types import ArrayLike
from csdl_keras.layers.table_encoding import FrameColumns
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.data import TrainingData, check_training_data


def check_raw_data(
    x: Any,
    y: ArrayLike,
    costs: Any = None,
    validation_data: Any = None,
    unlabelled: ArrayLike | None = None,
) -> TrainingData:
    """Returns the data if it passes its checks, with data frames and labels as numbers.

    Args:
        x: inputs `(N, ...)`, a data frame of pandas or Polars, or its `Table`.
        y: labels `(N,)`: integers, which are rows of the cost matrix, or strings or booleans,
            whose sorted order is that of the rows.
        costs: costs of the examples.
        validation_data: `(x_val, y_val)` or with costs a third.
        unlabelled: more inputs of pre-training.
    """
    for part in (x, validation_data, unlabelled):
        _check_no_dataset(part)
    table = as_table(x)
    classes = own_classes("y", y)
    if classes is not None:
        y = positions("y", y, classes)
    if isinstance(validation_data, (tuple, list)) and len(validation_data) > 1:
        x_val, y_val, *others = validation_data
        if table is not None:
            x_val = _like(table.columns, x_val)
        if classes is not None:
            y_val = positions("labels of `validation_data`", y_val, classes)
        validation_data = (x_val, y_val, *others)
    if table is not None and is_frame(unlabelled):
        unlabelled = table.columns.encode(unlabelled)
    inputs = x if table is None else table
    data = check_training_data(inputs, y, costs, validation_data, unlabelled, classes)
    columns = None if table is None else table.columns
    return dataclasses.replace(data, columns=columns, classes=classes)


def _check_no_dataset(x: Any) -> None:
    of_torch = type(x).__module__.startswith("torch.utils.data")
    kinds = (keras.utils.PyDataset, Iterator)
    if isinstance(x, kinds) or hasattr(x, "element_spec") or of_torch:
        raise ValueError(
            "Expected arrays or data frames for training an algorithm from end to end; received "
            f"{type(x).__name__}. Datasets and generators go to `csdl_keras.pretrain` and to the "
            "`fit` of a model."
        )


def _like(columns: Columns, x: Any) -> Any:
    if isinstance(x, Table):
        return x
    if is_frame(x):
        return Table(columns.encode(x), columns)
    if columns.categorical:
        raise ValueError(
            "Expected the inputs of `validation_data` to be a data frame, like `x`; received "
            f"{type(x).__name__}."
        )
    return x


def check_fits(data: TrainingData, algorithm: Algorithm, cost_matrix: ArrayLike | None) -> None:
    """Raises unless an algorithm and a cost matrix fit the columns and labels of the data."""
    matrix = data.mean_costs if cost_matrix is None else cost_matrix
    if data.classes is not None and matrix is not None:
        rows = np.shape(as_array("cost_matrix", matrix, "(K, D)"))[:1]
        if rows != (len(data.classes),):
            raise ValueError(
                "Expected costs with a row for each of the labels "
                f"{data.classes.tolist()}, in that order; received {rows[0] if rows else 'no'} "
                "rows."
            )
    if data.classes is not None and not algorithm.body_kind.is_network:
        raise ValueError(
            f"Expected integer labels for {algorithm.name!r}, whose file keeps no others; received "
            f"{data.classes.tolist()}. Pass numpy.unique(y, return_inverse=True)[1]."
        )
    if data.columns is None or algorithm.body_kind.takes_frames:
        return
    if data.columns.categorical or any(np.isnan(part.x).any() for part in data.parts):
        raise ValueError(
            "Expected a data frame of numbers without missing values for the network of "
            f"{algorithm.name!r}; received categories or missing values. Take 'calibrated_bayes', "
            "'ensemble_bayes' or 'cost_model', whose network for tables encodes them."
        )


def with_columns(model: keras.Model, columns: Columns) -> Any:
    """Returns a model of plain rows that finds the columns of a data frame by their names."""
    inputs = keras.Input((len(columns.names),), dtype=float_dtype())
    rows = FrameColumns(columns.names, columns.categories, name="columns")(inputs)
    return with_data(keras.Model(inputs, model(rows), name=model.name))
