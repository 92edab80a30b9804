"""Caffe's convolutional network, the paper's."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras import models
from csdl_keras._bodies.body import Body
from csdl_keras.settings import Settings


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
