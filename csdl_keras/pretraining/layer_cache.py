"""Keeps pre-trained layers in a cache, by keys of everything that they depend on."""

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

# Raise it when the code of pre-training gives other results, so that no cache returns old ones.
LAYER_VERSION = 3

#: Parts of a layer's config that are left out: its name, and initializers, since descriptions
#: hold a digest of the initial weights.
_NOT_DESCRIBED = ("name", "kernel_initializer", "bias_initializer")


class LayerCache:
    """Pre-trains a layer unless the cache has the result of the same pre-training.

    Networks with equal lower layers share these, since the layers above a layer do not
    change its pre-training. Your own functions and layers are identified by their names
    alone, not by their code.

    Args:
        cache: where pre-trained layers are kept.
        data: the data of pre-training.
        data_id: name of the data, needed for a dataset.
        choices: the other arguments that pre-training depends on, fit for JSON.

    Raises:
        ValueError: if the data are a dataset without a name, since a dataset cannot be
            identified by its contents.
    """

    def __init__(
        self,
        cache: StageCache,
        data: PretrainingData,
        data_id: str | None,
        choices: dict,
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
        """Gives the layer of a CAE its pre-trained weights and returns their history.

        `fit` is called only if the cache lacks them. Its argument is a folder in which it can
        keep its progress, or `None`.
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
    """Describes a model by its structure and a digest of its weights, without layer names."""
    config = _with_numbers(model.get_config(), {model.name: "model"})
    return [_as_text(config), fingerprint(*model.get_weights())]


def _with_numbers(value: object, numbers: dict[str, str], key: str = "") -> object:
    """Replaces the names of layers in a config with numbers, only where layers are named.

    Elsewhere the same word may have another meaning, such as the activation `relu`.
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


def _as_text(config: object) -> str:
    return json.dumps(config, sort_keys=True, default=str)
