"""Ensembles without validation data, whose networks are each validated on a fold."""

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

MEMBERS = 5
RNG = np.random.default_rng(0)
Y = RNG.integers(3, size=90)
X = (np.eye(3)[Y] + RNG.normal(size=(90, 3))).astype("float32")
MATRIX = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [9.0, 1.0, 0.0]])
SETTINGS = csdl.Settings().limit_epochs(3).replace({"auto.learning_rate": 0.01})
FOLDS = assign_folds(Y, MEMBERS, seed=0)


def network(input_shape, num_classes):
    inputs = keras.Input(input_shape)
    return keras.Model(inputs, keras.layers.Dense(8, "relu")(inputs))


def trained(x=X, algorithm="ensemble_bayes", costs=None, settings=SETTINGS, **others):
    settings = dataclasses.replace(settings, members=MEMBERS)
    trainer = csdl.Trainer(x, Y, settings=settings, seed=0, costs=costs, **others)
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


def test_the_split_follows_the_seed():
    assert np.any(FOLDS != assign_folds(Y, MEMBERS, seed=1))
    np.testing.assert_array_equal(FOLDS, assign_folds(Y, MEMBERS, seed=None))


@pytest.mark.slow
def test_each_network_is_trained_without_its_fold_and_stops_by_it():
    one = Algorithm("one", "One", "auto", "none", "nll", "argmax")
    found = members(trained(network=network))
    assert len(found) == MEMBERS
    for index, member in enumerate(found):
        learned, own = FOLDS != index, FOLDS == index
        alone = csdl.train(
            X[learned],
            Y[learned],
            MATRIX,
            one,
            validation_data=(X[own], Y[own]),
            network=network,
            settings=SETTINGS,
            seed=member_seed(0, index),
        )
        np.testing.assert_allclose(
            member.predict(X, verbose=0), alone.predict(X, verbose=0), rtol=1e-5
        )


def test_a_network_of_a_stack_learns_nothing_from_its_fold():
    """Inputs that change places within a fold change the other networks only."""
    settings = SETTINGS.limit_epochs(1)  # the last epoch is the best then
    x, own = X.copy(), np.flatnonzero(FOLDS == 1)
    x[own] = X[np.roll(own, 7)]
    before, after = (members(trained(inputs, settings=settings)) for inputs in (X, x))
    for index, (one, other) in enumerate(zip(before, after, strict=True)):
        found = [model.predict(X, verbose=0) for model in (one, other)]
        assert (np.abs(found[0] - found[1]).max() < 1e-6) == (index == 1)


def test_networks_of_a_stack_keep_the_epoch_that_is_best_on_their_fold():
    losses = []

    class Losses(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            if epoch == 2:  # the last one, and surely not the best
                for weight in self.model.trainable_weights:
                    weight.assign(-2.0 * weight.value)
            found = self.model.predict(X, verbose=0)
            losses.append([nll(found[:, index], index) for index in range(MEMBERS)])

    def nll(probabilities, fold):
        own = FOLDS == fold
        return -np.mean(np.log(np.maximum(probabilities[own, Y[own]], 1e-7)))

    found = members(trained(callbacks=[Losses()]))
    kept = [nll(member.predict(X, verbose=0), index) for index, member in enumerate(found)]
    np.testing.assert_allclose(kept, np.min(losses, axis=0), rtol=1e-4)


@pytest.mark.parametrize("own", [None, network])
def test_one_temperature_suits_all_folds(own):
    """The temperature minimises the loss of each example under the network that missed it."""
    model = trained(network=own)
    (scaling,) = [layer for layer in model.layers if isinstance(layer, TemperatureScaling)]
    outputs = np.stack([member.predict(X, verbose=0) for member in members(model)])
    logs = np.log(outputs[FOLDS, np.arange(len(Y))].astype("float64"))

    def loss(log_temperature):
        scores = logs / np.exp(log_temperature)
        likelihoods = scores[np.arange(len(Y)), Y] - np.log(np.exp(scores).sum(axis=1))
        return -likelihoods.sum() + log_temperature**2 / 2

    best = minimize_scalar(loss, bounds=(-3, 3), method="bounded").x
    temperature = scaling.get_weights()[0]
    assert temperature == pytest.approx(np.exp(best), rel=1e-3)
    mean = outputs.mean(axis=0).astype("float64") ** (1 / temperature)
    expected = mean / mean.sum(axis=1, keepdims=True) @ MATRIX
    np.testing.assert_allclose(model.predict(X, verbose=0), expected, rtol=1e-4)


@pytest.mark.slow
def test_networks_of_costs_decide_better_than_a_constant():
    costs = RNG.uniform(0.5, 1.5, (90, 1)) * MATRIX[Y]
    decided = csdl.decide(trained(algorithm="cost_model", costs=costs), X)
    assert costs[np.arange(90), decided].mean() < costs.mean(axis=0).min()


@pytest.mark.parametrize("labels", [Y[:9], np.arange(12)], ids=["few", "all differ"])
def test_too_few_examples_are_not_divided(labels):
    matrix = csdl.costs.zero_one(12)
    with pytest.warns(UserWarning, match="calibrates probabilities on `validation_data`"):
        csdl.train(X[: len(labels)], labels, matrix, "ensemble_bayes", settings=SETTINGS, seed=0)


@pytest.mark.slow
def test_the_estimator_holds_out_nothing_else():
    arguments = {"settings": SETTINGS, "ensemble": MEMBERS, "random_state": 0}
    estimator = CostSensitiveClassifier("ensemble_bayes", MATRIX, **arguments).fit(X, Y)
    expected = trained().predict(X, verbose=0)
    np.testing.assert_allclose(estimator.predict_cost(X), expected, rtol=1e-5)
    estimator.set_params(validation_fraction=0.3).fit(X, Y)
    assert np.abs(estimator.predict_cost(X) - expected).max() > 1e-3
