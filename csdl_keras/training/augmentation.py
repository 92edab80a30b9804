"""Chooses image augmentations that preserve the accuracy on held-out examples."""

from collections.abc import Callable
from typing import Any, TypeAlias

import keras
import numpy as np

from csdl_keras._utils.keras_private import all_layers
from csdl_keras.layers.images import RandomAffine, transform

#: A strength, whether it is small, and the changes at the ends of its range.
_Change: TypeAlias = tuple[float, bool, tuple[dict[str, Any], ...]]
#: Changes to try by strength of `RandomAffine`; the first that preserves accuracy is chosen.
_CHANGES: dict[str, tuple[_Change, ...]] = {
    "rotation": (
        (180.0, False, ({"rotation": 90.0}, {"rotation": -90.0}, {"rotation": 180.0})),
        (10.0, True, ({"rotation": 10.0}, {"rotation": -10.0})),
    ),
    "zoom": ((0.1, True, ({"magnification": 1.1}, {"magnification": 1 / 1.1})),),
    "horizontal_flip": ((1.0, False, ({"left_right": True},)),),
    "vertical_flip": ((1.0, False, ({"upside_down": True},)),),
}


class ChooseAugmentation(keras.callbacks.Callback):
    """Sets the strengths of a `RandomAffine` layer in one epoch, by `chosen_strengths`.

    A network trained on shifted images also recognises images with other natural changes.
    """

    def __init__(self, x: np.ndarray, y: np.ndarray, epoch: int):
        super().__init__()
        # The sample is random, since the first examples may have few classes.
        drawn = np.sort(np.random.default_rng(0).permutation(len(x))[:1000])
        self.x, self.y, self.epoch = x[drawn], y[drawn], epoch

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        if epoch == self.epoch:
            layer = affine_layer(self.model)
            assert layer is not None
            chosen = chosen_strengths(self._probabilities, self.x, self.y)
            layer.strengths.assign([float(layer.shift), *chosen])

    def _probabilities(self, x: np.ndarray) -> np.ndarray:
        outputs = self.model.predict(x, batch_size=250, verbose=0)
        return np.asarray(outputs["probability"] if isinstance(outputs, dict) else outputs)


def chosen_strengths(
    predict: Callable[[np.ndarray], np.ndarray], x: np.ndarray, y: np.ndarray
) -> list[float]:
    """Returns strengths of rotation, zoom and both flips under which the loss hardly rises."""
    shares = np.bincount(y) / len(y)
    guessing = -np.log(shares[shares > 0]).mean()
    loss = _balanced_loss(predict(x), y)

    def survives(small: bool, ends: tuple[dict[str, Any], ...]) -> bool:
        # An untrained network would pass any test, and one with a high loss learns more from the
        # original images than from small changes.
        if loss >= guessing * (0.25 if small else 0.9):
            return False
        changed = [keras.ops.convert_to_numpy(transform(x, **end)) for end in ends]
        losses = [_balanced_loss(predict(images), y) for images in changed]
        return float(np.mean(losses)) - loss <= 0.1 * (guessing - loss)

    return [
        next((strength for strength, small, ends in changes if survives(small, ends)), 0.0)
        for changes in _CHANGES.values()
    ]


def affine_layer(model: keras.Model) -> RandomAffine | None:
    """Returns the first `RandomAffine` of a model, or `None`."""
    return next((layer for layer in all_layers(model) if isinstance(layer, RandomAffine)), None)


def _balanced_loss(probabilities: np.ndarray, y: np.ndarray) -> float:
    """Returns the negative log-likelihood, averaged within classes and then over them."""
    losses = -np.log(np.maximum(probabilities[np.arange(len(y)), y], keras.config.epsilon()))
    counts = np.bincount(y)
    return float((np.bincount(y, losses)[counts > 0] / counts[counts > 0]).mean())
