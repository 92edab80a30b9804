"""Whatever changes the pre-training of a layer changes its key in a cache."""

import inspect

import keras
import pytest

import csdl_keras as csdl
from csdl_keras.fitting.cache import describe
from tests.pretraining.data_test import as_tf_data
from tests.pretraining.layer_cache_test import ARGUMENTS, make_net, pretrained
from tests.pretraining.pretrain_test import LABELS, C, X
from tests.support.weights import assert_same_weights

pytestmark = pytest.mark.usefixtures("run_module_eagerly")


class FoundError(Exception):
    """Ends pre-training where a layer is looked up."""


class Noting(csdl.StageCache):
    """Raises the first key that it is asked for."""

    def get(self, description, compute):
        raise FoundError(self.key(description))


def key(model=None, **arguments):
    """The key of the first layer."""
    with pytest.raises(FoundError) as error:
        csdl.pretrain(model or make_net(), cache=Noting(), **{**ARGUMENTS, **arguments})
    return str(error.value)


def net(scale=1.0, **arguments):
    seeded = {"kernel_initializer": keras.initializers.GlorotUniform(seed=3)}
    hidden = {"units": 5, "activation": "sigmoid", **seeded, **arguments}
    layers = [keras.Input((6,)), keras.layers.Rescaling(scale), keras.layers.Dense(**hidden)]
    return keras.Sequential([*layers, keras.layers.Dense(3, "softmax")])


class OwnAdam(keras.optimizers.Adam):
    version = 1


DATASET = {"costs": None, "data_id": "a"}
CHANGES = {
    "x": [
        {"x": X[::-1]},
        {"x": X * 0.5},
        {"x": as_tf_data(X, LABELS), **DATASET},
        {"x": as_tf_data(X, LABELS), **DATASET, "cost_matrix": C.T},
        {"x": as_tf_data(X, C[LABELS]), **DATASET, "cost_matrix": None},
    ],
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
    "steps_per_epoch": [
        {"steps_per_epoch": 2},
        {"x": as_tf_data(X, LABELS), **DATASET, "steps_per_epoch": 1},
    ],
    "cost_matrix": [{"cost_matrix": C.T}],
    "cost_scale": [{"cost_scale": 0.5}],
    "data_id": [{"data_id": "a name"}, {"x": as_tf_data(X, LABELS), **DATASET, "data_id": "b"}],
    "unlabelled": [{"unlabelled": X[:9]}, {"unlabelled": X[:9] * 0.5}],
}
#: Why the other arguments need no place in keys.
OTHERS = {
    "model": "see the test of layers",
    "steps_per_execution": "the same updates, see below",
    "callbacks": "only observe, see observers_test.py",
    "verbose": "prints",
    "cache": "where layers are kept",
    "binary_costs": "what is refused",
}


class TestKeys:
    def test_no_two_arguments_share_a_layer(self, tried):
        assert {*inspect.signature(csdl.pretrain).parameters} == CHANGES.keys() | OTHERS.keys()
        changes = [{}, *(change for several in CHANGES.values() for change in several)]
        assert len({key(**change) for change in changes}) == len(changes)
        assert key() == key(verbose=0, steps_per_execution=2, x=X.astype("float32").copy())
        assert key(beta=0) == key(beta=0, cost_matrix=C.T, costs=None)
        tried("arguments of pretrain", len(changes) - 1)

    def test_no_two_layers_share_a_key(self, tried):
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

    def test_layers_that_have_the_names_of_what_they_do(self):
        def named(activation, name):
            below = keras.layers.Activation(activation, name=name)
            layer = keras.layers.Dense(5, "sigmoid", kernel_initializer="ones")
            return keras.Sequential([keras.Input((6,)), below, layer, keras.layers.Dense(3)])

        found = [("relu", "relu"), ("tanh", "tanh"), ("relu", "tanh"), ("tanh", "relu")]
        relu, tanh, other_relu, other_tanh = (key(named(*names)) for names in found)
        assert relu == other_relu != tanh == other_tanh

    def test_names_that_the_process_has_given_to_other_models(self):
        def nested():
            inner = keras.Sequential([keras.Input((6,)), keras.layers.Rescaling(0.5)])
            outer = [inner, keras.layers.Dense(5, "sigmoid", kernel_initializer="ones")]
            return keras.Sequential([keras.Input((6,)), *outer, keras.layers.Dense(3)])

        assert key(nested()) == key(nested())
        one, other = (keras.Sequential([keras.Input((6,)), keras.layers.ReLU()]) for _ in range(2))
        assert describe(one) == describe(other)

    @pytest.mark.skipif(keras.backend.backend() == "torch", reason="takes one step at a time")
    def test_steps_of_an_execution_change_nothing(self):
        found = [pretrained(steps_per_execution=s, cache=csdl.StageCache())[0] for s in (1, 3)]
        assert_same_weights(*found, rtol=1e-5, atol=1e-6)
