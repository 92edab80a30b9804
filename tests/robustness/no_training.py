"""Where a training would begin, with which arrays, and what documentation says of inputs."""

import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import pytest

from csdl_keras.training.train import Training


class ReachedError(Exception):
    """Raised where a training would begin; `arrays` is what it would train on."""

    def __init__(self, given: Any):
        super().__init__("A training begins.")
        parts = [one.data.parts for one in given if isinstance(one, Training)]
        found = [array for one in sum(parts, []) for array in (one.x, one.y, one.costs)]
        self.arrays = tuple(one for one in [*found, *given] if isinstance(one, np.ndarray))


def _begin(*args: Any, **kwargs: Any) -> None:
    raise ReachedError([*args, *kwargs.values()])


class _AutoEncoder:
    """What a stage of pre-training looks at in a `CAE`, which takes long to build."""

    def __init__(self, encoder: Any, *_: Any, seed: int | None):
        self.encoder, self.seed = encoder, seed


class _LayerFit:
    """A stage of pre-training that ends where it begins."""

    def __init__(self, cae: Any, *_: Any):
        self.cae, self.pretrain = cae, _begin


@contextlib.contextmanager
def no_training() -> Iterator[None]:
    """Within the `with`, whatever begins to train ends at once.

    Where it can be, before a network is built, which takes most of the time.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keras.Model, "fit", _begin)
        for step in ("_fit", "_pretrain"):
            patch.setattr(importlib.import_module("csdl_keras.training.train"), step, _begin)
        patch.setattr("csdl_keras.pretraining.pretrain.CAE", _AutoEncoder)
        patch.setattr("csdl_keras.pretraining.pretrain.LayerFit", _LayerFit)
        yield


def reaches_training(function: Callable[..., Any]) -> Callable[..., tuple[np.ndarray, ...]]:
    """The function until a training begins, and then its arrays, which must be finite."""

    def call(**arguments: Any) -> tuple[np.ndarray, ...]:
        try:
            function(**arguments)
        except ReachedError as reached:
            assert reached.arrays and all(np.isfinite(one).all() for one in reached.arrays)
            return reached.arrays
        raise AssertionError("Arguments were neither refused nor trained on.")

    return call
