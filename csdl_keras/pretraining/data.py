"""Reads and checks the data of pre-training: arrays, or a dataset of batches."""

import itertools
from collections.abc import Iterable, Iterator
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
from csdl_keras._utils.checks import check_bool
from csdl_keras._utils.files import fingerprint
from csdl_keras._utils.structure import check_inputs
from csdl_keras._utils.tensors import one_hot_counts
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs._tensors import tensor_or_labels
from csdl_keras.costs.checks import check_cost_vectors, check_not_one_hot

_LARGEST = float(np.finfo("float32").max)

UNBOUNDED_HINT = (
    "Scale inputs to [0, 1] (keras.layers.Rescaling) and use logistic hidden units, or pass "
    "reconstruction='squared_error', which takes any finite values."
)


class PretrainingData:
    """Inputs and costs of pre-training, arrays or a dataset of batches, see `pretrain`.

    Costs are read only if `costs_needed`, labels if there is a `cost_matrix`.
    """

    def __init__(
        self,
        model: keras.Model,
        x: Any,
        costs: ArrayLike | None,
        costs_needed: bool,
        cost_matrix: np.ndarray | None,
        batch_size: int,
        steps_per_epoch: int | None,
        unlabelled: ArrayLike | None = None,
        binary_costs: bool = False,
    ):
        self.is_array = hasattr(x, "__array__") or isinstance(x, (list, tuple))
        self.costs_needed = costs_needed
        self.cost_matrix = cost_matrix
        self.batch_size = batch_size
        self.steps_per_epoch = steps_per_epoch
        self.binary_costs = check_bool("binary_costs", binary_costs)
        self._one_hot_counts = np.zeros(4)
        self.costs: np.ndarray | None = None
        self.cost_weights: np.ndarray | None = None
        if not self.is_array:
            if costs is not None or unlabelled is not None:
                raise ValueError(
                    "Expected `costs` and `unlabelled` only with arrays; received a dataset as "
                    "`x`, which gives pairs (x, costs) itself."
                )
            self._take_dataset(x)
            return
        if steps_per_epoch is not None:
            raise ValueError("Expected `steps_per_epoch` only with a dataset; received an array.")
        self.x = check_inputs(model, input_array("x", x))
        if costs_needed:
            self._take_costs(costs)
        if unlabelled is not None:
            self._take_unlabelled(number_array("unlabelled", unlabelled, "(U, ...)"))

    def _take_costs(self, costs: ArrayLike | None) -> None:
        form = "of shape (N, D)"
        if self.cost_matrix is not None:
            form = "to be integer labels of shape (N,), rows of `cost_matrix`"
        if costs is None:
            raise ValueError(f"Expected `costs` {form}, since beta > 0; received None.")
        self.costs = as_array("costs", costs, form)
        self._decisions(self.costs, None)
        self._check_not_one_hot()
        if self.cost_matrix is None:
            self.costs = self.costs.astype("float32")
        check_rows("costs", self.costs, len(self.x), "examples")

    def _take_unlabelled(self, unlabelled: np.ndarray) -> None:
        """Adds inputs whose costs, zeros, do not count."""
        check_example_shape("`unlabelled`", unlabelled, self.x.shape[1:], "like `x`")
        own, others = len(self.x), len(unlabelled)
        self.x = np.concatenate([self.x, unlabelled])
        if self.costs is not None and others:
            zeros = np.zeros((others, *self.costs.shape[1:]), self.costs.dtype)
            self.costs = np.concatenate([self.costs, zeros])
            # The mean over a batch is, in expectation, that over examples with costs.
            self.cost_weights = np.zeros(own + others, "float32")
            self.cost_weights[:own] = (own + others) / own

    def _take_dataset(self, x: Any) -> None:
        if not isinstance(x, keras.utils.PyDataset) and (
            not hasattr(x, "__iter__") or iter(x) is x
        ):
            raise ValueError(
                "Expected `x` to be an array or a dataset that can be read several times, such "
                f"as a tf.data.Dataset or a PyDataset; received {type(x).__name__}."
            )
        infinite = hasattr(x, "cardinality") and int(x.cardinality()) == -1
        if infinite and self.steps_per_epoch is None:
            raise ValueError("Expected `steps_per_epoch` with an infinite dataset; received None.")
        self.x = x

    def _decisions(self, costs: np.ndarray, expected: int | None) -> int:
        """Checks a batch of costs; returns the number of decisions that they price."""
        if self.cost_matrix is None:
            vectors = check_cost_vectors(costs, expected, binary_costs=True)  # Batches may be.
            self._one_hot_counts += one_hot_counts(vectors)
            return vectors.shape[1]
        tensor_or_labels(costs, len(self.cost_matrix))
        return self.cost_matrix.shape[1]

    def _check_not_one_hot(self) -> None:
        if not self.binary_costs:
            check_not_one_hot("`costs`", self._one_hot_counts)

    def fingerprint(self) -> str:
        """Returns a digest of the arrays, with costs only if they are read."""
        inputs = self.x if self.is_array else None
        parts = (inputs, self.costs, self.cost_matrix, self.cost_weights)
        return fingerprint(*(part for part in parts if part is not None))

    def _batches(self) -> Iterator[tuple[np.ndarray, Any]]:
        """Yields the batches of one epoch as NumPy arrays: inputs, and targets or None."""
        if self.is_array:
            for start in range(0, len(self.x), self.batch_size):
                part = slice(start, start + self.batch_size)
                yield self.x[part], None if self.costs is None else self.costs[part]
            return
        batches: Iterable = self.x
        if isinstance(self.x, keras.utils.PyDataset):
            batches = (self.x[index] for index in range(len(self.x)))
        for batch in itertools.islice(batches, self.steps_per_epoch):
            inputs, targets, _ = keras.utils.unpack_x_y_sample_weight(batch)
            numbers = None if targets is None else keras.ops.convert_to_numpy(targets)
            yield keras.ops.convert_to_numpy(inputs), numbers

    def check(self, below: keras.Model | None, bounded: bool) -> int | None:
        """Reads one epoch and checks inputs and costs; returns D, or None without costs."""
        decisions: int | None = None
        count = 0
        for inputs, targets in self._batches():
            codes = inputs if below is None else below.predict_on_batch(inputs)
            check_codes(codes, bounded)
            if self.costs_needed:
                if targets is None:
                    raise ValueError(
                        "Expected a dataset of pairs (x, costs), since beta > 0; received x alone."
                    )
                decisions = self._decisions(targets, decisions)
            count += 1
        if count == 0:
            raise ValueError("Expected a dataset of at least one batch; received an empty one.")
        self._check_not_one_hot()
        return decisions

    def fit_arguments(self, below: keras.Model | None, bounded: bool) -> dict[str, Any]:
        """Returns data for `LayerFit.pretrain`: the codes of arrays, or a dataset of inputs."""
        if not self.is_array:
            # A dataset comes in its own order; asking fit to shuffle it would only warn.
            arguments = {"inputs": self.x, "targets": None, "shuffle": False}
            return {**arguments, "steps_per_epoch": self.steps_per_epoch}
        codes = self.x
        if below is not None:
            codes = below.predict(self.x, batch_size=max(self.batch_size, 256), verbose=0)
        check_codes(codes, bounded)
        weights = {"sample_weight": self.cost_weights, "batch_size": self.batch_size}
        return {"inputs": codes, "targets": self.costs, **weights}


def check_codes(codes: np.ndarray, bounded: bool) -> None:
    """Raises unless codes are finite and, for the cross-entropy, within [0, 1]."""
    what, low, high = "the inputs of a hidden layer", float(np.min(codes)), float(np.max(codes))
    if not (-_LARGEST <= low and high <= _LARGEST):  # This is true of NaN as well.
        raise ValueError(
            f"Expected {what} to be finite, also as float32; received {low} to {high}."
        )
    if bounded:
        check_range(what, codes, 0, 1, ", as the cross-entropy demands", f" {UNBOUNDED_HINT}")
