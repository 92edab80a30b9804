"""Small data, and searches that take seconds."""

import keras_tuner
import numpy as np

from csdl_keras import tuning

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(90, 6)).astype("float32")
Y = RNG.integers(3, size=90)
X[np.arange(90), Y] += 0.5
X /= X.max()
TRAIN, VALIDATION = slice(0, 60), slice(60, 90)
C = np.array([[0.0, 1.0, 5.0], [10.0, 0.0, 3.0], [2.0, 7.0, 0.0]])
COSTS = C[Y]
OBJECTIVE = keras_tuner.Objective("val_average_cost", "min")
#: Arguments of a search: two epochs of three batches.
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


def made(folder, hyper_model, tuner_class=tuning.RandomSearch, **arguments):
    """A tuner of one trial, which searches in `folder`."""
    common = {"objective": OBJECTIVE, "max_trials": 1, "seed": 1, "directory": folder}
    chosen = {**common, **arguments}
    first = chosen.pop("objective"), chosen.pop("max_trials")  # in the order of KerasTuner
    return tuner_class(hyper_model, *first, **chosen)


def search(tuner, x=X, y=Y, **arguments):
    """Searches on the arrays of this file."""
    data = (x[VALIDATION], y[VALIDATION])
    tuner.search(x[TRAIN], y[TRAIN], **{"validation_data": data, **FIT, **arguments})
    return tuner


def outcomes(tuner):
    """Each trial's status, values and score."""
    return {
        name: (trial.status, trial.hyperparameters.values, trial.score)
        for name, trial in tuner.oracle.trials.items()
    }


def statuses(tuner):
    return [trial.status for trial in tuner.oracle.trials.values()]


def cost(model, x=X, y=Y):
    """The average cost that a model reports for the validation data."""
    scores = model.evaluate(x[VALIDATION], y[VALIDATION], verbose=0, return_dict=True)
    return scores["average_cost"]
