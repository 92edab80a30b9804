"""Costs of examples, and the mean of several networks."""

import dataclasses

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.training.algorithms import Algorithm
from tests.support.trainers import DATA, MATRICES, SETTINGS, VALIDATION, make_trainer, outputs
from tests.support.weights import assert_same_weights

pytestmark = pytest.mark.usefixtures("run_module_eagerly")

FACTORS = np.random.default_rng(0).uniform(0.5, 1.5, size=(len(DATA.y_train), 1))
COSTS = MATRICES[0][DATA.y_train] * FACTORS


def test_right_decisions_may_cost_something():
    model, plain = (
        make_trainer(costs=costs).train("dnn_bayes").model for costs in (COSTS + 0.5, COSTS)
    )
    np.testing.assert_allclose(outputs(model), outputs(plain), rtol=1e-4, atol=1e-4)
    machine = make_trainer(costs=COSTS + 0.5).train("csosr").model
    assert csdl.decide(machine, DATA.x_test).shape == DATA.y_test.shape


@pytest.mark.parametrize("name", ["csdnn", "seae_sosr", "cost_model"])
def test_costs_that_follow_from_a_matrix_give_what_the_matrix_gives(name):
    own = make_trainer(costs=MATRICES[0][DATA.y_train]).train(name).model
    other = make_trainer().train(name, MATRICES[0]).model
    np.testing.assert_allclose(outputs(own), outputs(other), rtol=1e-3, atol=1e-4)


def test_algorithms_that_divide_costs_by_other_units_share_no_pretraining():
    first, second = (
        make_trainer(costs=COSTS)._plan(
            Algorithm(training, training, "mlp", "cae", training, "argmin"), None
        )
        for training in ("sosr", "poisson")
    )
    assert first[0].descriptions[0] != second[0].descriptions[0]


@pytest.mark.parametrize(
    "arguments,request_,match",
    [
        ({}, ("csdnn",), "received neither"),
        ({"costs": COSTS}, ("csdnn", MATRICES[0]), "received both"),
        ({"costs": COSTS, "validation_data": VALIDATION}, (), "must have the same kind of costs"),
        ({"costs": COSTS.max() - COSTS}, ("dnn_weighted",), "cheapest on average"),
        ({"costs": COSTS[:, :9]}, ("min",), "can only decide for classes"),
    ],
)
def test_what_it_refuses(arguments, request_, match):
    with pytest.raises(ValueError, match=match):
        make_trainer(**arguments).train(*request_)


@pytest.mark.parametrize("training", ["poisson", "logistic"])
def test_networks_of_logarithms_and_logits_output_costs(training):
    algorithm = Algorithm(training, training, "mlp", "none", training, "argmin")
    model = make_trainer(costs=MATRICES[0][DATA.y_train]).train(algorithm).model
    assert csdl.output_kind(model) == "cost"
    found = outputs(model)
    assert found.min() > 0 and 0.01 < found.mean() < 1.0


def test_members_differ_and_their_mean_decides():
    trainer = make_trainer()
    together, single = (
        trainer.train("dnn_sosr", MATRICES[0], dataclasses.replace(SETTINGS, members=number))
        for number in (3, 1)
    )
    assert together.seconds > single.seconds
    members = [layer for layer in together.model.layers if isinstance(layer, keras.Model)]
    assert_same_weights(members[0], single.model)
    found = [outputs(member) for member in members]
    assert len(found) == 3 and np.abs(found[1] - found[2]).max() > 1e-3
    np.testing.assert_allclose(outputs(together.model), np.mean(found, axis=0), rtol=1e-4)
