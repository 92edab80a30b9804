"""Random numbers of layers that follow from a seed and the number of the epoch."""

from typing import Any

import keras
import numpy as np

from csdl_keras.shuffled_batches import ShuffledBatches

#: Sets the random numbers of layers apart from others of the same seed.
_PURPOSE = 2


class SeededEpochs(keras.callbacks.Callback):
    """Begins each epoch of `fit` at batches and masks that follow from its number alone.

    Layers that draw at random (`Dropout`, `MaskingNoise`, `RandomShift`, ...) do so from
    `keras.random.SeedGenerator`s, whose states count what has been drawn. Each epoch
    sets them to `(s, 0)`, `s` from `numpy.random.default_rng([seed, epoch, 2])`. On
    PyTorch the global seed is set too, from which a `Dropout` without one draws.

    Args:
        batches: what is fitted on.
    """

    def __init__(self, batches: ShuffledBatches):
        super().__init__()
        self.batches = batches

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self.batches.epoch = epoch
        states = generator_states(self.model)
        rng = np.random.default_rng([self.batches.seed, epoch, _PURPOSE])
        for state, seed in zip(states, rng.integers(2**31, size=len(states)), strict=True):
            state.assign([int(seed), 0])
        if keras.backend.backend() == "torch":
            keras.utils.set_random_seed(int(rng.integers(2**31)))


def generator_states(model: keras.Model) -> list[Any]:
    """The states of a model's generators of random numbers, in the order of its layers."""
    return [one for one in model.variables if one.name == "seed_generator_state"]
