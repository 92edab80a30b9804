"""Small data, and searches that take seconds."""

import keras
import numpy as np

import csdl_keras as csdl
from csdl_keras import tuning

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(90, 6)).astype("float32")
Y = RNG.integers(3, size=90)
X[np.arange(90), Y] += 0.5
X /= X.max()
TRAIN, VALIDATION = slice(0, 60), slice(60, 90)
C = np.array([[0.0, 1.0, 5.0], [10.0, 0.0, 3.0], [2.0, 7.0, 0.0]])
COSTS = C[Y]
#: Of a search: two epochs of three batches.
FIT = {"epochs": 2, "batch_size": 20, "verbose": 0}
SMALL = {
    "units": 5,
    "depth": (1, 2),
    "corruption": 0.25,
    "pretraining_epochs": 1,
    "optimizer": "sgd",
    "learning_rate": (0.1, 0.5),
}


def small(algorithm="csdnn", **arguments):
    """A HyperModel of small networks for the data of this file."""
    return tuning.CSDNNHyperModel(
        (6,), **{"cost_matrix": C, "algorithm": algorithm, **SMALL, **arguments}
    )


def search(tuner, targets=Y, **arguments):
    """Searches on the arrays of this file."""
    data = (X[VALIDATION], targets[VALIDATION])
    tuner.search(X[TRAIN], targets[TRAIN], validation_data=data, **{**FIT, **arguments})
    return tuner


def outcomes(tuner):
    """What a search came to: each trial's status, values and score."""
    return {
        name: (trial.status, trial.hyperparameters.values, trial.score)
        for name, trial in tuner.oracle.trials.items()
    }


def cost(model, targets=Y):
    """What the metric of a model says of the validation data."""
    scores = model.evaluate(X[VALIDATION], targets[VALIDATION], verbose=0, return_dict=True)
    return scores["average_cost"]


class Epochs(keras.callbacks.Callback):
    """Notes the model of each epoch that it sees; all copies share the list."""

    seen: list = []

    def on_epoch_end(self, epoch, logs=None):
        self.seen.append(self.model.name)

    def __deepcopy__(self, memo):
        return self


class CountingCache(csdl.StageCache):
    """Counts the stages that had to be computed."""

    computed = 0

    def get(self, description, compute):
        def counted():
            self.computed += 1
            return compute()

        return super().get(description, counted)
