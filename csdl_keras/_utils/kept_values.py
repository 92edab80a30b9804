"""Keeps the values of a model's variables where Keras' trainer on JAX raises.

That trainer moves the values out of the model while it works, and does not bring them back when a
step raises: all later calls of the model would find variables without a value.
"""

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, TypeVar

import keras

Function = TypeVar("Function", bound=Callable[..., Any])


@contextlib.contextmanager
def kept_values(model: keras.Model) -> Iterator[None]:
    """Restores the values of a model's variables if its `predict` within raises."""
    if keras.backend.backend() != "jax":
        yield
        return
    before = [(variable, variable._value) for variable in model.variables]
    model._jax_state = None  # An earlier error may have left old values there.
    try:
        yield
    except BaseException:  # also where the user interrupts
        model.jax_state_sync()  # what the last step returned
        for variable, value in before:
            if variable._value is None:
                variable._value = value
        raise


def restoring_values(function: Function) -> Function:
    """Makes what Keras calls in `fit` and `evaluate` restore the model's values if it raises."""
    if keras.backend.backend() != "jax":
        return function

    @functools.wraps(function)
    def restoring(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception:
            _restore(sys._getframe(1))
            raise

    return restoring  # type: ignore[return-value]


def _restore(frame: FrameType | None) -> None:
    """Gives the model that is fitted or evaluated the values which it had before the step."""
    while frame is not None:
        values = frame.f_locals
        model = values.get("self")
        if frame.f_code.co_name in ("fit", "evaluate") and isinstance(model, keras.Model):
            if "state" in values:  # The step is traced, and has not consumed them yet.
                owners = [model.trainable_variables, model.non_trainable_variables]
                if len(values["state"]) == 4:
                    owners.append(model.optimizer.variables)
                for variables, held in zip(
                    [*owners, model.metrics_variables], values["state"], strict=True
                ):
                    for variable, value in zip(variables, held, strict=True):
                        variable._value = value
            return
        frame = frame.f_back
