"""What may be searched: a value, values to choose from, or a range."""

import numbers
from collections.abc import Callable
from typing import Any

import keras_tuner

from csdl_keras.tuning.range import Range

Space = Any  # a value, a sequence of values, or a Range


def check_space(name: str, space: Space, check: Callable[[str, Any], Any]) -> Space:
    """Returns a space of plain Python values if each, or each end, passes `check(name, value)`."""
    if isinstance(space, Range):
        check(name, space.low)
        check(name, space.high)
        return space
    if isinstance(space, str) or not hasattr(space, "__iter__"):
        return _plain(check(name, space))
    values = [_plain(check(name, value)) for value in space]
    if not values:
        raise ValueError(f"Expected `{name}` to hold a value to try; received {space!r}.")
    if len(set(values)) < len(values):
        raise ValueError(f"Expected `{name}` to hold each value once; received {space!r}.")
    return values


def declare(hp: keras_tuner.HyperParameters, name: str, space: Space) -> Any:
    """The value of a hyperparameter, declared on first sight."""
    if isinstance(space, Range):
        kind = hp.Int if space.is_whole else hp.Float
        return kind(name, space.low, space.high, step=space.step, sampling=space.sampling)
    if isinstance(space, list) and len(space) > 1:
        return hp.Choice(name, space)
    return hp.Fixed(name, space[0] if isinstance(space, list) else space)


def _plain(value: Any) -> Any:
    """A checked value as a type that KerasTuner stores."""
    if isinstance(value, (str, bool)):
        return value
    return int(value) if isinstance(value, numbers.Integral) else float(value)
