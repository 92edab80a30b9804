"""Validates numbers, choices, types and callbacks."""

import math
import numbers
from collections.abc import Iterable
from typing import Any

import keras

from csdl_keras._utils.arrays import shown
from csdl_keras_cli.choices import OUTPUTS as OUTPUTS
from csdl_keras_cli.did_you_mean import did_you_mean


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Returns `value` if it is one of `choices`."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise ValueError(
            f"Expected `{name}` to be one of {list(choices)}; received {shown(value)}."
            f"{did_you_mean(value, choices) if isinstance(value, str) else ''}"
        )
    return value


def check_type(name: str, value: Any, kind: Any, what: str) -> Any:
    """Returns `value` if it is an instance of `kind`, which messages call `what`."""
    if not isinstance(value, kind):
        raise ValueError(f"Expected `{name}` to be {what}; received {shown(value)}.")
    return value


def check_bool(name: str, value: Any) -> bool:
    """Returns `value` if it is `True` or `False`."""
    return check_type(name, value, bool, "a bool")


def check_number(
    name: str, value: Any, low: float = -math.inf, high: float = math.inf, exclude_low: bool = False
) -> float:
    """Returns `value` as a float if it is finite and in `[low, high]`, or in `(low, high]`."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    number = float(value) if real else math.nan
    if not (math.isfinite(number) and low <= number <= high) or (exclude_low and number == low):
        opening = "(" if exclude_low else "["
        raise ValueError(
            f"Expected `{name}` to be a finite number in {opening}{low}, {high}]; "
            f"received {value!r}."
        )
    return number


def check_integer(name: str, value: Any, low: int = 1, high: float = math.inf) -> int:
    """Returns `value` as an int if it is a whole number in `[low, high]`."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or not low <= value <= high:
        most = "" if high == math.inf else f" and at most {high}"
        raise ValueError(
            f"Expected `{name}` to be an integer of at least {low}{most}; received {value!r}."
        )
    return int(value)


def check_callbacks(callbacks: Any) -> list[keras.callbacks.Callback]:
    """Returns `callbacks` as a list if they are Keras callbacks."""
    kind = keras.callbacks.Callback
    return [check_type("callbacks", it, kind, "a list of Keras callbacks") for it in callbacks]
