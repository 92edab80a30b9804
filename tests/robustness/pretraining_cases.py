"""Pre-training: right arguments, and what its documentation says. Nothing is trained here."""

import keras
import numpy as np

import csdl_keras as csdl
from tests.robustness.costs_cases import floats, vectors
from tests.robustness.documented import (
    array_of_numbers,
    is_integer,
    is_matrix,
    is_number,
    is_vectors,
)
from tests.robustness.no_training import is_inputs, is_verbose, reaches_training
from tests.robustness.outcome import Case
from tests.robustness.training_cases import (
    examples,
    inputs,
    is_share,
    is_unlabelled,
    optional_integer,
    priced,
)

MODEL = csdl.models.mlp((3,), 3, (4,), seed=0)


def pretrain(x, costs, beta, corruption, epochs, batch_size, optimizer, tied, seed, steps):
    sizes = {"epochs": epochs, "batch_size": batch_size, "steps_per_epoch": steps}
    others = {"optimizer": optimizer, "tied": tied, "seed": seed, "verbose": 0}
    csdl.pretrain(MODEL, x, costs, beta, corruption, **sizes, **others)


def is_unit(x):
    """Inputs of the network in [0, 1]."""
    right = is_inputs(x) and np.shape(x)[1:] in ((3,), (3, 1))
    return right and 0 <= floats(x).min() and floats(x).max() <= 1


def pretrains(x, costs, beta, corruption, epochs, batch_size, optimizer, tied, seed, steps):
    return (
        is_unit(x)
        and is_share(beta)
        and (beta == 0 or (is_vectors(costs) and len(np.asarray(costs)) == len(np.asarray(x))))
        and is_share(corruption)
        and is_integer(epochs, 1)
        and is_integer(batch_size, 1, 2**63 - 1)
        and isinstance(optimizer, str)
        and str(optimizer) == "adam"
        and isinstance(tied, bool)
        and optional_integer(seed, 0)
        and optional_integer(steps, 1, 2**63 - 1)
    )


def is_targets(y, num_classes):
    """Labels as losses take them: also `(N, 1)`, also as whole numbers of a float type."""
    array = array_of_numbers(y)
    if array is None or array.size == 0 or array.ndim == 0 or array.shape[1:] not in ((), (1,)):
        return False
    return all(entry in range(num_classes) for entry in array.ravel().tolist())


def pretrain_on_labels(x, y, execution, callbacks, verbose, costs, scale, cache, name, more):
    fitting = {"steps_per_execution": execution, "callbacks": callbacks, "verbose": verbose}
    others = {"cost_matrix": costs, "cost_scale": scale, "unlabelled": more}
    csdl.pretrain(MODEL, x, y, 0.5, **fitting, **others, seed=0, cache=cache, data_id=name)


def pretrains_on_labels(x, y, execution, callbacks, verbose, costs, scale, cache, name, more):
    return (
        is_unit(x)
        and is_matrix(costs, True)
        and is_targets(y, len(costs))
        and len(np.asarray(y)) == len(np.asarray(x))
        and optional_integer(execution, 1)
        and isinstance(callbacks, (list, tuple))
        and all(isinstance(one, keras.callbacks.Callback) for one in callbacks)
        and is_verbose(verbose)
        and is_number(scale, 0, 1e308)
        and (cache is None or isinstance(cache, csdl.StageCache))
        and (name is None or isinstance(name, str))
        and is_unlabelled(more, np.zeros((1, 3)))
        and (more is None or np.size(more) == 0 or is_unit(more))
    )


CASES = {
    "pretrain": Case(
        reaches_training(pretrain),
        lambda rng, k: (
            inputs(rng, 5),
            vectors(rng, 5, k),
            0.25,
            0.5,
            2,
            3,
            "adam",
            False,
            0,
            None,
        ),
        pretrains,
    ),
    "pretrain, labels": Case(
        reaches_training(pretrain_on_labels),
        lambda rng, k: (
            *examples(rng, k),
            1,
            [],
            0,
            priced(rng, k),
            0.5,
            csdl.StageCache(),
            None,
            inputs(rng, 2),
        ),
        pretrains_on_labels,
    ),
}
