"""Whatever changes the pre-training of a layer changes its key in a cache."""

import inspect

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.pretraining.layer_cache import describe_model
from tests.pretraining_cache_test import LABELS, QUICK, C, X, make_net
from tests.pretraining_data_test import as_tf_data
from tests.weights import assert_same_weights


class FoundError(Exception):
    """Ends pre-training where a layer is looked up."""


class Noting(csdl.StageCache):
    """Notes the first key that it is asked for, and computes nothing."""

    def get(self, description, compute):
        raise FoundError(self.key(description))


def key(model=None, **arguments):
    """The key of the first layer."""
    arguments = {"x": X, "costs": LABELS, "cost_matrix": C, "beta": 0.25, **QUICK, **arguments}
    with pytest.raises(FoundError) as error:
        csdl.pretrain(model or make_net(), cache=Noting(), **arguments)
    return str(error.value)


def net(scale=1.0, **arguments):
    arguments = {"units": 5, "activation": "sigmoid", **arguments}
    seeded = {"kernel_initializer": keras.initializers.GlorotUniform(seed=3)}
    layers = [
        keras.Input((6,)),
        keras.layers.Rescaling(scale),
        keras.layers.Dense(**{**seeded, **arguments}),
        keras.layers.Dense(3, "softmax"),
    ]
    return keras.Sequential(layers)


class OwnAdam(keras.optimizers.Adam):
    pass


CHANGES = {
    "x": [{"x": X[::-1]}, {"x": X * 0.5}],
    "costs": [{"costs": (LABELS + 1) % 3}, {"costs": C[LABELS], "cost_matrix": None}],
    "beta": [{"beta": 0.5}, {"beta": 0.0}],
    "corruption": [{"corruption": 0.5}],
    "epochs": [{"epochs": 3}],
    "batch_size": [{"batch_size": 30}],
    "optimizer": [
        {"optimizer": "sgd"},
        {"optimizer": keras.optimizers.Adam(0.01)},
        {"optimizer": keras.optimizers.Adam(weight_decay=0.01)},
        {"optimizer": keras.optimizers.Adam(clipnorm=1.0)},
        {"optimizer": OwnAdam()},
    ],
    "reconstruction": [{"reconstruction": "squared_error"}],
    "tied": [{"tied": True}],
    "seed": [{"seed": 1}],
    "steps_per_epoch": [{"steps_per_epoch": 2}, {"steps_per_epoch": 5}],
    "cost_matrix": [{"cost_matrix": C.T}],
    "cost_scale": [{"cost_scale": 0.5}],
    "data_id": [{"data_id": "a name"}],
    "unlabelled": [{"unlabelled": X[:9]}, {"unlabelled": X[:9] * 0.5}],
}
#: Why the other arguments need no place in keys.
OTHERS = {
    "model": "see the test of layers",
    "steps_per_execution": "the same updates, see below",
    "callbacks": "only observe, see observers_test.py",
    "verbose": "prints",
    "cache": "where layers are kept",
}


def test_every_argument_is_tried_or_classified():
    assert set(inspect.signature(csdl.pretrain).parameters) == CHANGES.keys() | OTHERS.keys()


def test_no_two_share_a_layer(tried):
    changes = [{}, *(change for several in CHANGES.values() for change in several)]
    assert len({key(**change) for change in changes}) == len(changes)
    assert key() == key(verbose=0, steps_per_execution=2, x=X.astype("float32").copy())
    tried("arguments of pretrain", len(changes) - 1)


def test_layers(tried):
    models = [
        net(),
        net(scale=0.5),
        net(units=4),
        net(activation="hard_sigmoid"),
        net(use_bias=False),
        net(kernel_initializer=keras.initializers.GlorotUniform(seed=4)),
        net(kernel_regularizer=keras.regularizers.L2(0.1)),
        net(kernel_regularizer=keras.regularizers.L2(0.2)),
        net(bias_regularizer="l2"),
        net(activity_regularizer="l2"),
        net(kernel_constraint=keras.constraints.MaxNorm(0.1)),
        net(bias_constraint="non_neg"),
        net(dtype="mixed_bfloat16"),
    ]
    assert len({key(model) for model in models}) == len(models)
    assert key(net(name="one")) == key(net(name="other"))
    tried("layers of pretrain", len(models) - 1)


def test_layers_that_have_the_names_of_what_they_do():
    def named(activation, name):
        below = keras.layers.Activation(activation, name=name)
        layer = keras.layers.Dense(5, "sigmoid", kernel_initializer="ones")
        return keras.Sequential([keras.Input((6,)), below, layer, keras.layers.Dense(3)])

    found = [("relu", "relu"), ("tanh", "tanh"), ("relu", "tanh"), ("tanh", "relu")]
    relu, tanh, other_relu, other_tanh = (key(named(*names)) for names in found)
    assert relu == other_relu != tanh == other_tanh


def test_the_process_has_made_other_models_before():
    def nested():
        inner = keras.Sequential([keras.Input((6,)), keras.layers.Rescaling(0.5)])
        outer = [inner, keras.layers.Dense(5, "sigmoid", kernel_initializer="ones")]
        return keras.Sequential([keras.Input((6,)), *outer, keras.layers.Dense(3)])

    assert key(nested()) == key(nested())
    one, other = (keras.Sequential([keras.Input((6,)), keras.layers.ReLU()]) for _ in range(2))
    assert describe_model(one) == describe_model(other)


def test_datasets(tried):
    common = {"costs": None, "data_id": "a"}
    changes = [
        {"x": as_tf_data(X, LABELS)},
        {"x": as_tf_data(X, LABELS), "cost_matrix": C.T},
        {"x": as_tf_data(X, C[LABELS]), "cost_matrix": None},
        {"x": as_tf_data(X, LABELS), "steps_per_epoch": 1},
        {"x": as_tf_data(X, LABELS), "data_id": "b"},
    ]
    assert len({key(**{**common, **change}) for change in changes}) == len(changes)
    tried("datasets of pretrain", len(changes))


def test_steps_of_an_execution_change_nothing(run_eagerly):
    if keras.backend.backend() == "torch":
        pytest.skip("PyTorch takes one step at a time")
    found = []
    for steps in (1, 3):
        model = make_net()
        arguments = {**QUICK, "beta": 0.25, "costs": LABELS, "cost_matrix": C}
        csdl.pretrain(model, X, steps_per_execution=steps, cache=csdl.StageCache(), **arguments)
        found.append(model.get_weights())
    assert_same_weights(*found, rtol=1e-5, atol=1e-6)


def test_a_cache_in_memory_keeps_what_was_trained(run_eagerly):
    """Neither the model, which goes on to be trained, nor its history is part of it."""
    cache, arguments = csdl.StageCache(), {**QUICK, "beta": 0.25, "costs": C[LABELS]}
    model = make_net()
    histories = csdl.pretrain(model, X, cache=cache, **arguments)
    expected = [weights.copy() for weights in model.get_weights()]
    told = [dict(one.history) for one in histories]
    for weight in model.trainable_weights:
        weight.assign(np.zeros(weight.shape))
    for history in histories:
        history.history["loss"] = history.history["loss"] + [np.nan]
        history.epoch.append(7)
    again = make_net()
    histories = csdl.pretrain(again, X, cache=cache, **arguments)
    assert_same_weights(again.get_weights(), expected)
    assert [one.history for one in histories] == told
    assert [one.epoch for one in histories] == [[0, 1], [0, 1]]
