"""Training and validation examples, checked."""

import dataclasses
import functools
from typing import Any

import numpy as np

from csdl_keras._utils.array_file import fingerprint
from csdl_keras._utils.arrays import (
    as_array,
    check_entries,
    check_example_shape,
    check_range,
    check_rows,
    input_array,
)
from csdl_keras._utils.frames import Columns, Table
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import AffineCosts, check_cost_vectors, check_labels
from csdl_keras.costs.known import CostsLike, KnownCosts, check_known_costs, mean_matrix

_FRAME_HINT = " If it was a data frame with strings or categories, pass the data frame itself."


@dataclasses.dataclass(frozen=True)
class Examples:
    """Inputs and labels, and costs if each example has its own.

    Args:
        x: float32 inputs `(N, ...)`.
        y: int64 labels `(N,)`.
        costs: float64 cost vectors `(N, D)`, or `None`.
        known: costs of the examples that are known when deciding, or `None`.
    """

    x: np.ndarray
    y: np.ndarray
    costs: np.ndarray | None = None
    known: KnownCosts | None = None


def check_examples(
    name: str,
    x: ArrayLike | Table,
    y: ArrayLike,
    costs: CostsLike | None = None,
    classes: np.ndarray | None = None,
) -> Examples:
    """Returns copies of the examples, but not of `known` costs, if they pass their checks.

    The contents of the data identify stages, so they must not change when the caller changes
    an array. `name` is what messages call the inputs; `classes` decide the order of named costs.
    """
    labels = check_labels(y).copy()
    inputs = float32_inputs(name, x, len(labels))
    if isinstance(costs, AffineCosts) or (
        costs is not None and as_array("costs", costs, "(N, D) or (N, K, D)").ndim == 3
    ):
        return Examples(inputs, labels, known=check_known_costs(costs, len(labels)))
    vectors = (
        None if costs is None else np.ascontiguousarray(check_cost_vectors(costs, classes=classes))
    )
    if vectors is not None:
        check_rows("costs", vectors, len(labels))
    return Examples(inputs, labels, vectors)


def float32_inputs(name: str, x: Any, size: int | None = None) -> np.ndarray:
    """Returns a float32 copy of inputs that pass their checks and are as many as the labels.

    In the `Table` of a data frame NaN is a missing value; the message says so of other rows.
    """
    framed = isinstance(x, Table)
    inputs = x.rows if framed else input_array(name, x, hint=_FRAME_HINT)
    if size is not None:
        check_rows(name, inputs, size)
    with np.errstate(over="ignore"):  # values beyond float32 become infinite
        inputs = inputs.astype("float32", order="C")
    right = np.isfinite(inputs) | (framed & np.isnan(inputs))
    hint = ""
    if inputs.ndim == 2 and not framed and np.isnan(inputs).any():
        hint = " The network for tables takes NaN as missing in a data frame: pandas.DataFrame(x)."
    check_entries(name, inputs, right, "finite, also as float32", hint)
    return inputs


@dataclasses.dataclass(frozen=True)
class TrainingData:
    """Training examples, validation examples or `None`, and more inputs of pre-training.

    `mean_costs` is the mean cost matrix of training examples whose costs are known when deciding,
    the only thing for which their costs are needed, or `None`. `columns` are those of the data
    frame that the inputs were, and `classes` the labels if they were no integers.
    """

    train: Examples
    validation: Examples | None = None
    unlabelled: np.ndarray | None = None
    mean_costs: np.ndarray | None = None
    columns: Columns | None = None
    classes: np.ndarray | None = None

    @property
    def parts(self) -> list[Examples]:
        """The training examples, and the validation examples if there are any."""
        return [part for part in (self.train, self.validation) if part is not None]

    @functools.cached_property
    def fingerprint(self) -> str:
        """A digest of inputs and labels."""
        arrays: list[np.ndarray] = []
        for part in self.parts:
            arrays += [part.x, part.y]
        return fingerprint(*arrays)

    @functools.cached_property
    def unlabelled_fingerprint(self) -> str | None:
        """A digest of the unlabelled inputs."""
        return None if self.unlabelled is None else fingerprint(self.unlabelled)

    @functools.cached_property
    def costs_fingerprint(self) -> str:
        """A digest of the examples' own costs."""
        return fingerprint(*(part.costs for part in self.parts if part.costs is not None))

    @functools.cached_property
    def known_fingerprint(self) -> str | None:
        """A digest of the known costs of validation examples, `None` without any."""
        known = None if self.validation is None else self.validation.known
        if isinstance(known, AffineCosts):
            return fingerprint(known.amount, known.per_unit, known.fixed)
        return None if known is None else fingerprint(known)


def check_training_data(
    x: ArrayLike | Table,
    y: ArrayLike,
    costs: CostsLike | None = None,
    validation_data: tuple[Any, ...] | None = None,
    unlabelled: ArrayLike | None = None,
    classes: np.ndarray | None = None,
) -> TrainingData:
    """Returns the data if it passes its checks."""
    train = check_examples("x", x, y, costs, classes)
    shape = train.x.shape[1:]
    if unlabelled is not None:
        unlabelled = float32_inputs("unlabelled", unlabelled)
        check_example_shape("unlabelled inputs", unlabelled, shape, "like those with labels")
    mean_costs = None if train.known is None else mean_matrix(train.known)
    kept = dataclasses.replace(train, known=None)
    if validation_data is None:
        return TrainingData(kept, None, unlabelled, mean_costs)
    if not isinstance(validation_data, (tuple, list)) or len(validation_data) not in (2, 3):
        raise ValueError(
            "Expected `validation_data` to be (x_val, y_val) or (x_val, y_val, costs_val); "
            f"received {type(validation_data).__name__}."
        )
    x_val, y_val, *costs_val = validation_data
    own = costs_val[0] if costs_val else None
    validation = check_examples("validation_data", x_val, y_val, own, classes)
    check_example_shape("validation inputs", validation.x, shape, "as in training")
    shapes = [_costs_of_one(part) for part in (train, validation)]
    if shapes[0] != shapes[1]:
        raise ValueError(
            "Expected validation data with costs like those of training; received costs of "
            f"the shapes {shapes[0]} and {shapes[1]}."
        )
    if isinstance(validation.known, np.ndarray):
        copied = np.array(validation.known, np.float64, order="C")
        validation = dataclasses.replace(validation, known=copied)
    return TrainingData(kept, validation, unlabelled, mean_costs)


def _costs_of_one(part: Examples) -> str:
    """Describes the shape of the costs of an example's own."""
    if part.known is not None:
        return "(N, {}, {})".format(*part.known.shape[1:])
    return "none" if part.costs is None else f"(N, {part.costs.shape[1]})"


def check_images(data: TrainingData) -> None:
    """Raises unless inputs lie in [0, 1], as Caffe's network needs."""
    for part in data.parts:
        check_range("images for a convolutional network", part.x, 0, 1)
