"""Training in 16 bits: heads, losses and costs stay in float32, and finite."""

import functools

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from tests.support.testing import dtype_policy, to_numpy
from tests.support.trainers import DATA, SETTINGS, VALIDATION, make_trainer, outputs

LARGEST = 1e6  # beyond float16, whose largest number is 65504
MATRIX = csdl.costs.randomized_proportional(DATA.y_train_val, seed=0)
MATRIX = MATRIX * (LARGEST / MATRIX.max())
COSTS = MATRIX[DATA.y_train]
# One of each body, objective and prediction.
HALF = ("csdnn", "min", "dnn_bayes", "dnn_weighted", "cnn_sosr", "cost_model")
CASES = [("mixed_float16", name) for name in HALF] + [("mixed_bfloat16", "csdnn")]


@functools.cache
def trainer_of(policy: str) -> csdl.Trainer:
    """One for each policy, so that algorithms share stages."""
    settings = SETTINGS.replace({"mlp.epochs": 1, "pretraining.epochs": 1})
    return make_trainer(validation_data=VALIDATION, settings=settings)


def computing_types(model: keras.Model) -> set[str]:
    """The types in which layers with kernels compute, without the layer that outputs."""
    layers = [layer for layer in model._flatten_layers() if hasattr(layer, "kernel")]
    return {layer.compute_dtype for layer in layers[:-1]}


def check(model: keras.Model) -> None:
    assert keras.backend.standardize_dtype(model(DATA.x_test).dtype) == "float32"
    assert np.isfinite(outputs(model)).all()
    assert all(np.isfinite(to_numpy(weight)).all() for weight in model.weights)
    assert csdl.decide(model, DATA.x_test).max() < 10


@pytest.mark.parametrize("policy,name", CASES)
def test_costs_of_a_million(policy, name, run_eagerly):
    with dtype_policy(policy):
        model = trainer_of(policy).train(name, MATRIX).model
        check(model)
        assert policy.removeprefix("mixed_") in computing_types(model)
        if name.endswith("bayes"):
            assert 1e3 < outputs(model).max() < LARGEST


def test_costs_of_examples(run_eagerly):
    with dtype_policy("mixed_float16"):
        check(make_trainer(costs=COSTS).train("csdnn").model)
