"""Descriptions tell values apart, and the user's objects by their `version` alone."""

import dataclasses
import functools
import json
import types

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.fitting.cache import describe, is_kept


def versioned(thing, version=1):
    thing.version = version
    return thing


def named():
    return types.FunctionType((lambda x: x).__code__, globals(), "function")


class Plain:
    def __init__(self, size=1, part=None):
        self.name, self.part = f"size {size}", part

    def build(self, shape, num_classes):
        return shape


@dataclasses.dataclass(frozen=True)
class Record:
    size: int = 1
    version: int | None = None


class Loss(keras.losses.Loss):
    def __init__(self, factor=1.0):
        super().__init__()
        self.factor = factor  # not in a config


class Layer(keras.layers.Layer):
    pass


class Schedule(keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        return 0.1

    def get_config(self):
        return {}


class Initializer(keras.initializers.Initializer):
    def __call__(self, shape, dtype=None):
        return keras.ops.ones(shape)


def dense(**arguments):
    inputs = keras.Input((2,))
    return keras.Model(inputs, keras.layers.Dense(2, **arguments)(inputs))


def of_layer(layer):
    keras.utils.set_random_seed(0)
    return keras.Sequential([keras.Input((4, 2)), layer, keras.layers.Flatten()])


#: An object of the user's, with whatever holds it, by what it is.
OWN = {
    "lambda": lambda: (one := lambda x: x, one),
    "object": lambda: (one := Plain(), one),
    "function of a partial": lambda: (one := lambda x: x, functools.partial(one, 1)),
    "object of a method": lambda: (one := Plain(), functools.partial(one.build, 1)),
    "schedule": lambda: (one := Schedule(), keras.optimizers.SGD(one)),
    "function of a metric": lambda: (one := named(), keras.metrics.MeanMetricWrapper(one)),
    "activation of a model": lambda: (one := named(), dense(activation=one)),
    "initializer of a model": lambda: (one := Initializer(), dense(kernel_initializer=one)),
    "layer of a nested model": lambda: (one := Layer(), of_layer(of_layer(one).layers[0])),
    "in an object": lambda: (one := Plain(), versioned(Plain(1, one))),
    "in an objective": lambda: (one := lambda c, o: c, csdl.training.Objective("a", one)),
}


class TestOwnObjects:
    @pytest.mark.parametrize("kind", OWN)
    def test_count_by_their_version(self, kind):
        one, holder = OWN[kind]()
        assert not is_kept(describe(holder))
        found = [describe(versioned(one, version) and holder) for version in (1, 1, 2, "b")]
        assert all(map(is_kept, found)) and found[0] == found[1]
        assert len({json.dumps(it) for it in found}) == 3

    @pytest.mark.parametrize(
        "make",
        [
            lambda size: versioned(Plain(size)),
            lambda size: versioned(Loss(size)),
            lambda size: Record(size, version=1),
            lambda size: functools.partial(versioned(Plain(size)).build, 1),
        ],
    )
    def test_count_by_their_fields(self, make):
        found = [describe(make(size)) for size in (1, 2, 1)]
        assert found[0] == found[2] != found[1] and all(map(is_kept, found))

    def test_weights_count_even_without_a_version(self):
        """A search tells classifiers apart by them."""
        seeded = map(keras.initializers.GlorotUniform, (1, 2))
        one, other = (dense(activation=named(), kernel_initializer=it) for it in seeded)
        assert describe(one) == describe(one) != describe(other) and not is_kept(describe(one))

    @pytest.mark.parametrize(
        "value",
        [
            csdl.SOSRLoss([[0, 1], [2, 0]]),
            csdl.models.mlp((3,), 2, (4,), "tanh"),
            csdl.models.tabular(np.ones((5, 2)), 2),
            keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.1, 3)),
            keras.Sequential([keras.Input((3, 2)), keras.layers.LSTM(2)]),
            functools.partial(csdl.models.mlp, hidden_units=(3,)),
            csdl.ALGORITHMS["csdnn"],
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_what_versions_of_packages_tell_is_kept(self, value):
        assert is_kept(describe(value)) and describe(value) == describe(value)


def network(scale=1.0, activation="sigmoid", between="relu", **arguments):
    """A network with fixed weights, in a nested model, under names that Keras numbers."""
    keras.utils.set_random_seed(0)
    inner = keras.Sequential([keras.Input((3,)), keras.layers.Rescaling(scale)])
    below = keras.layers.Activation(between, **arguments)
    return keras.Sequential([keras.Input((3,)), inner, below, keras.layers.Dense(2, activation)])


class TestValues:
    @pytest.mark.parametrize(
        "values",
        [
            (1, 2, 1.5, float("nan"), "1", None, True, b"1", 1j),
            ([1, 2], [2, 1], {1, 2, 3}, {1: 2}, {2: 1}),
            (np.arange(3), np.arange(3.0), np.arange(4), np.float32(2), np.array(["a", {}])),
            [keras.ops.arange(size) for size in (2, 3)],
            [functools.partial(csdl.models.mlp, *it) for it in ((), (1,), (2,))],
            (keras.losses.Huber, keras.losses.Huber(2.0), keras.losses.Huber(3.0)),
            (np.exp, np.log, abs, len, np.float32),
            [csdl.Settings().replace({"mlp.epochs": epochs}) for epochs in (2, 3)],
            (network(), network(2.0), network(1.0, "tanh"), network(dtype="float16")),
            # Names of layers that have another meaning elsewhere.
            [network(1.0, *names, name=names[1]) for names in (("relu", "tanh"), ("tanh", "relu"))],
        ],
    )
    def test_that_differ(self, values):
        texts = [json.dumps(describe(value), sort_keys=True) for value in values]
        assert len(set(texts)) == len(texts)
        assert texts == [json.dumps(describe(value), sort_keys=True) for value in values]

    def test_names_of_layers_do_not_matter(self):
        assert describe(network()) == describe(network()) == describe(network(name="relu"))
        one, other = (keras.Sequential([keras.Input((6,)), keras.layers.ReLU()]) for _ in range(2))
        assert describe(one) == describe(other)
