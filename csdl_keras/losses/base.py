"""The base class of losses that compare costs with estimates."""

import math
from typing import Any

import numpy as np
from keras import ops

from csdl_keras._utils.arrays import LARGEST_NUMBER
from csdl_keras._utils.checks import check_bool, check_number
from csdl_keras._utils.example_axes import check_weights, examples_shape
from csdl_keras._utils.kept_values import restoring_values
from csdl_keras._utils.tensors import (
    TOLERANCE,
    check_wide,
    finite,
    one_hot_counts,
    probability_rows,
    same_shape,
    tensor_or_array,
)
from csdl_keras._utils.types import ArrayLike, DTypeLike, Tensor
from csdl_keras._utils.uncompiled import uncompiled
from csdl_keras.costs._tensors import (
    check_present,
    from_config,
    rows_of,
    tensor_or_labels,
    to_config,
)
from csdl_keras.costs.checks import check_not_one_hot
from csdl_keras.losses.checked_loss import CheckedLoss
from csdl_keras.outputs.fit_outputs import FitOutput, check_class_weight, fit_output
from csdl_keras.outputs.values import known_values

_SHAPE = "(batch, ..., D)"
# So many one-hot rows and no others are no costs by chance. `fit` shows a loss a batch at a time.
_ENOUGH_ROWS = 1000
# The kinds of outputs that do not estimate costs.
_MEANING = {
    "probability": "probabilities",
    "distribution": "rows that sum to 1, as probabilities do",
    "score": "logarithms of probabilities",
}


