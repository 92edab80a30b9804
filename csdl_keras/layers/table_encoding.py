"""Layers that encode columns of a table: numbers, categories and missing values."""

from collections.abc import Sequence
from typing import Any, Self

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.arrays import check_rows
from csdl_keras._utils.checks import check_integer
from csdl_keras._utils.tensors import check_numbered, float_dtype
from csdl_keras._utils.types import ArrayLike, Shape, Tensor
from csdl_keras.layers.base import PlainLayer, WideLayer
from csdl_keras_cli.columns import Columns


@keras.saving.register_keras_serializable(package="csdl_keras")
class FrameColumns(PlainLayer):
    """Returns its inputs, rows that `columns` encoded; arguments are those of `Columns`."""

    def __init__(
        self,
        names: Sequence[Any],
        categories: Sequence[Sequence[Any] | None],
        dates: Sequence[Sequence[Any]] = (),
        **kwargs: Any,
    ):
        # In 16 bits, large numbers would overflow and close ones would become equal.
        super().__init__(**kwargs, autocast=False)
        self.names = list(names)
        self.categories = [them if them is None else list(them) for them in categories]
        listed = (them if them is None else tuple(them) for them in categories)
        self.dates = [list(pair) for pair in dates]
        pairs = ((name, form) for name, form in dates)
        self.columns = Columns(tuple(names), tuple(listed), tuple(pairs))

    def call(self, inputs: Tensor) -> Tensor:
        return inputs

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        if not self.dates:
            del config["dates"]  # Earlier versions can then load it.
        return config


# Standard deviations beyond which standardised numbers change less and less.
_SPREAD = 3.0
# The reciprocal of this, times inputs of up to 1e18, fits into float32.
_SMALLEST = 1e-19
# Least average number of examples in a bin; the network would memorise fewer.
_EXAMPLES = 20


