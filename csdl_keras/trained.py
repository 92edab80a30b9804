"""A trained classifier, with what it took."""

import dataclasses

import keras


@dataclasses.dataclass(frozen=True)
class Trained:
    """A trained classifier and what its stages took together.

    Args:
        model: the classifier; `csdl_keras.decide` takes its decisions.
        seconds: of pre-training and training, stages shared with other
            algorithms counted in full.
        epochs: epochs of training, the stage after pre-training.
    """

    model: keras.Model
    seconds: float
    epochs: int
