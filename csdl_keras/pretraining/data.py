"""Reads and checks the data of pre-training: arrays, or a dataset of batches."""

from typing import Any

import keras
import numpy as np

from csdl_keras._utils.arrays import (
    as_array,
    check_example_shape,
    check_range,
    check_rows,
    input_array,
    number_array,
)
from csdl_keras._utils.files import fingerprint
from csdl_keras._utils.structure import check_inputs
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs._tensors import tensor_or_labels
from csdl_keras.costs.checks import check_cost_vectors, check_not_one_hot, one_hot_counts
from csdl_keras_cli.choices import LARGEST_NUMBER

UNBOUNDED_HINT = (
    "Scale inputs to [0, 1] (keras.layers.Rescaling) and use logistic hidden units, or pass "
    "reconstruction='squared_error', which accepts any finite values."
)


class PretrainingData:
    """Inputs and, if `costs_needed`, costs of pre-training, as arrays or a dataset of batches."""

    def __init__(
        self,
        model: keras.Model,
        x: Any,
        costs: ArrayLike | None,
        costs_needed: bool,
        cost_matrix: np.ndarray | None,
        batch_size: int,
        unlabelled: ArrayLike | None = None,
        binary_costs: bool = False,
    ):
        self.is_array = hasattr(x, "__array__") or isinstance(x, (list, tuple))
        self.x = input_array("x", x) if self.is_array else x
        self.costs_needed, self.cost_matrix = costs_needed, cost_matrix
        self.batch_size, self.binary_costs = batch_size, binary_costs
        self.num_decisions = None if cost_matrix is None else cost_matrix.shape[1]
        self.costs: np.ndarray | None = None
        self.cost_weights: np.ndarray | None = None
        if not self.is_array:
            if costs is not None or unlabelled is not None:
                raise ValueError(
                    "`costs` and `unlabelled` cannot be combined with a dataset, which consists of "
                    "pairs (x, costs)."
                )
            return
        self.x = check_inputs(model, self.x)
        if costs_needed:
            if costs is None:
                raise ValueError("beta > 0 needs `costs`. Pass them, or use beta=0.")
            self.costs = self._checked_costs(costs, binary_costs)
            check_rows("costs", self.costs, len(self.x), "examples")
        if unlabelled is not None:
            more = number_array("unlabelled", unlabelled, "(U, ...)")
            check_example_shape("`unlabelled`", more, self.x.shape[1:], "like `x`")
            own, size = len(self.x), len(self.x) + len(more)
            self.x = np.concatenate([self.x, more])
            if self.costs is not None and len(more):
                zeros = np.zeros((len(more), *self.costs.shape[1:]), self.costs.dtype)
                self.costs = np.concatenate([self.costs, zeros])
                # They make the expected mean over a batch the mean over examples with costs.
                self.cost_weights = np.where(np.arange(size) < own, size / own, 0).astype("float32")

    def _checked_costs(self, costs: ArrayLike, binary_costs: bool) -> np.ndarray:
        if self.cost_matrix is not None:
            labels = as_array("costs", costs, "(N,), integer labels, rows of `cost_matrix`")
            tensor_or_labels(labels, len(self.cost_matrix))
            return labels
        vectors = check_cost_vectors(costs, self.num_decisions, binary_costs)
        self.num_decisions = vectors.shape[1]
        return vectors.astype("float32")

    def fingerprint(self) -> str:
        """Returns a digest of the arrays, with costs only if they are read."""
        parts = (self.x, self.costs, self.cost_matrix, self.cost_weights)
        return fingerprint(*(part for part in parts if part is not None))

    def check(self, below: keras.Model | None, bounded: bool) -> None:
        """Checks the inputs of the first layer, and costs; this reads one epoch of a dataset."""
        if self.is_array:
            check_codes(self._codes(below), bounded)
            return
        batches, counts = self.x, np.zeros(4)
        if isinstance(self.x, keras.utils.PyDataset):
            batches = (self.x[index] for index in range(len(self.x)))
        elif not hasattr(self.x, "__iter__") or iter(self.x) is self.x:
            raise ValueError(
                f"`x` is a {type(self.x).__name__}, which cannot be read several times. Pass an "
                "array, a tf.data.Dataset or a PyDataset."
            )
        if hasattr(self.x, "cardinality") and int(self.x.cardinality()) == -1:
            raise ValueError("The dataset never ends. Pass a finite one.")
        for batch in batches:
            inputs, targets, _ = keras.utils.unpack_x_y_sample_weight(batch)
            inputs = keras.ops.convert_to_numpy(inputs)
            check_codes(inputs if below is None else below.predict_on_batch(inputs), bounded)
            if self.costs_needed and targets is None:
                raise ValueError("beta > 0 needs a dataset of pairs (x, costs).")
            if self.costs_needed:
                # The rows of a batch may be one-hot by chance, but not those of an epoch.
                costs = self._checked_costs(keras.ops.convert_to_numpy(targets), binary_costs=True)
                if self.cost_matrix is None:
                    counts += one_hot_counts(costs)
        if not self.binary_costs:
            check_not_one_hot("`costs`", counts)

    def _codes(self, below: keras.Model | None) -> np.ndarray:
        if below is None:
            return self.x
        return below.predict(self.x, batch_size=max(self.batch_size, 256), verbose=0)

    def fit_arguments(self, below: keras.Model | None, bounded: bool) -> dict[str, Any]:
        """Returns data for `LayerFit.pretrain`: the codes of arrays, or a dataset of inputs."""
        if not self.is_array:
            # A dataset keeps its order; asking `fit` to shuffle it would only warn.
            return {"x": self.x, "y": None, "shuffle": False}
        codes = self._codes(below)
        check_codes(codes, bounded)
        weights = {"sample_weight": self.cost_weights, "batch_size": self.batch_size}
        return {"x": codes, "y": self.costs, **weights}


def check_codes(codes: np.ndarray, bounded: bool) -> None:
    """Raises unless codes are finite and, for the cross-entropy, within [0, 1]."""
    if bounded:
        what = "the inputs of a hidden layer, by the cross-entropy,"
        check_range(what, codes, 0.0, 1.0, f" {UNBOUNDED_HINT}")
    else:
        check_range("the inputs of a hidden layer", codes, -LARGEST_NUMBER, LARGEST_NUMBER)
