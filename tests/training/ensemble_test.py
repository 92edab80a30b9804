"""Ensembles whose members validate each other on folds."""

import dataclasses

import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import csdl_keras as csdl
from csdl_keras._utils.seeds import member_seed
from csdl_keras.layers import TemperatureScaling
from csdl_keras.sklearn import CostSensitiveClassifier
from csdl_keras.training.algorithms import Algorithm
from csdl_keras.training.data import assign_folds

pytestmark = pytest.mark.usefixtures("run_module_eagerly")

#: Fewer than there are folds, each of which validates at most one network.
MEMBERS, FOLDS_OF_ALL = 2, 5
RNG = np.random.default_rng(0)
Y = RNG.integers(3, size=90)
X = (np.eye(3)[Y] + RNG.normal(size=(90, 3))).astype("float32")
MATRIX = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [9.0, 1.0, 0.0]])
SETTINGS = csdl.Settings(members=MEMBERS).limit_epochs(3).replace({"auto.learning_rate": 0.01})
FOLDS = assign_folds(Y, FOLDS_OF_ALL, seed=0)


def network(input_shape, num_classes):
    inputs = keras.Input(input_shape)
    return keras.Model(inputs, keras.layers.Dense(8, "relu")(inputs))


def trained(x=X, algorithm="ensemble_bayes", costs=None, settings=SETTINGS, held=None, **others):
    trainer = csdl.Trainer(x, Y, held, settings=settings, seed=0, costs=costs, **others)
    return trainer.train(algorithm, MATRIX if costs is None else None).model


def members(model):
    return [layer for layer in model.layers if isinstance(layer, keras.Model)]


@given(
    labels=st.lists(st.integers(0, 4), min_size=1, max_size=60),
    number=st.integers(2, 7),
    seed=st.integers(0, 1000),
)
def test_folds_have_the_same_shares_of_classes(labels, number, seed):
    labels = np.array(labels)
    folds = assign_folds(labels, number, seed)
    np.testing.assert_array_equal(folds, assign_folds(labels, number, seed))
    for label in np.unique(labels):
        own = folds[labels == label]
        if len(own) == 1:
            assert own == [-1]
            continue
        counts = np.bincount(own, minlength=number)
        # Each network sees each class in training.
        assert counts.max() - counts.min() <= 1 and counts.max() < len(own)
    assert np.any(FOLDS != assign_folds(Y, FOLDS_OF_ALL, seed=1))


@pytest.mark.slow
def test_each_network_is_trained_without_its_fold_and_stops_by_it():
    one = Algorithm("one", "One", "auto", "none", "nll", "argmax", members=1)
    settings = dataclasses.replace(SETTINGS, members=None)
    found = members(trained(network=network))
    assert len(found) == MEMBERS
    for index, member in enumerate(found):
        learned, own = FOLDS != index, FOLDS == index
        given = {"validation_data": (X[own], Y[own]), "seed": member_seed(0, index)}
        given |= {"network": network, "settings": settings}
        alone = csdl.train(X[learned], Y[learned], MATRIX, one, **given)
        expected = alone.predict(X, verbose=0)
        np.testing.assert_allclose(member.predict(X, verbose=0), expected, rtol=1e-5)


def test_a_network_learns_nothing_from_its_fold():
    """Inputs that change places within a fold change the other networks only."""
    settings = SETTINGS.limit_epochs(1)  # the last epoch is the best then
    x, own = X.copy(), np.flatnonzero(FOLDS == 1)
    x[own] = X[np.roll(own, 7)]
    before, after = (members(trained(inputs, settings=settings)) for inputs in (X, x))
    for index, (one, other) in enumerate(zip(before, after, strict=True)):
        found = [model.predict(X, verbose=0) for model in (one, other)]
        assert (np.abs(found[0] - found[1]).max() < 1e-6) == (index == 1)


@pytest.mark.parametrize("own", [None, pytest.param(network, marks=pytest.mark.slow)])
def test_one_temperature_suits_all_folds(own):
    """The temperature minimises the loss of each example under the network that missed it."""
    model = trained(network=own)
    (scaling,) = [layer for layer in model.layers if isinstance(layer, TemperatureScaling)]
    outputs = np.stack([member.predict(X, verbose=0) for member in members(model)])
    missed = FOLDS < MEMBERS
    logs = np.log(outputs[FOLDS[missed], np.flatnonzero(missed)].astype("float64"))

    def loss(log_temperature):
        scores = logs / np.exp(log_temperature)
        chosen = scores[np.arange(len(scores)), Y[missed]]
        likelihoods = chosen - np.log(np.exp(scores).sum(axis=1))
        return -likelihoods.sum() + log_temperature**2 / 2

    best = minimize_scalar(loss, bounds=(-3, 3), method="bounded").x
    temperature = scaling.get_weights()[0]
    assert temperature == pytest.approx(np.exp(best), rel=1e-3)
    mean = outputs.mean(axis=0).astype("float64") ** (1 / temperature)
    expected = mean / mean.sum(axis=1, keepdims=True) @ MATRIX
    np.testing.assert_allclose(model.predict(X, verbose=0), expected, rtol=1e-4)


@pytest.mark.parametrize("labels", [Y[:9], np.arange(12)], ids=["few", "all differ"])
def test_too_few_examples_are_not_divided(labels):
    trainer = csdl.Trainer(X[: len(labels)], labels, settings=SETTINGS, seed=0)
    with pytest.warns(UserWarning, match="calibrates probabilities on `validation_data`"):
        trainer.train_all([("ensemble_bayes", csdl.costs.zero_one(12))])


@pytest.mark.slow
def test_the_estimator_holds_out_nothing_else():
    arguments = {"settings": SETTINGS, "random_state": 0}
    estimator = CostSensitiveClassifier("ensemble_bayes", MATRIX, **arguments).fit(X, Y)
    expected = trained().predict(X, verbose=0)
    np.testing.assert_allclose(estimator.predict_cost(X), expected, rtol=1e-5)
    estimator.set_params(validation_fraction=0.3).fit(X, Y)
    assert np.abs(estimator.predict_cost(X) - expected).max() > 1e-3
