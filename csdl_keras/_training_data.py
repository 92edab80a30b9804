"""What a trainer trains and validates on."""

import dataclasses
import functools
from typing import Any

import numpy as np

from csdl_keras._examples import Examples, check_examples, check_inputs
from csdl_keras._utils.array_file import fingerprint


@dataclasses.dataclass(frozen=True)
class TrainingData:
    """Training examples, and validation examples that match them.

    Args:
        train: the training examples.
        validation: the validation examples, or `None`.
        unlabelled: inputs for pre-training alone, or `None`.
    """

    train: Examples
    validation: Examples | None = None
    unlabelled: np.ndarray | None = None

    @property
    def parts(self) -> list[Examples]:
        """What there is of the two."""
        return [part for part in (self.train, self.validation) if part is not None]

    @functools.cached_property
    def fingerprint(self) -> str:
        """What tells inputs and labels."""
        arrays: list[np.ndarray] = []
        for part in self.parts:
            arrays += [part.x, part.y]
        return fingerprint(*arrays)

    @functools.cached_property
    def unlabelled_fingerprint(self) -> str | None:
        """What tells the unlabelled inputs."""
        return None if self.unlabelled is None else fingerprint(self.unlabelled)

    @functools.cached_property
    def costs_fingerprint(self) -> str:
        """What tells the examples' own costs."""
        return fingerprint(*(part.costs for part in self.parts if part.costs is not None))


def check_training_data(
    x: Any,
    y: Any,
    costs: Any = None,
    validation_data: tuple[Any, ...] | None = None,
    unlabelled: Any = None,
) -> TrainingData:
    """The data, if it passes its checks."""
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
    """Raises unless inputs lie in [0, 1], as Caffe's network takes them."""
    for part in data.parts:
        low, high = float(part.x.min()), float(part.x.max())
        if low < 0.0 or high > 1.0:
            raise ValueError(
                "Expected images for a convolutional row to lie in [0, 1]; received values from "
                f"{low:.6g} to {high:.6g}."
            )
