"""A trained classifier, with what it took."""

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Trained:
    """A trained classifier and what its stages took together.

    Args:
        model: the classifier, a `keras.Model` or, of `csosr`, a `baselines.CSOSR`;
            `csdl_keras.decide` takes its decisions.
        seconds: of pre-training and training, stages shared with other
            algorithms counted in full.
        epochs: epochs of training, the stage after pre-training.
        unit: the cost that an output of 1 stands for, where the model outputs
            costs. Defaults to 1.
    """

    model: Any
    seconds: float
    epochs: int
    unit: float = 1.0
