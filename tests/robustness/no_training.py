"""Where a training would begin, and what documentation says of inputs."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import pytest

from tests.robustness.documented import array_of_numbers


class ReachedError(Exception):
    """Raised where a training would begin."""


def _begin(*_: Any, **__: Any) -> None:
    raise ReachedError


@contextlib.contextmanager
def no_training() -> Iterator[None]:
    """Within the `with`, whatever begins to train ends at once.

    Where it is known, before the network is built, which takes most of the time.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keras.Model, "fit", _begin)
        for stage in ("fit_network", "fit_stacked", "fit_machine", "pretrain_network"):
            patch.setattr(f"csdl_keras._stages.{stage}", _begin)
        patch.setattr("csdl_keras.pretraining.CAE", _begin)
        yield


def reaches_training(function: Callable[..., Any]) -> Callable[..., str]:
    """The function, which ends where a training begins, and else must refuse its arguments."""

    def call(*arguments: Any) -> str:
        try:
            function(*arguments)
        except ReachedError:
            return "trains"
        raise AssertionError("Arguments were neither refused nor trained on.")

    return call


def is_inputs(x: Any, size: int | None = None) -> bool:
    """Numbers that are finite in float32, a row for each example."""
    array = array_of_numbers(x)
    if array is None or array.ndim < 2 or array.size == 0 or size not in (None, len(array)):
        return False
    with np.errstate(over="ignore"):
        return bool(np.isfinite(array.astype("f4")).all())


def is_verbose(verbose: Any) -> bool:
    return isinstance(verbose, (str, int)) and verbose in ("auto", 0, 1, 2)
