"""A network for tables."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.arrays import as_array, check_entries
from csdl_keras._utils.checks import check_number
from csdl_keras._utils.seeds import Seeds
from csdl_keras._utils.tensors import float_dtype, head_dtype
from csdl_keras.models.heads import check_outputs, check_sizes, output_layer

# By what a column is divided that is constant in training: nothing of it is left.
_OUT_OF_SIGHT = 1e19
# Layers of Keras divide by no less than 1e-7, and multiply by no more than 1e19.
_DIVISIBLE, _SMALLEST = 1e-6, 1e-19


def tabular(
    x: Any,
    num_classes: int,
    hidden_units: Sequence[int] = (256, 256),
    dropout: float = 0.2,
    output: str = "probability",
    name: str = "tabular",
    seed: int | None = None,
) -> keras.Model:
    """Builds a network for numbers of different units and ranges.

    Inputs are flattened and standardised by the means and variances of the
    training inputs, which are kept in the model; then hidden layers of
    rectified linear units with dropout, and the output layer. A column that is
    constant in training has no influence, whatever it holds later. So it is if it
    varies by no more than what the model's float type rounds: its standard deviation
    is at most 4 times the type's epsilon (1.2e-7 for float32) of its largest size.
    Subtract a large offset beforehand if what varies beside it matters. A column of a
    standard deviation below 1e-19 is multiplied by 1e19 and no more, and has less influence.

    Args:
        x: training inputs `(N, ...)`, finite and of a size up to 1e18, from which
            means and variances are taken; also a data frame.
        num_classes: number of classes, at least 2.
        hidden_units: units of each hidden layer. Defaults to two layers of 256.
        dropout: share of hidden units dropped in training. Defaults to 0.2.
        output: `"probability"` (default), `"cost"`, or `"features"` for the network
            without an output layer.
        name: name of the model.
        seed: seed of weights and dropout; `None` (default) follows
            `keras.utils.set_random_seed`.

    Returns:
        A functional `keras.Model`, `(batch, ...)` to `(batch, num_classes)`, not
        compiled.

    Raises:
        ValueError: if an argument is out of range.

    Example:

    >>> tabular(np.random.default_rng(0).normal(size=(50, 7)), num_classes=3).output_shape
    (None, 3)
    """
    rows = _table(x)
    sizes = check_sizes("hidden_units", hidden_units)
    check_outputs(num_classes, output, ("features",))
    check_number("dropout", dropout, 0, 0.95)
    seeds = Seeds(seed)
    inputs = keras.Input(rows.shape[1:], dtype=float_dtype())
    features = _standardised(inputs, rows)
    for units in sizes:
        features = keras.layers.Dense(
            units, "relu", kernel_initializer=seeds.initializer("he_normal")
        )(features)
        if dropout:
            features = keras.layers.Dropout(dropout, seed=seeds.next())(features)
    if output == "features":
        return keras.Model(inputs, features, name=name)
    head = output_layer(num_classes, output, kernel_initializer=seeds.initializer("glorot_uniform"))
    return keras.Model(inputs, head(features), name=name)


def _standardised(inputs: Any, rows: np.ndarray) -> Any:
    """`(batch, F)` of mean 0 and variance 1 over the training inputs, as the model sees them."""
    dtype = head_dtype(None)  # 16 bits hold neither large numbers nor neighbouring ones
    features = keras.layers.Flatten(dtype=dtype)(inputs) if rows.ndim > 2 else inputs
    flat = rows.reshape(len(rows), -1).astype(inputs.dtype).astype("float64")
    largest = np.abs(flat).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)  # squares of small numbers would be 0
    deviation = (flat / unit).std(axis=0) * unit
    policy = keras.dtype_policies.get(dtype)
    types = [np.finfo(name) for name in (inputs.dtype, policy.compute_dtype)]
    # Backends take what is smaller than `tiny` for 0.
    constant = deviation <= max(info.tiny for info in types)
    constant |= deviation <= 4 * max(info.eps for info in types) * largest
    small = ~constant & (deviation < _DIVISIBLE)
    divisor = np.where(small, 1.0, np.where(constant, _OUT_OF_SIGHT, deviation))
    features = keras.layers.Normalization(mean=flat.mean(axis=0), variance=divisor**2, dtype=dtype)(
        features
    )
    if not small.any():
        return features
    factor = np.where(small, 1.0 / np.maximum(deviation, _SMALLEST), 1.0)
    return keras.layers.Normalization(
        mean=np.zeros(len(factor)), variance=factor**2, invert=True, dtype=dtype
    )(features)


def _table(x: Any) -> np.ndarray:
    """Training inputs as float64, whose variances float32 holds."""
    rows = as_array("x", x, "(N, ...)")
    if rows.dtype.kind not in "biuf":
        raise ValueError(f"Expected `x` to hold real numbers; received dtype {rows.dtype}.")
    if rows.ndim < 2 or not rows.size:
        raise ValueError(f"Expected `x` of shape (N, ...); received shape {rows.shape}.")
    rows = rows.astype("float64")
    check_entries("x", rows, np.abs(rows) <= 1e18, "finite and of a size up to 1e18")
    return rows
