"""The paper's fully-connected network."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras import models
from csdl_keras._bodies.body import Body
from csdl_keras.settings import Settings


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
