"""Training by hand, in each framework without Keras."""

import importlib
from typing import Any

import numpy as np


class Loop:
    """Trains a network of logistic layers and a linear one by SOSR and SGD.

    Each framework has a subclass with `step(x, y)`, which trains on a batch and returns its
    loss, and `arrays()`, which returns the weights.
    """

    def run(self, x: np.ndarray, y: np.ndarray, batch_size: int) -> float:
        """Trains an epoch; returns the last loss."""
        loss: Any = None
        for start in range(0, len(x), batch_size):
            part = slice(start, start + batch_size)
            loss = self.step(x[part], y[part])
        return float(loss)

    def step(self, x: np.ndarray, y: np.ndarray) -> Any:
        """Trains on a batch; returns its loss."""
        raise NotImplementedError

    def arrays(self) -> list[np.ndarray]:
        """Returns the weights."""
        raise NotImplementedError


def make_loop(backend: str, weights: list[np.ndarray], learning_rate: float) -> Loop:
    """Returns the loop of a framework, from kernels and biases in turn."""
    return importlib.import_module(f"loops.by_{backend}").FrameworkLoop(weights, learning_rate)
