"""A network for tabular data."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.arrays import check_entries, input_array
from csdl_keras._utils.seeds import Seeds
from csdl_keras._utils.tensors import float_dtype, head_dtype
from csdl_keras.layers import MemberMean, MemberScaling, TableEncoding
from csdl_keras.layers.table_encoding import FrameColumns
from csdl_keras.models.heads import check_output_layer, with_output_layer
from csdl_keras_cli.columns import as_table

# The most bins of all columns together, so that wide tables have fewer per column.
_MOST_BINS = 4096
# Factors of encoded columns learn this many times faster than other weights.
_SCALE_RATE = 6.0


def tabular(
    x: Any,
    num_classes: int,
    hidden_units: Sequence[int] = (256, 256),
    dropout: float = 0.2,
    output: str = "probability",
    name: str = "tabular",
    seed: int | None = None,
    members: int = 8,
    bins: int = 24,
) -> keras.Model:
    """Builds a network for tabular data, with columns of different units and ranges.

    Inputs are flattened and encoded by `csdl_keras.layers.TableEncoding`. Each encoded number is
    multiplied by a trainable factor with six times the learning rate of the other weights. Hidden
    layers of sigmoid-weighted linear units with dropout, and the output layer follow. The first
    hidden layer is scaled and shifted differently for each of several `members`, whose features
    are averaged, see `csdl_keras.layers.MemberScaling`.

    Args:
        x: training inputs `(N, ...)`, of a size up to 1e18, or NaN where a value is missing; or
            a pandas or Polars data frame. The model then accepts data frames: columns are
            matched by name, a category that was not in `x` counts as missing, and a date becomes
            days since 1970, weekday, month and hour.
        num_classes, name, seed: as in `mlp`.
        hidden_units: units of each hidden layer. Defaults to two layers of 256.
        dropout: share of hidden units that are dropped in training. Defaults to 0.2.
        output: `"probability"` (default), `"cost"`, or `"features"` without an output layer.
        members: number of members; 1 is a plain network. Defaults to 8.
        bins: largest number of quantiles between which functions are linear. Defaults to 24.

    Returns:
        A functional `keras.Model`, `(batch, ...)` to `(batch, num_classes)`, not compiled.

    References:
        - [Gorishniy, Kotelnikov, Babenko: TabM: Advancing tabular deep learning with
          parameter-efficient ensembling, ICLR 2025](https://arxiv.org/abs/2410.24210)
        - [Holzmüller, Grinsztajn, Steinwart: Better by default: Strong pre-tuned MLPs and boosted
          trees on tabular data, NeurIPS 2024](https://arxiv.org/abs/2407.04491) (the factors)

    Example:

    >>> import pandas
    >>> frame = pandas.DataFrame({"age": [31, 45, None], "job": ["nurse", "baker", None]})
    >>> model = tabular(frame, num_classes=2)
    >>> model.predict(frame, verbose=0).shape
    (3, 2)
    """
    table = as_table(x)
    rows = input_array("x", x, booleans=True) if table is None else table.rows
    rows = rows.astype("float64")
    if not rows.size:
        raise ValueError(f"`x` has no examples: its shape is {rows.shape}.")
    # float32 can represent the variances of numbers of this size.
    right = (np.abs(rows) <= 1e18) | np.isnan(rows)
    check_entries("x", rows, right, "finite and of a size up to 1e18, or NaN where missing")
    check_output_layer(num_classes, output, ("features",))
    seeds = Seeds(seed)
    inputs = keras.Input(rows.shape[1:], dtype=float_dtype())
    flat, features = rows.reshape(len(rows), -1), inputs
    categories = None
    if table is not None:
        columns = table.columns
        categories = [columns.categorical.get(column, 0) for column in range(flat.shape[1])]
        known = FrameColumns(columns.names, columns.categories, columns.dates, name="columns")
        features = known(features)
    encoding = TableEncoding.adapted(flat, categories, min(bins, _MOST_BINS // flat.shape[1]))
    if rows.ndim > 2:
        features = keras.layers.Flatten(dtype=head_dtype(None))(inputs)
    features = encoding(features)
    if hidden_units:
        # The factors are six times the weights, and so are their updates.
        size, start = features.shape[-1], keras.initializers.Constant(1 / _SCALE_RATE)
        scale = keras.layers.EinsumDense("bf,f->bf", size, kernel_initializer=start)
        features = keras.layers.Rescaling(_SCALE_RATE)(scale(features))
    for index, units in enumerate(hidden_units):
        hidden = keras.layers.Dense(units, kernel_initializer=seeds.initializer("he_normal"))
        features = hidden(features)
        if not index:
            # The weights of bins start at 0, so that functions of a number are straight lines.
            kernel, linear = np.zeros(hidden.kernel.shape), size - sum(encoding.bins)
            kernel[:linear] = keras.ops.convert_to_numpy(hidden.kernel_initializer((linear, units)))
            hidden.kernel.assign(kernel)
            if members > 1:
                features = MemberScaling(members, seed=seeds.next())(features)
        features = keras.layers.Activation("silu")(features)
        if dropout:
            features = keras.layers.Dropout(dropout, seed=seeds.next())(features)
    if hidden_units and members > 1:
        features = MemberMean()(features)
    return with_output_layer(inputs, features, num_classes, output, seeds, name)
