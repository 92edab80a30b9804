"""What a network has to tell so that an algorithm can train it."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras.settings import Settings


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
