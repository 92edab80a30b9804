"""Keeps pre-trained layers in a cache, each found by everything that it depends on."""

import json
import pathlib
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.array_file import fingerprint
from csdl_keras.fitting.environment import environment
from csdl_keras.fitting.stage_cache import StageCache
from csdl_keras.layers import CAE
from csdl_keras.pretraining.data import PretrainingData

# To be raised when the code of pre-training gives other results, so that no cache returns old ones.
LAYER_VERSION = 3

#: Parts of a layer's config that do not count: its name, and initializers, since the initial
#: weights are described themselves.
_NOT_DESCRIBED = ("name", "kernel_initializer", "bias_initializer")


class LayerCache:
    """Pre-trains a layer unless its cache has one that came from all the same.

    Networks that begin alike share the layers they have in common: what is above
    a layer does not matter to its pre-training. Functions and layers of your own are told
    by their names alone, not by their code.

    Args:
        cache: where pre-trained layers are kept.
        data: the data of pre-training.
        data_id: name of the data, needed for a dataset.
        choices: everything else that pre-training depends on, fit for JSON.

    Raises:
        ValueError: if the data are a dataset, which cannot be identified by its
            contents, and have no name.
    """

    def __init__(
        self,
        cache: StageCache,
        data: PretrainingData,
        data_id: str | None,
        choices: dict[str, Any],
    ):
        if not data.is_array and data_id is None:
            raise ValueError(
                "Expected a `data_id`, a name that tells this dataset from others, with a `cache`; "
                "received None. Arrays are identified by their contents."
            )
        self.cache = cache
        self.common = {
            "stage": "pretrained layer",
            "version": LAYER_VERSION,
            "environment": environment(),
            "data": data.fingerprint(),
            "data_id": data_id,
            "steps_per_epoch": data.steps_per_epoch,
            **choices,
        }

    def pretrain(
        self,
        cae: CAE,
        below: keras.Model | None,
        fit: Callable[[pathlib.Path | None], keras.callbacks.History],
    ) -> keras.callbacks.History:
        """Gives the layer of a CAE its pre-trained weights; `fit` is called only if it must be.

        It is given a folder in which it can keep what it needs to go on from, or `None`.
        """
        layer: Any = cae.encoder
        config = layer.get_config()
        description = {
            **self.common,
            "seed": cae.seed,
            "below": None if below is None else describe_model(below),
            "layer": _as_text({it: config[it] for it in config if it not in _NOT_DESCRIBED}),
            "initial": fingerprint(*layer.get_weights()),
        }

        def run() -> tuple[list[np.ndarray], dict[str, Any]]:
            history = fit(self.cache.unfinished(description))
            return layer.get_weights(), {"epoch": history.epoch, "history": history.history}

        found = self.cache.get(description, run)
        layer.set_weights(found.arrays)
        history = keras.callbacks.History()
        history.epoch, history.history = found.info["epoch"], found.info["history"]
        return history


def describe_model(model: keras.Model) -> list[str]:
    """Describes a model by its structure and a digest of weights, without names of layers."""
    config = _with_numbers(model.get_config(), {model.name: "model"})
    return [_as_text(config), fingerprint(*model.get_weights())]


def _with_numbers(value: Any, numbers: dict[str, str], key: str = "") -> Any:
    """A part of a config, the layers in it called by numbers where it names them.

    Elsewhere the same word may be something else, such as the activation of a layer `relu`.
    """
    if isinstance(value, dict):
        layers = value.get("layers")
        if isinstance(layers, (list, tuple)) and all(isinstance(one, dict) for one in layers):
            names = [one.get("config", {}).get("name") for one in layers]
            numbers = numbers | {name: f"layer {i}" for i, name in enumerate(names)}
        return {name: _with_numbers(one, numbers, name) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_numbers(one, numbers, key) for one in value]
    names_layers = key in ("name", "keras_history", "input_layers", "output_layers")
    return numbers.get(value, value) if names_layers and isinstance(value, str) else value


def describe_optimizer(optimizer: keras.optimizers.Optimizer) -> dict[str, Any]:
    """Describes an optimizer by its class and config, without its name."""
    kind = type(optimizer)
    return {**optimizer.get_config(), "name": f"{kind.__module__}.{kind.__qualname__}"}


def _as_text(config: dict[str, Any]) -> str:
    return json.dumps(config, sort_keys=True, default=str)