class CostLoss(CheckedLoss):
    """Base class of losses that compare costs `c` with estimates `r`, example by example.

    Outputs `(batch, D)` have one value of the loss for each example. Outputs with axes between,
    such as `(batch, height, width, D)` with a decision for each pixel, have values
    `(batch, height, width)`, over which Keras averages; `sample_weight` holds a weight for each
    of them, 0 where nothing is known, or one for each example.

    A subclass implements `cost_loss`. Its attribute `prices_any_decision` tells whether a
    column may be a decision that is never the cheapest, such as to abstain; `output_kind`
    tells what kind of outputs it trains. What can be computed from a cost matrix once,
    instead of in each step, goes into `class_rows`, whose rows `row_loss` receives.

    Args:
        cost_matrix: `None` (default): `y_true` holds cost vectors `(batch, ..., D)`.
            Array-like `(K, D)`, `C[true, decision]`: `y_true` holds integer
            labels `(batch, ...)` or `(batch, ..., 1)`. A label outside `[0, K)` raises when
            the loss is called on an array, and makes the loss NaN inside a compiled
            `fit`, where nothing can raise. Configs, and so saved models, hold
            matrices of at most 128 x 128 entries: with a larger one a loaded model
            predicts, but must be compiled again before it trains.
        cost_scale: factor above 0 by which costs are multiplied before they are
            compared with estimates. Defaults to 1.
        reduction: as in `keras.losses.Loss`. Defaults to the mean over the batch.
        name: name of the loss; `None` (default) is the class's name in snake case.
        dtype: dtype of the computation; `None` (default) is at least float32.
        binary_costs: whether cost vectors may be one-hot, as those are of which a single decision
            costs 1. Defaults to False: one-hot rows alone, of three classes or more, are labels.
            Arrays of them raise. Of a batch in `fit` they may be by chance, unless it is known to
            have 1,000 rows: those make the loss NaN in a compiled step. For smaller batches,
            metrics of this package raise at the end of the epoch.

    Raises:
        ValueError: if the matrix fails its check; if it has more columns than rows
            and the loss cannot price decisions that are not classes; or if `dtype`
            has 16 bits, which would round labels to other labels.
    """

    prices_any_decision = False
    output_kind = "cost"

    def __init__(
        self,
        cost_matrix: ArrayLike | None = None,
        cost_scale: float = 1.0,
        reduction: str | None = "sum_over_batch_size",
        name: str | None = None,
        dtype: DTypeLike | None = None,
        binary_costs: bool = False,
    ):
        super().__init__(reduction=reduction, name=name, dtype=dtype)
        self.binary_costs = check_bool("binary_costs", binary_costs)
        self._one_hot_counts = np.zeros(4)
        check_wide(self.dtype)
        self.cost_scale = check_number(
            "cost_scale", cost_scale, 0, LARGEST_NUMBER, exclude_low=True
        )
        self.cost_matrix = None
        self._rows: Tensor = None
        self._verified = False
        self._sums_to_1 = False
        if cost_matrix is not None:
            self.cost_matrix, self._rows = from_config(cost_matrix, self.dtype, self._scaled_rows)
            self._sums_to_1 = _sums_to_1(self.cost_matrix)

    @restoring_values
    def __call__(
        self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        check_present(self, self._rows)
        found = fit_output(y_pred)
        y_pred = tensor_or_array("y_pred", y_pred)
        shape = examples_shape("y_pred", y_pred)
        if self.cost_matrix is None:
            y_true = self._without_one_hot(tensor_or_array("y_true", y_true), y_pred)
            if found is not None:
                check_class_weight()
        else:
            y_true = tensor_or_labels(y_true, len(self.cost_matrix), shape)
        y_pred = self.checked_outputs(found, y_true, y_pred)
        return super().__call__(y_true, y_pred, sample_weight)

    def checked_weights(self, sample_weight: Tensor | None, y_pred: Tensor) -> Tensor:
        return check_weights(sample_weight, y_pred, axes=len(y_pred.shape) - 1)

    def checked_outputs(self, found: FitOutput | None, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Checks that outputs are of the kind that the loss trains.

        Args:
            found: the output of the model that is being fitted, or `None` without a model.
            y_true: cost vectors or labels.
            y_pred: `(batch, ..., D)` outputs.

        Returns:
            `y_pred`, or NaN if it turns out inside a graph to be probabilities.

        Raises:
            ValueError: if the model, or values that are known, are of another kind.
        """
        if found is not None and found.kind in _MEANING:
            raise self._other_outputs(
                f"those of {found.words}: they are {_MEANING[found.kind]}. End the model in "
                "CostOutput, or train it with cross-entropy and pass it to bayes_classifier."
            )
        known = found is not None and found.kind != "unknown"
        seen = self._verified and not isinstance(y_pred, np.ndarray)
        if known or seen or self._sums_to_1:
            return y_pred
        values = known_values(y_pred)
        if values is None:
            probable = ops.all(probability_rows(y_pred))
            if self.cost_matrix is None:
                near = ops.abs(ops.sum(ops.cast(y_true, "float32"), axis=-1) - 1.0) <= TOLERANCE
                probable = ops.logical_and(probable, ops.logical_not(ops.all(near)))
            return ops.where(probable, ops.cast(np.nan, y_pred.dtype), y_pred)
        values = values.reshape(-1, values.shape[-1])
        probable = values.shape[1] > 1 and len(values) and probability_rows(values).all()
        if probable and not (self.cost_matrix is None and _sums_to_1(known_values(y_true))):
            raise self._other_outputs(
                f"rows that sum to 1, such as {np.round(values[0], 4).tolist()}, which are "
                "probabilities. Train a classifier with cross-entropy and pass it to "
                "bayes_classifier."
            )
        self._verified = True
        return y_pred

    @uncompiled
    def _without_one_hot(self, costs: Tensor, y_pred: Tensor) -> Tensor:
        """Returns cost vectors; raises, or inside a graph returns NaN, if all are one-hot."""
        whole = isinstance(y_pred, np.ndarray)  # A model's outputs are those of a batch.
        settled = self.binary_costs or (self._one_hot_counts[0] and not whole)
        if settled or len(costs.shape) < 2 or (costs.shape[-1] or 0) < 3:
            return costs
        known = known_values(costs)
        if known is None:
            if math.prod(size or 1 for size in costs.shape[:-1]) < _ENOUGH_ROWS:
                return costs
            costs = ops.cast(costs, self.dtype)
            counts = one_hot_counts(costs)
            one_hot = ops.logical_and(counts[0] == 0, ops.min(counts[1:]) > 0)
            return ops.where(one_hot, float("nan"), costs)
        counts = one_hot_counts(known)
        if not whole:
            counts = self._one_hot_counts = self._one_hot_counts + counts
        if whole or counts.sum() >= _ENOUGH_ROWS:
            check_not_one_hot(f"the targets of {self.name!r}", counts)
        return costs

    def _other_outputs(self, received: str) -> ValueError:
        return ValueError(
            f"Expected outputs that estimate costs and decide by argmin for {self.name!r}; "
            f"received {received}"
        )

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        if self.cost_matrix is not None:
            rows = rows_of(self._rows, y_true, y_pred)
            hint = "`cost_matrix` needs as many columns as the model has outputs."
            return self.row_loss(*same_shape(_SHAPE, hint, costs=rows, outputs=y_pred))
        hint = "To train on integer labels, give the loss a `cost_matrix`."
        costs, outputs = same_shape(_SHAPE, hint, costs=y_true, outputs=y_pred)
        costs = costs if self.cost_scale == 1 else costs * self.cost_scale
        return self.cost_loss(finite(costs), outputs)

    def cost_loss(self, costs: Tensor, estimates: Tensor) -> Tensor:
        """Computes the loss of each example, `(batch, ...)`.

        Args:
            costs: `(batch, ..., D)` cost vectors times `cost_scale`, with NaN in place of infinity.
            estimates: `(batch, ..., D)` outputs of the model, of the same float type.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement `cost_loss`.")

    def class_rows(self, costs: np.ndarray) -> np.ndarray:
        """Returns the rows `(K, D)` of classes that `row_loss` receives; by default their costs.

        Args:
            costs: `(K, D)` costs of the matrix times `cost_scale`, at least 0 or NaN.
        """
        return costs

    def row_loss(self, rows: Tensor, estimates: Tensor) -> Tensor:
        """Computes the loss of each example, `(batch, ...)`, from its class's row of `class_rows`.

        Args:
            rows: `(batch, ..., D)`, NaN for a label outside `[0, K)`.
            estimates: `(batch, ..., D)` outputs of the model.
        """
        return self.cost_loss(rows, estimates)

    def _scaled_rows(self, matrix: np.ndarray) -> np.ndarray:
        """Returns `class_rows` of a checked `(K, D)` matrix times `cost_scale`."""
        classes, decisions = matrix.shape
        if decisions > classes and not self.prices_any_decision:
            raise ValueError(
                f"Expected a `cost_matrix` of shape ({classes}, {classes}), one decision for each "
                f"class; received ({classes}, {decisions}). {type(self).__name__} cannot price "
                "decisions that are no class, such as to abstain: train a classifier and give "
                "the matrix to `bayes_classifier`, or take PoissonCostLoss."
            )
        if self.cost_scale == 1:  # This saves a copy of the matrix.
            return self.class_rows(matrix)
        with np.errstate(over="ignore"):
            costs = matrix * matrix.dtype.type(self.cost_scale)
        costs[np.isinf(costs)] = np.nan
        return self.class_rows(costs)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "cost_matrix": to_config(self.cost_matrix),
            "cost_scale": self.cost_scale,
            "binary_costs": self.binary_costs,
        }


def _sums_to_1(costs: np.ndarray | None) -> bool:
    """Tells whether rows of costs sum to 1, so that good estimates of them may as well."""
    return costs is not None and bool(np.all(np.abs(costs.sum(axis=-1) - 1) <= TOLERANCE))