@keras.saving.register_keras_serializable(package="csdl_keras")
class TableEncoding(WideLayer):
    """Encodes the columns of a table: numbers, categories and missing values.

    A column of numbers becomes `z / sqrt(1 + (z / 3)^2)` with the standardised number `z`, and
    `clip((x - b_{t-1}) / (b_t - b_{t-1}), 0, 1)` for each bin `t` between edges `b_0 < ... < b_T`.
    A column of categories, whole numbers from 0, becomes a one-hot vector. Missing values, NaN,
    become zeros, and 1 in the indicator of their column, if it has one.

    Args:
        bins: number of bins of each column, 0 for none.
        categories: number of categories of each column, 0 for numbers. Defaults to numbers only.
        missing: indices of the columns with an indicator. Defaults to none.

    Call arguments:
        inputs: `(batch, F)`.

    Returns:
        `(batch, E)`: standardised numbers, indicators, one-hot vectors and encodings by bins.

    References:
        - [Gorishniy, Rubachev, Babenko: On embeddings for numerical features in tabular deep
          learning, NeurIPS 2022](https://arxiv.org/abs/2203.05556)

    Example:

    >>> layer = TableEncoding.adapted(np.arange(101.0)[:, None], most_bins=2)
    >>> print(ops.convert_to_numpy(layer(np.array([[25.0], [75.0], [np.nan]]))).round(2))
    [[-0.82  0.5   0.  ]
     [ 0.82  1.    0.5 ]
     [ 0.    0.    0.  ]]
    """

    def __init__(
        self,
        bins: Sequence[int],
        categories: Sequence[int] | None = None,
        missing: Sequence[int] = (),
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.bins = [check_integer("bins", one, 0) for one in bins]
        columns = len(self.bins)
        categories = [0] * columns if categories is None else categories
        self.categories = [check_integer("categories", it, 0) for it in categories]
        check_rows("categories", np.array(self.categories), columns, "columns, as `bins`")
        self.missing = [check_integer("missing", it, 0, columns - 1) for it in missing]
        self.input_spec = keras.layers.InputSpec(ndim=2, axes={-1: columns})
        self._starts: Sequence[ArrayLike] = (0.0, 1.0, 0.0, 1.0)  # This changes no number.

    @classmethod
    def adapted(
        cls,
        x: np.ndarray,
        categories: Sequence[int] | None = None,
        most_bins: int = 24,
        **kwargs: Any,
    ) -> Self:
        """Returns a layer for training inputs `(N, F)`, with at most `most_bins` bins a column."""
        columns = range(x.shape[1])
        categories = [0] * len(columns) if categories is None else categories
        found = {j: _statistics(x[:, j], most_bins) for j in columns if not categories[j]}
        layer = cls(
            [max(len(found[j][2]) - 1, 0) if j in found else 0 for j in columns],
            categories,
            np.flatnonzero(np.isnan(x).any(axis=0)).tolist(),
            **kwargs,
        )
        means, factors, edges = zip(*found.values(), strict=True) if found else ((), (), ())
        low = [edge for one in edges for edge in one[:-1]]
        slopes = [slope for one in edges for slope in 1.0 / np.diff(one)]
        layer._starts = tuple(map(np.asarray, (means, factors, low, slopes)))
        return layer

    @property
    def num_numbers(self) -> int:
        """The number of columns of numbers."""
        return self.categories.count(0)

    def build(self, input_shape: Shape) -> None:
        # Keras converts the inputs of a model to its float type.
        for dtype in (keras.config.floatx(), self.compute_dtype):
            check_numbered("categories of a column", max(self.categories, default=0), dtype)
        numbers, bins = self.num_numbers, sum(self.bins)
        sizes = {"means": numbers, "factors": numbers, "edges": bins, "slopes": bins}
        for (name, size), start in zip(sizes.items(), self._starts, strict=True):
            constant = keras.initializers.Constant(start)
            setattr(self, name, self.add_weight((size,), constant, trainable=False, name=name))

    def call(self, inputs: Tensor) -> Tensor:
        columns = range(len(self.bins))
        numbers = [j for j in columns if not self.categories[j]]
        binned = np.repeat(columns, self.bins)
        coded = np.repeat(columns, self.categories)
        codes = np.concatenate([*map(np.arange, self.categories)])
        z = ops.clip((_take(inputs, numbers) - self.means) * self.factors, -1e6, 1e6)
        parts = [
            _known(z / ops.sqrt(1.0 + ops.square(z / _SPREAD))),
            ops.cast(ops.isnan(_take(inputs, self.missing)), inputs.dtype),
            ops.cast(ops.equal(_take(inputs, coded), codes.astype("float32")), inputs.dtype),
            _known(ops.clip((_take(inputs, binned) - self.edges) * self.slopes, 0.0, 1.0)),
        ]
        return ops.concatenate([part for part in parts if part.shape[-1]], axis=-1)


def _take(inputs: Tensor, columns: Sequence[int] | np.ndarray) -> Tensor:
    return ops.take(inputs, np.asarray(columns, "int32"), axis=1)


def _known(values: Tensor) -> Tensor:
    return ops.where(ops.isnan(values), ops.zeros_like(values), values)


def _statistics(column: np.ndarray, most_bins: int) -> tuple[float, float, np.ndarray]:
    """Returns a column's mean, the reciprocal of its deviation, 0 if constant, and its edges."""
    # Edges are distinct in the float type of the layer's inputs.
    values = column[~np.isnan(column)].astype(float_dtype()).astype("float64")
    deviation = values.std() if len(values) else 0.0
    if deviation <= 4 * np.finfo("float32").eps * np.abs(values).max(initial=0.0):
        return 0.0, 0.0, values[:0]
    return values.mean(), 1.0 / max(deviation, _SMALLEST), _edges(values, most_bins)


def _edges(values: np.ndarray, most_bins: int) -> np.ndarray:
    """Returns quantiles; a value that is often repeated counts as one bin."""
    bins = min(most_bins, len(values) // _EXAMPLES)
    distinct, counts = np.unique(values, return_counts=True)
    if bins < 2:
        return values[:0]
    heights = np.cumsum(np.minimum(counts, len(values) / bins))
    places = np.searchsorted(heights, np.linspace(0.0, heights[-1] * (1 - 1e-9), bins + 1))
    edges = distinct[np.unique(places)]
    # The standardised number already distinguishes two values.
    return edges if len(edges) > 2 and np.diff(edges).min() > _SMALLEST else values[:0]
