"""What trains: right arguments, and what its documentation says. Nothing is trained here."""

import numpy as np

import csdl_keras as csdl
from csdl_keras._utils.checks import LARGEST_SEED
from tests.changes import setting_names
from tests.robustness.costs_cases import floats, matrix, vectors
from tests.robustness.documented import (
    array_of_numbers,
    has_every_class,
    is_indices,
    is_integer,
    is_matrix,
    is_number,
    is_vectors,
)
from tests.robustness.no_training import is_inputs, is_verbose, reaches_training
from tests.robustness.outcome import Case

SETTINGS = csdl.Settings().replace({"mlp.hidden_units": (4,)}).limit_epochs(1)


def inputs(rng, size):
    """Sixteenths in [0, 1]."""
    return rng.integers(17, size=(size, 3)) / 16


def examples(rng, k):
    """At least one of each class."""
    y = rng.permutation(np.arange(2 * k) % k)
    return inputs(rng, len(y)), y


def priced(rng, k):
    return matrix(rng, k, k) + 1 - np.eye(k)


def optional_integer(x, low, high=np.inf):
    return x is None or is_integer(x, low, high)


def is_seed(seed):
    return optional_integer(seed, 0, LARGEST_SEED)


def is_pair(pair, x, num_classes):
    """Validation examples like those of training."""
    return (
        isinstance(pair, (tuple, list))
        and len(pair) == 2
        and is_indices(pair[1], num_classes)
        and is_inputs(pair[0], len(pair[1]))
        and np.shape(pair[0])[1:] == np.shape(x)[1:]
    )


def is_unlabelled(more, x):
    """More inputs, or none."""
    array = array_of_numbers(more)
    empty = array is not None and array.shape == (0, *np.shape(x)[1:])
    return more is None or empty or (is_inputs(more) and np.shape(more)[1:] == np.shape(x)[1:])


def train(x, y, costs, algorithm, validation, seed, verbose, ensemble, jobs, chosen):
    return csdl.train(algorithm, x, y, costs, validation, chosen, seed, verbose, ensemble, jobs)


def trains(x, y, costs, algorithm, validation, seed, verbose, ensemble, jobs, chosen):
    return (
        is_matrix(costs)
        and np.shape(costs)[0] == np.shape(costs)[1]  # others are for rows of probabilities
        and floats(costs).max() > 0
        and is_indices(y, len(costs))
        and is_inputs(x, len(y))
        and str(algorithm) == "dnn_sosr"
        and (validation is None or is_pair(validation, x, len(costs)))
        and is_seed(seed)
        and is_verbose(verbose)
        and optional_integer(ensemble, 1, 1000)
        and is_integer(jobs, 1)
        and (jobs == 1 or seed is not None)
        and (chosen is None or isinstance(chosen, csdl.Settings))
    )


def train_on_vectors(x, y, costs, unlabelled):
    csdl.train("sdae_sosr", x, y, settings=SETTINGS, seed=0, costs=costs, unlabelled=unlabelled)


def trains_on_vectors(x, y, costs, unlabelled):
    return (
        is_vectors(costs)
        and is_indices(y)
        and len(y) == len(np.asarray(costs))
        and has_every_class(y, int(np.max(y)) + 1)
        and np.max(y) + 1 >= max(2, np.shape(costs)[1])
        and floats(costs).max() > 0
        and is_inputs(x, len(y))
        and is_unlabelled(unlabelled, x)
    )


CASES = {
    "train": Case(
        reaches_training(train),
        lambda rng, k: (
            *examples(rng, k),
            priced(rng, k),
            "dnn_sosr",
            examples(rng, k),
            0,
            0,
            None,
            1,
            SETTINGS,
        ),
        trains,
    ),
    "train, costs": Case(
        reaches_training(train_on_vectors),
        lambda rng, k: (lambda x, y: (x, y, vectors(rng, len(y), k) + 1, inputs(rng, 2)))(
            *examples(rng, k)
        ),
        trains_on_vectors,
    ),
}


def settings_with(name, value):
    return setting_names(csdl.Settings().replace({name: value}))


def is_share(x):
    return is_number(x, -1, 1) and x >= 0


FLAGS = ("hard_hinge", "pretraining.tied_weights")
CHOICES = {
    "pretraining.optimizer": ("adam", "sgd"),
    "pretraining.sees": ("inputs", "errors", "costs"),
    "cnn.variant": ("quick", "full"),
}


def is_setting(name, value):
    """Whether `Settings` documents the value."""
    field = name.rpartition(".")[2]
    if field == "hidden_units":
        return isinstance(value, (tuple, list)) and all(is_integer(u, 1, 10**9) for u in value)
    if name in FLAGS:
        return isinstance(value, bool)
    if name in CHOICES:
        return isinstance(value, str) and str(value) in CHOICES[name]
    if field in ("corruption", "beta", "momentum"):
        return is_share(value)
    if field in ("clipnorm", "patience") and value is None:
        return True
    if field == "patience" or isinstance(setting_names(csdl.Settings())[name], int):
        return is_integer(value, 1, 10**9)
    return is_number(value, 0, 1e308)
