"""Keeps pre-trained layers in a cache, by keys of everything that they depend on."""

import pathlib
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from csdl_keras.fitting.descriptions import describe, is_kept
from csdl_keras.fitting.environment import environment
from csdl_keras.fitting.stage_cache import StageCache
from csdl_keras.layers import CAE
from csdl_keras.pretraining.data import PretrainingData

# Raise it when the code of pre-training gives other results, so that no cache returns old ones.
LAYER_VERSION = 3


class LayerCache:
    """Pre-trains a layer unless the cache has the result of the same pre-training.

    Networks with equal lower layers share these, since the layers above a layer do not
    change its pre-training. What has objects of the user's without a version is pre-trained each
    time, see `describe`.

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
        description = {
            **self.common,
            "seed": cae.seed,
            "below": describe(below),
            "layer": describe(layer),
        }
        cache = self.cache if is_kept(description) else StageCache()

        def run() -> tuple[list[np.ndarray], dict[str, Any]]:
            history = fit(cache.unfinished(description))
            return layer.get_weights(), {"epoch": history.epoch, "history": history.history}

        found = cache.get(description, run)
        layer.set_weights(found.arrays)
        history = keras.callbacks.History()
        history.epoch, history.history = found.info["epoch"], found.info["history"]
        return history
