"""Networks that estimate costs, and random examples, on which the entries measure training."""

import keras
import numpy as np

import csdl_keras as csdl


def examples(size: int, features: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Draws inputs and rows of the zero-one cost matrix, float32."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(size, features)).astype("float32")
    return x, csdl.costs.zero_one(classes)[rng.integers(classes, size=size)].astype("float32")


def network(
    features: int, classes: int, units: tuple[int, ...], rate: float, steps_per_execution: int = 1
) -> keras.Model:
    """Returns a network compiled with SOSR and SGD."""
    model = csdl.models.mlp((features,), classes, units, output="cost", seed=0)
    optimizer = keras.optimizers.SGD(rate)
    model.compile(optimizer, csdl.SOSRLoss(), steps_per_execution=steps_per_execution)
    return model
