"""Stages of training that diverged, which are remembered as such and have no weights."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from csdl_keras.fitting.divergence import DivergedError
from csdl_keras.fitting.stage_cache import StageResult

Stage = Callable[..., tuple[list[np.ndarray], dict[str, Any]]]


def remember_divergence(run: Stage) -> Stage:
    """What runs a stage, and leaves its `DivergedError` as `info` where it raises one.

    A cache keeps that like any result, so that nothing diverges twice.
    """

    @functools.wraps(run)
    def remembering(*args: Any, **kwargs: Any) -> tuple[list[np.ndarray], dict[str, Any]]:
        try:
            return run(*args, **kwargs)
        except DivergedError as error:
            return [], {"epochs": error.epoch, "diverged": str(error)}

    return remembering


def check_converged(result: StageResult) -> StageResult:
    """Returns what a stage left; raises the `DivergedError` that it ended in."""
    if "diverged" in result.info:
        raise DivergedError(result.info["diverged"], result.info["epochs"])
    return result
