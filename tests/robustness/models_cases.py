"""Functions that make models or look at them: right arguments, and what documentation says."""

import functools

import keras
import numpy as np

import csdl_keras
from csdl_keras import models
from tests.robustness.costs_cases import matrix, vectors
from tests.robustness.documented import (
    array_of_numbers,
    is_flags,
    is_integer,
    is_matrix,
    is_number,
    is_vectors,
)
from tests.robustness.outcome import Case

OUTPUTS = ("cost", "probability")
SIZES = 2**31 - 1


@functools.cache
def classifier():
    return models.mlp((4,), 3, (5,), seed=0)


@functools.cache
def estimator():
    return models.mlp((4,), 3, (5,), output="cost", seed=0)


@functools.cache
def body():
    inputs = keras.Input((4,))
    return keras.Model(inputs, keras.layers.Dense(5, "tanh")(inputs))


def is_one_of(x, *choices):
    return isinstance(x, (str, type(None), bool)) and any(
        type(x) is type(one) and x == one for one in choices
    )


def is_seed(x, high=np.inf):
    return x is None or is_integer(x, 0, high)


def are_sizes(x, *numbers):
    """Of layers or of an input, as many as one of `numbers` says, or any number of them."""
    if not np.iterable(x) or isinstance(x, (str, bytes, dict, set)):
        return False
    return all(is_integer(size, 1, SIZES) for size in x) and (not numbers or len(x) in numbers)


def is_table(x):
    array = np.asarray(x) if is_flags(x) else array_of_numbers(x)
    right = array is not None and array.ndim >= 2 and array.size
    return bool(right and np.all(np.abs(array.astype("g")) <= 1e18))


def is_mean(x, channels=3):
    array = array_of_numbers(x)
    right = array is not None and array.shape in ((), (channels,), (8, 8, channels))
    return right and bool(np.all((array >= 0) & (array <= 255)))


def head(num_classes, output, seed, *others):
    return (
        is_integer(num_classes, 2, SIZES) and is_one_of(output, *OUTPUTS, *others) and is_seed(seed)
    )


CASES = {
    "bayes_classifier": Case(
        models.bayes_classifier,
        lambda rng, k: (classifier(), matrix(rng, 3, 4), False, False),
        lambda model, m, logits, means: (
            model is classifier()
            and logits is False
            and isinstance(means, bool)
            and (is_vectors(m) if means else is_matrix(m))
            and len(np.asarray(m)) == 3
        ),
    ),
    "decision_model": Case(
        models.decision_model,
        lambda rng, k: (classifier(), "probability"),
        lambda model, output: model is classifier() and is_one_of(output, None, *OUTPUTS),
    ),
    "ensemble": Case(
        models.ensemble,
        lambda rng, k: ([classifier(), estimator()], "cost"),
        lambda members, output: isinstance(members, list) and is_one_of(output, *OUTPUTS),
    ),
    "ensemble, a member": Case(
        lambda *members: models.ensemble(members),
        lambda rng, k: (classifier(), classifier()),
        lambda *members: all(one is classifier() for one in members),
    ),
    "expected_cost_model": Case(
        models.expected_cost_model,
        lambda rng, k: (body(), vectors(rng, 3, 4), 2, 0),
        lambda model, m, rank, seed: (
            model is body()
            and is_vectors(m)
            and len(np.asarray(m)) >= 2
            and (rank is None or is_integer(rank, 1, min(np.shape(m))))
            and is_seed(seed, 2**32 - 1)
        ),
    ),
    "auxiliary_costs": Case(
        models.auxiliary_costs,
        lambda rng, k: (classifier(), 3, ["hidden_1"], 0),
        lambda model, decisions, layers, seed: (
            model is classifier()
            and is_integer(decisions, 1, SIZES)
            and (layers is None or (isinstance(layers, list) and layers == ["hidden_1"]))
            and is_seed(seed)
        ),
    ),
    "cost_estimator": Case(
        models.cost_estimator,
        lambda rng, k: (estimator(), "log", 0.5),
        lambda model, link, scale: (
            model is estimator() and is_one_of(link, "log", "logit") and is_number(scale, 0, 1e38)
        ),
    ),
    "serving_model": Case(
        models.serving_model,
        lambda rng, k: (classifier(), "probability", False, True),
        lambda model, output, logits, matrix_input: (
            model is classifier()
            and is_one_of(output, None, "probability")
            and logits is False
            and isinstance(matrix_input, bool)
        ),
    ),
    "mlp": Case(
        lambda shape, k, units, output, seed: models.mlp(shape, k, units, output=output, seed=seed),
        lambda rng, k: ((4,), 3, (5,), "cost", 0),
        lambda shape, k, units, output, seed: (
            are_sizes(shape, 1, 2, 3) and are_sizes(units) and head(k, output, seed)
        ),
    ),
    "convnet": Case(
        lambda *given: models.convnet(*given[:-1], seed=given[-1]),
        lambda rng, k: ((8, 8, 3), 3, (4,), 0.1, 0.5, "features", 0),
        lambda shape, k, filters, shift, dropout, output, seed: (
            are_sizes(shape, 3)
            and are_sizes(filters)
            and is_number(shift, -1e-300, 0.5)
            and is_number(dropout, -1e-300, 0.95)
            and head(k, output, seed, "features")
        ),
    ),
    "tabular": Case(
        lambda *given: models.tabular(*given[:-1], seed=given[-1]),
        lambda rng, k: (vectors(rng, 6, 4), 3, (5,), 0.5, "features", 0),
        lambda x, k, units, dropout, output, seed: (
            is_table(x)
            and are_sizes(units)
            and is_number(dropout, -1e-300, 0.95)
            and head(k, output, seed, "features")
        ),
    ),
    "caffe_cifar10": Case(
        models.caffe_cifar10,
        lambda rng, k: ((8, 8, 3), 3, "full", "cost", vectors(rng, 3), 0.004, 0),
        lambda shape, k, variant, output, mean, decay, seed: (
            are_sizes(shape, 3)
            and is_one_of(variant, "quick", "full")
            and is_mean(mean)
            and is_number(decay, -1e-300, np.inf)
            and head(k, output, seed)
        ),
    ),
    "output_kind": Case(
        csdl_keras.output_kind,
        lambda rng, k: (classifier(), None),
        lambda model, output: model is classifier() and is_one_of(output, None, *OUTPUTS),
    ),
    "hidden_layers": Case(
        csdl_keras.hidden_layers,
        lambda rng, k: (classifier(),),
        lambda model: model is classifier(),
    ),
}
