"""Base classes of losses, and of losses that compare costs with estimates."""

from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.arrays import call_of
from csdl_keras._utils.checks import check_bool, check_number
from csdl_keras._utils.tensors import (
    check_weights,
    default_name,
    examples_shape,
    float_dtype,
    known_values,
    same_shape,
    tensor_or_array,
)
from csdl_keras._utils.types import ArrayLike, DTypeLike, Tensor
from csdl_keras.costs._tensors import (
    check_present,
    from_config,
    rows_of,
    tensor_or_labels,
    to_config,
)
from csdl_keras.costs.checks import TOLERANCE, check_not_one_hot, one_hot_counts, probability_rows
from csdl_keras_cli.choices import LARGEST_NUMBER

_INSTEAD = (
    "End the model in CostOutput, or train it with cross-entropy and pass it to bayes_classifier."
)


class CheckedLoss(keras.losses.Loss):
    """Base class of losses that accept arrays, lists and data frames as well as tensors."""

    #: Whether each row of outputs `(batch, ..., D)` has a value, not only each example.
    of_rows = False

    def __init__(self, name: str | None = None, dtype: DTypeLike | None = None, **kwargs: Any):
        super().__init__(name=name or default_name(self), dtype=dtype or float_dtype(), **kwargs)

    def __repr__(self) -> str:
        of_keras = {"dtype", *keras.losses.Loss.get_config(self)}
        config = {name: it for name, it in self.get_config().items() if name not in of_keras}
        return call_of(self, **{name: getattr(self, name, it) for name, it in config.items()})

    def __call__(self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor = None) -> Tensor:
        y_true, y_pred = tensor_or_array("y_true", y_true), tensor_or_array("y_pred", y_pred)
        axes = len(y_pred.shape) - 1 if self.of_rows else 1
        return super().__call__(y_true, y_pred, check_weights(sample_weight, y_pred, axes))


def looks_like_probabilities(outputs: Tensor) -> Tensor:
    """Returns whether all rows of outputs `(..., D)` are distributions, as costs rarely are."""
    if outputs.shape[-1] in (None, 1):
        return False
    rows = probability_rows(outputs)
    if isinstance(outputs, np.ndarray):
        return bool(rows.all())
    # A few costs, or the same ones again, may sum to 1 by chance in a batch.
    flat = ops.reshape(outputs, (-1, outputs.shape[-1]))
    several = ops.logical_and(ops.size(rows) >= 4, ops.any(flat != flat[:1]))
    return ops.logical_and(ops.all(rows), several)


class CostLoss(CheckedLoss):
    """Base class of losses that compare costs with estimates; `SOSRLoss` describes arguments."""

    of_rows = True
    #: The kind of outputs that the loss trains by default.
    output_kind = "cost"
    #: Whether there may be decisions that are never the cheapest, such as abstaining.
    prices_any_decision = False

    def __init__(
        self,
        cost_matrix: ArrayLike | None = None,
        cost_scale: float = 1.0,
        output: str | None = None,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = None,
        dtype: DTypeLike | None = None,
        binary_costs: bool = False,
    ):
        super().__init__(reduction=reduction, name=name, dtype=dtype)
        self.output = self.output_kind if output is None else output
        if self.output_kind == "cost" and self.output != "cost":
            raise ValueError(
                f"{self.name!r} trains estimates of costs; received output={output!r}. {_INSTEAD}"
            )
        self.binary_costs = check_bool("binary_costs", binary_costs)
        self.cost_scale = check_number(
            "cost_scale", cost_scale, 0, LARGEST_NUMBER, exclude_low=True
        )
        self._sums_to_1 = False
        self.cost_matrix, self._rows = from_config(cost_matrix, self.dtype, self.scaled_rows)

    def scaled_rows(self, matrix: np.ndarray) -> np.ndarray:
        """Returns a checked `(K, D)` matrix times `cost_scale`."""
        if matrix.shape[1] > len(matrix) and not self.prices_any_decision:
            raise ValueError(
                f"{type(self).__name__} cannot train decisions that are not classes, such as "
                f"abstaining; received a `cost_matrix` of shape {matrix.shape}. Pass the matrix to "
                "bayes_classifier, or use PoissonCostLoss."
            )
        with np.errstate(over="ignore"):
            costs = matrix * matrix.dtype.type(self.cost_scale)
        self._sums_to_1 = bool(np.all(np.abs(costs.sum(axis=-1) - 1.0) <= TOLERANCE))
        return costs

    def __call__(self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor = None) -> Tensor:
        check_present(self, self._rows)
        y_pred = tensor_or_array("y_pred", y_pred)
        shape = examples_shape("y_pred", y_pred)
        if self.cost_matrix is None:
            y_true = tensor_or_array("y_true", y_true)
            # All rows of a batch may be one-hot by chance, but not those of whole arrays.
            known = known_values(y_true) if isinstance(y_pred, np.ndarray) else None
            if known is not None and known.ndim > 1 and not self.binary_costs:
                check_not_one_hot(f"the targets of {self.name!r}", one_hot_counts(known))
        else:
            y_true = tensor_or_labels(y_true, len(self.cost_matrix), shape)
        value = super().__call__(y_true, y_pred, sample_weight)
        if self.output != "cost" or self._sums_to_1:  # Good estimates of such costs also sum to 1.
            return value
        return ops.where(self._are_probabilities(y_true, y_pred), float("nan"), value)

    def _are_probabilities(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Returns whether outputs are probabilities; raises if their values are known."""
        probable = looks_like_probabilities(y_pred)
        if self.cost_matrix is None:
            sums = ops.sum(ops.cast(y_true, "float32"), axis=-1) * self.cost_scale
            near = ops.all(ops.abs(sums - 1.0) <= TOLERANCE)
            probable = ops.logical_and(probable, ops.logical_not(near))
        if known_values(probable):
            row = np.reshape(ops.convert_to_numpy(y_pred), (-1, y_pred.shape[-1]))[0]
            raise ValueError(
                f"{self.name!r} trains estimates of costs, but received rows that sum to 1, such "
                f"as {np.round(row, 4).tolist()}, which are probabilities. {_INSTEAD}"
            )
        return probable

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        if self.cost_matrix is None:
            costs, hint = y_true, "To train on integer labels, give the loss a `cost_matrix`."
        else:
            costs = rows_of(self._rows, y_true)
            hint = "`cost_matrix` needs as many columns as the model has outputs."
        costs, outputs = same_shape("(batch, ..., D)", hint, costs=costs, outputs=y_pred)
        if self.cost_matrix is None:
            costs = costs * self.cost_scale
        return self.cost_loss(costs, outputs)

    def cost_loss(self, costs: Tensor, estimates: Tensor) -> Tensor:
        """Computes the loss of each row of scaled costs; NaN if a label is not a class."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "cost_matrix": to_config(self.cost_matrix),
            "cost_scale": self.cost_scale,
            "output": self.output,
            "binary_costs": self.binary_costs,
        }
