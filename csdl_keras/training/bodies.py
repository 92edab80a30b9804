"""What a network has to tell so that an algorithm can train it."""

import math
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras import models
from csdl_keras.training.settings import Settings


class Body:
    """Base class of networks: built for inputs, and trained as `Settings` say."""

    def build(
        self, settings: Settings, x: np.ndarray, num_classes: int, output: str, seed: int | None
    ) -> keras.Model:
        """The untrained network for training inputs `x`."""
        raise NotImplementedError(f"{type(self).__name__} must implement `build`.")

    def batch_size(self, settings: Settings) -> int:
        """Examples a batch."""
        raise NotImplementedError(f"{type(self).__name__} must implement `batch_size`.")

    def epochs(self, settings: Settings, shape: Sequence[int]) -> int:
        """Most epochs of training on inputs of that shape, `(N, ...)`."""
        raise NotImplementedError(f"{type(self).__name__} must implement `epochs`.")

    def patience(self, settings: Settings, shape: Sequence[int]) -> int:
        """Epochs without improvement before training stops."""
        raise NotImplementedError(f"{type(self).__name__} must implement `patience`.")

    def monitor(self, x: np.ndarray) -> str | None:
        """What early stopping watches; `None` where the last epoch is kept."""
        return "val_average_cost"

    def stacks(self, x: np.ndarray) -> bool:
        """Whether several of it train faster as one network, see `fit_stacked`."""
        return False

    def optimizer(
        self, settings: Settings, steps: int, on_costs: bool
    ) -> keras.optimizers.Optimizer:
        """What trains it in at most `steps` updates, on costs or on labels alone."""
        raise NotImplementedError(f"{type(self).__name__} must implement `optimizer`.")

    def choices(self, settings: Settings, on_costs: bool) -> dict[str, Any]:
        """What else its training depends on, for the description of the stage."""
        raise NotImplementedError(f"{type(self).__name__} must implement `choices`.")

    def steps(self, settings: Settings, shape: Sequence[int]) -> int:
        """Most updates of training."""
        batches = -(-shape[0] // self.batch_size(settings))
        return self.epochs(settings, shape) * batches


class MLPBody(Body):
    """`models.mlp` with SGD and momentum."""

    def build(
        self, settings: Settings, x: np.ndarray, num_classes: int, output: str, seed: int | None
    ) -> keras.Model:
        return models.mlp(x.shape[1:], num_classes, settings.hidden_units, output=output, seed=seed)

    def batch_size(self, settings: Settings) -> int:
        return settings.batch_size

    def epochs(self, settings: Settings, shape: Sequence[int]) -> int:
        return settings.epochs * settings.stretch("mlp", shape[0])

    def patience(self, settings: Settings, shape: Sequence[int]) -> int:
        return settings.patience * settings.stretch("mlp", shape[0])

    def optimizer(
        self, settings: Settings, steps: int, on_costs: bool
    ) -> keras.optimizers.Optimizer:
        return keras.optimizers.SGD(settings.learning_rate, momentum=settings.momentum)

    def choices(self, settings: Settings, on_costs: bool) -> dict[str, Any]:
        return {
            "hidden_units": list(settings.hidden_units),
            "batch_size": settings.batch_size,
            "learning_rate": settings.learning_rate,
            "momentum": settings.momentum,
        }


class CaffeBody(Body):
    """`models.caffe_cifar10` with SGD whose rate falls by a half cosine."""

    def build(
        self, settings: Settings, x: np.ndarray, num_classes: int, output: str, seed: int | None
    ) -> keras.Model:
        return models.caffe_cifar10(
            x.shape[1:],
            num_classes,
            variant=settings.cnn_variant,
            output=output,
            mean=255.0 * x.mean(axis=0),
            seed=seed,
        )

    def batch_size(self, settings: Settings) -> int:
        return settings.cnn_batch_size

    def epochs(self, settings: Settings, shape: Sequence[int]) -> int:
        return settings.cnn_epochs * settings.stretch("cnn", shape[0])

    def patience(self, settings: Settings, shape: Sequence[int]) -> int:
        return settings.patience * settings.stretch("cnn", shape[0])

    def optimizer(
        self, settings: Settings, steps: int, on_costs: bool
    ) -> keras.optimizers.Optimizer:
        rate = keras.optimizers.schedules.CosineDecay(settings.cnn_learning_rate, steps)
        return keras.optimizers.SGD(rate, momentum=0.9)

    def choices(self, settings: Settings, on_costs: bool) -> dict[str, Any]:
        return {
            "variant": settings.cnn_variant,
            "batch_size": settings.cnn_batch_size,
            "learning_rate": settings.cnn_learning_rate,
        }


class AutomaticBody(Body):
    """`models.convnet` for images `(height, width, channels)`, `models.tabular` for the rest.

    Trained with AdamW, whose rate rises for a twentieth of the updates and
    falls to 0 by a half cosine. Of images, which are never twice the same, the
    last epoch is kept; of tables that of the lowest validation loss, since what
    is decided from probabilities should not depend on one cost matrix.
    """

    def build(
        self, settings: Settings, x: np.ndarray, num_classes: int, output: str, seed: int | None
    ) -> keras.Model:
        if x.ndim == 4:
            sides = x.shape[1:3]
            return models.convnet(
                x.shape[1:],
                num_classes,
                # Small images are cheap, so they can have the wider network that they need.
                filters=(32, 64, 128) if math.prod(sides) <= 256 else (16, 32, 64),
                # Two pixels of 28, and a whole pixel at the least.
                shift=min(0.5, max(0.07, 1 / max(sides))),
                output=output,
                seed=seed,
            )
        return models.tabular(x, num_classes, output=output, seed=seed)

    def batch_size(self, settings: Settings) -> int:
        return settings.auto_batch_size

    def epochs(self, settings: Settings, shape: Sequence[int]) -> int:
        batches = math.ceil(shape[0] / settings.auto_batch_size)
        colored = len(shape) == 4 and shape[-1] > 1
        epochs = settings.auto_color_epochs if colored else settings.auto_epochs
        return max(epochs, math.ceil(settings.auto_min_steps / batches))

    def patience(self, settings: Settings, shape: Sequence[int]) -> int:
        return self.epochs(settings, shape)

    def monitor(self, x: np.ndarray) -> str | None:
        return None if x.ndim == 4 else "val_loss"

    def stacks(self, x: np.ndarray) -> bool:
        return x.ndim != 4

    def optimizer(
        self, settings: Settings, steps: int, on_costs: bool
    ) -> keras.optimizers.Optimizer:
        warmup = max(1, steps // 20)
        rate = keras.optimizers.schedules.CosineDecay(
            0.0,
            max(1, steps - warmup),
            warmup_target=settings.auto_learning_rate,
            warmup_steps=warmup,
        )
        # One dear example among many cheap ones would undo what the others taught.
        clip = settings.auto_clipnorm if on_costs else None
        return keras.optimizers.AdamW(rate, weight_decay=0.01, global_clipnorm=clip)

    def choices(self, settings: Settings, on_costs: bool) -> dict[str, Any]:
        return {
            "batch_size": settings.auto_batch_size,
            "learning_rate": settings.auto_learning_rate,
            "clipnorm": settings.auto_clipnorm if on_costs else None,
        }


#: Networks by the name that an `Algorithm` has for them.
NETWORKS: dict[str, Body] = {"mlp": MLPBody(), "cnn": CaffeBody(), "auto": AutomaticBody()}
