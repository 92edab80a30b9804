"""A network for tabular data."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.arrays import check_entries, input_array
from csdl_keras._utils.checks import check_number
from csdl_keras._utils.frames import Table, as_table
from csdl_keras._utils.seeds import Seeds
from csdl_keras._utils.tensors import float_dtype, head_dtype
from csdl_keras._utils.types import Tensor
from csdl_keras.models._columns import columns_layer, one_hot
from csdl_keras.models.heads import check_output_layer, check_sizes, with_output_layer

# Columns that are constant in training are divided by this, which makes them 0.
_CONSTANT_DIVISOR = 1e19
# Keras' Normalization divides by at least 1e-7, and squares of factors above 1e19 overflow.
_SMALLEST_DIVISOR, _SMALLEST_DEVIATION = 1e-6, 1e-19


def tabular(
    x: Any,
    num_classes: int,
    hidden_units: Sequence[int] = (256, 256),
    dropout: float = 0.2,
    output: str = "probability",
    name: str = "tabular",
    seed: int | None = None,
) -> keras.Model:
    """Builds a network for tabular data, with columns of different units and ranges.

    Inputs are flattened and standardised by the means and variances of the training
    inputs, which are saved with the model. Hidden layers of rectified linear units
    with dropout, and the output layer follow.

    A column that is constant in training has no influence, whatever it holds later.
    A column counts as constant if its standard deviation is at most 4 times the
    epsilon of the model's float type (1.2e-7 for float32) of its largest absolute
    value; subtract a large offset beforehand if smaller differences matter. A column
    with a standard deviation below 1e-19 is multiplied by 1e19 only, and so has less
    influence.

    Args:
        x: training inputs `(N, ...)`, finite and of a size up to 1e18, from which means and
            variances are computed; or a data frame of pandas or Polars. Its columns may hold
            numbers, booleans, strings and categoricals, with missing values. The model then
            takes data frames: its columns are matched by name, and a category that was not
            in `x` counts as missing.
        num_classes: number of classes, at least 2.
        hidden_units: units of each hidden layer. Defaults to two layers of 256.
        dropout: share of hidden units that are dropped in training. Defaults to 0.2.
        output: `"probability"` (default), `"cost"`, or `"features"` for the network
            without an output layer.
        name: name of the model.
        seed: seed of weights and dropout; `None` (default) follows
            `keras.utils.set_random_seed`.

    Returns:
        A functional `keras.Model`, `(batch, ...)` to `(batch, num_classes)`, not
        compiled. For a data frame its `predict`, `evaluate` and `fit` take data frames and
        dicts of columns; its `encode` returns the numbers `(N, F)` that its layers take.

    Raises:
        ValueError: if an argument is out of range, or a data frame holds dates.

    Example:

    >>> tabular(np.random.default_rng(0).normal(size=(50, 7)), num_classes=3).output_shape
    (None, 3)
    >>> import pandas
    >>> frame = pandas.DataFrame({"age": [31, 45, None], "job": ["nurse", "baker", None]})
    >>> model = tabular(frame, num_classes=2)
    >>> model.predict(frame, verbose=0).shape
    (3, 2)
    """
    table = as_table(x)
    rows = _table(x if table is None else table)
    sizes = check_sizes("hidden_units", hidden_units)
    check_output_layer(num_classes, output, ("features",))
    check_number("dropout", dropout, 0, 0.95)
    seeds = Seeds(seed)
    inputs = keras.Input(rows.shape[1:], dtype=float_dtype())
    features = inputs
    if table is not None:
        features, rows = one_hot(columns_layer(table.columns)(inputs), table)
    features = _standardised(features, rows)
    for units in sizes:
        features = keras.layers.Dense(
            units, "relu", kernel_initializer=seeds.initializer("he_normal")
        )(features)
        if dropout:
            features = keras.layers.Dropout(dropout, seed=seeds.next())(features)
    return with_output_layer(inputs, features, num_classes, output, seeds, name)


def _standardised(inputs: Tensor, rows: np.ndarray) -> Tensor:
    """Returns `(batch, F)` features of mean 0 and variance 1 over the training inputs."""
    dtype = head_dtype(None)  # In 16 bits large numbers overflow and close ones become equal.
    features = keras.layers.Flatten(dtype=dtype)(inputs) if rows.ndim > 2 else inputs
    flat = rows.reshape(len(rows), -1).astype(inputs.dtype).astype("float64")
    largest = np.abs(flat).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)  # Squares of small numbers would be 0.
    deviation = (flat / unit).std(axis=0) * unit
    policy = keras.dtype_policies.get(dtype)
    types = [np.finfo(name) for name in (inputs.dtype, policy.compute_dtype)]
    # Backends take what is smaller than `tiny` for 0.
    constant = deviation <= max(info.tiny for info in types)
    constant |= deviation <= 4 * max(info.eps for info in types) * largest
    small = ~constant & (deviation < _SMALLEST_DIVISOR)
    divisor = np.where(small, 1.0, np.where(constant, _CONSTANT_DIVISOR, deviation))
    features = keras.layers.Normalization(mean=flat.mean(axis=0), variance=divisor**2, dtype=dtype)(
        features
    )
    if not small.any():
        return features
    factor = np.where(small, 1.0 / np.maximum(deviation, _SMALLEST_DEVIATION), 1.0)
    return keras.layers.Normalization(
        mean=np.zeros(len(factor)), variance=factor**2, invert=True, dtype=dtype
    )(features)


def _table(x: Any) -> np.ndarray:
    """Returns training inputs as float64, with sizes whose variances float32 can hold."""
    framed = isinstance(x, Table)  # whose missing values and categories are filled later
    rows = (x.rows if framed else input_array("x", x, booleans=True)).astype("float64")
    if not rows.size:
        raise ValueError("Expected `x` of at least one example; received none.")
    check_entries(
        "x",
        rows,
        (np.abs(rows) <= 1e18) | (framed & np.isnan(rows)),
        "finite and of a size up to 1e18",
    )
    return rows
