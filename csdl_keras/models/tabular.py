"""A network for tables."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._array_checks import as_array, check_entries
from csdl_keras._checks import check_number
from csdl_keras._ops import head_dtype
from csdl_keras._seeds import Seeds
from csdl_keras.models.heads import check_outputs, check_sizes, output_layer


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
    rectified linear units with dropout, and the output layer.

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
    inputs = features = keras.Input(rows.shape[1:])
    if rows.ndim > 2:
        features = keras.layers.Flatten()(features)
    flat = rows.reshape(len(rows), -1)
    variance = flat.var(axis=0)
    # A column that is constant in training says nothing, and stays as small as it is.
    features = keras.layers.Normalization(
        mean=flat.mean(axis=0),
        variance=np.where(variance > 0, variance, 1.0),
        dtype=head_dtype(None),  # 16 bits hold neither large numbers nor neighbouring ones
    )(features)
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
