"""Spaces of hyperparameters: a fixed value, values to choose from, or a range."""

import dataclasses
import numbers
from typing import Any, TypeAlias

import keras_tuner
import numpy as np

from csdl_keras._utils.checks import check_choice, check_number

#: A value, a sequence of values, or a `Range`.
Space: TypeAlias = Any


@dataclasses.dataclass(frozen=True)
class Range:
    """Space of all numbers from `low` to `high`, both included.

    The numbers are whole if both ends (and the step) are integers.

    Args:
        low: the smallest number.
        high: the largest number, above `low`.
        step: difference between successive numbers, or with `"log"` their
            ratio; `None` (default) allows all numbers.
        sampling: `"linear"` (default), or `"log"`, which draws every order of
            magnitude equally often.

    Example:

    >>> Range(1e-3, 1e-1, sampling="log")
    Range(low=0.001, high=0.1, step=None, sampling='log')
    """

    low: float
    high: float
    step: float | None = None
    sampling: str = "linear"

    def __post_init__(self) -> None:
        check_choice("sampling", self.sampling, ("linear", "log"))
        check_number("high", self.high, low=self.low, exclude_low=True)


def declare(hp: keras_tuner.HyperParameters, name: str, space: Space) -> Any:
    """Returns the value of a hyperparameter, declaring its space first if it is new."""
    if isinstance(space, Range):
        ends = (space.low, space.high, 1 if space.step is None else space.step)
        kind = hp.Int if all(isinstance(end, numbers.Integral) for end in ends) else hp.Float
        return kind(name, space.low, space.high, step=space.step, sampling=space.sampling)
    values = np.ravel(space).tolist()  # of one type, as KerasTuner wants them
    return hp.Choice(name, values) if len(values) > 1 else hp.Fixed(name, *values)
