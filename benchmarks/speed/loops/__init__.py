"""Training by hand, in each framework without Keras."""

import importlib
from typing import Any

MODULES = {"tensorflow": "loops.by_tensorflow", "jax": "loops.by_jax", "torch": "loops.by_torch"}


def make_loop(backend: str, weights: list, learning_rate: float) -> Any:
    """The `Loop` of that framework, for a network of logistic layers and a linear one.

    It minimises the SOSR loss by SGD: `run(x, y, batch_size)` trains an epoch.

    Args:
        backend: name of the framework.
        weights: initial kernels and biases in turn.
        learning_rate: of SGD.
    """
    return importlib.import_module(MODULES[backend]).Loop(weights, learning_rate)
