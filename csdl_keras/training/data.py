"""Training and validation examples, checked."""

import dataclasses
import functools

import numpy as np

from csdl_keras._utils.array_file import fingerprint
from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import check_cost_vectors, check_labels


@dataclasses.dataclass(frozen=True)
class Examples:
    """Inputs and labels, and costs if each example has its own.

    Args:
        x: float32 inputs `(N, ...)`.
        y: int64 labels `(N,)`.
        costs: float64 cost vectors `(N, D)`, or `None`.
    """

    x: np.ndarray
    y: np.ndarray
    costs: np.ndarray | None = None

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The inputs, the labels, and the costs if there are any."""
        return (self.x, self.y) if self.costs is None else (self.x, self.y, self.costs)


def check_examples(
    name: str, x: ArrayLike, y: ArrayLike, costs: ArrayLike | None = None
) -> Examples:
    """Returns copies of the examples if they pass their checks.

    The contents of the data identify stages, so they must not change when the caller changes
    an array. `name` is what messages call the inputs.
    """
    labels = check_labels(y).copy()
    inputs = check_inputs(name, x, len(labels))
    vectors = None if costs is None else np.ascontiguousarray(check_cost_vectors(costs))
    if vectors is not None and len(vectors) != len(labels):
        raise ValueError(
            f"Expected a cost vector for each of {len(labels)} labels; received {len(vectors)}."
        )
    return Examples(inputs, labels, vectors)


def check_inputs(name: str, x: ArrayLike, size: int | None = None) -> np.ndarray:
    """Returns a float32 copy of inputs `(N, ...)` that pass their checks; N is `size` if given."""
    inputs = as_array(name, x, "(N, ...)")
    fits = inputs.ndim >= 2 and size in (None, len(inputs)) and 0 not in inputs.shape[1:]
    if inputs.dtype.kind not in "iuf" or not fits:
        number = "" if size is None else f" with N = {size} labels"
        raise ValueError(
            f"Expected `{name}` to be real inputs of shape (N, ...){number}; "
            f"received shape {inputs.shape}, dtype {inputs.dtype}."
        )
    with np.errstate(over="ignore"):  # values beyond float32 become infinite
        inputs = inputs.astype("float32", order="C")
    if not np.isfinite(inputs).all():
        raise ValueError(
            f"Expected `{name}` without NaN and infinity, also as float32; received some."
        )
    return inputs


@dataclasses.dataclass(frozen=True)
class TrainingData:
    """Training examples, validation examples or `None`, and more inputs of pre-training."""

    train: Examples
    validation: Examples | None = None
    unlabelled: np.ndarray | None = None

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


def check_training_data(
    x: ArrayLike,
    y: ArrayLike,
    costs: ArrayLike | None = None,
    validation_data: tuple[ArrayLike, ...] | None = None,
    unlabelled: ArrayLike | None = None,
) -> TrainingData:
    """Returns the data if it passes its checks."""
    train = check_examples("x", x, y, costs)
    shape = train.x.shape[1:]
    if unlabelled is not None:
        unlabelled = check_inputs("unlabelled", unlabelled)
        if unlabelled.shape[1:] != shape:
            raise ValueError(
                f"Expected unlabelled inputs of shape (N, {str(shape)[1:]}, like those with "
                f"labels; received {unlabelled.shape}."
            )
    if validation_data is None:
        return TrainingData(train, unlabelled=unlabelled)
    if not isinstance(validation_data, (tuple, list)) or len(validation_data) not in (2, 3):
        raise ValueError(
            "Expected `validation_data` to be (x_val, y_val) or (x_val, y_val, costs_val); "
            f"received {type(validation_data).__name__}."
        )
    validation = check_examples("validation_data", *validation_data)
    if validation.x.shape[1:] != shape:
        raise ValueError(
            f"Expected validation inputs of shape (N, {str(shape)[1:]}, as in "
            f"training; received {validation.x.shape}."
        )
    widths = [None if part.costs is None else part.costs.shape[1] for part in (train, validation)]
    if widths[0] != widths[1]:
        raise ValueError(
            "Expected validation data with costs like those of training; received cost "
            f"vectors of the lengths {widths[0]} and {widths[1]}."
        )
    return TrainingData(train, validation, unlabelled)


def check_images(data: TrainingData) -> None:
    """Raises unless inputs lie in [0, 1], as Caffe's network needs."""
    for part in data.parts:
        low, high = float(part.x.min()), float(part.x.max())
        if low < 0.0 or high > 1.0:
            raise ValueError(
                "Expected images for a convolutional network to lie in [0, 1]; received values "
                f"from {low:.6g} to {high:.6g}."
            )
