"""Spaces of hyperparameters: a fixed value, values to choose from, or a range."""

import dataclasses
import numbers
from collections.abc import Callable
from typing import Any, TypeAlias

import keras_tuner

from csdl_keras._utils.checks import check_choice, check_number

#: A value, a sequence of values, or a `Range`.
Space: TypeAlias = Any

#: Returns a value if it is right, and raises an error that names the argument otherwise.
Check: TypeAlias = Callable[[str, Any], Any]


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


def check_space(name: str, space: Space, check: Check) -> Space:
    """Returns a space of Python values whose values, or ends, all pass `check(name, value)`."""
    if isinstance(space, Range):
        check(name, space.low)
        check(name, space.high)
        return space
    if isinstance(space, str) or not hasattr(space, "__iter__"):
        return check(name, space)
    values = [check(name, value) for value in space]
    if not values or len(set(values)) < len(values):
        raise ValueError(f"Expected `{name}` to contain values, each once; received {space!r}.")
    return values


def declare(hp: keras_tuner.HyperParameters, name: str, space: Space) -> Any:
    """Returns the value of a hyperparameter, declaring its space first if it is new."""
    if isinstance(space, Range):
        ends = (space.low, space.high, 1 if space.step is None else space.step)
        kind = hp.Int if all(isinstance(end, numbers.Integral) for end in ends) else hp.Float
        return kind(name, space.low, space.high, step=space.step, sampling=space.sampling)
    if isinstance(space, list) and len(space) > 1:
        return hp.Choice(name, space)
    return hp.Fixed(name, space[0] if isinstance(space, list) else space)


def check_positive(name: str, value: object) -> float:
    """Returns a number above 0."""
    return check_number(name, value, 0, exclude_low=True)


def check_share(name: str, value: object) -> float:
    """Returns a number in [0, 1]."""
    return check_number(name, value, 0, 1)
