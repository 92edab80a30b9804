"""The data and models that pre-training takes, and what it refuses before it begins."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.pretraining.hidden_layers import hidden_layers
from tests.pretraining.pretrain_test import (
    COSTS,
    LABELS,
    QUICK,
    Batches,
    C,
    X,
    make_net,
    weights_after,
)
from tests.support.weights import changed_layers, weights_by_layer

pytestmark = pytest.mark.usefixtures("run_module_eagerly")


def edited(values, index, value):
    copy = np.array(values)
    copy[index] = value
    return copy


def as_tf_data(*arrays, batch_size=20):
    tf = pytest.importorskip("tensorflow")
    arrays = tuple(np.asarray(array, "float32") for array in arrays)
    slices = arrays if len(arrays) > 1 else arrays[0]
    return tf.data.Dataset.from_tensor_slices(slices).batch(batch_size)


@pytest.mark.parametrize(
    "make,beta",
    [(lambda: as_tf_data(X), 0.0), (Batches, 0.25), (lambda: as_tf_data(X, COSTS), 0.25)],
    ids=["inputs", "PyDataset", "costs"],
)
def test_datasets(make, beta):
    net, adam = make_net((5,), seed=0), keras.optimizers.Adam(0.05)
    [history] = csdl.pretrain(net, make(), None, beta, 0.0, 4, 20, adam, verbose=0)
    losses = history.history["loss"]
    assert len(losses) == 4 and losses[-1] < losses[0]


@pytest.mark.parametrize(
    "x,match,arguments",
    [
        (as_tf_data(X).repeat(), "never ends", {}),
        ((batch for batch in (X, X)), "is a generator, which cannot be read several times", {}),
        (Batches(), "cannot be combined with a dataset", {"unlabelled": X}),
        (as_tf_data(X), "needs a dataset of pairs", {"beta": 0.25}),
        (as_tf_data(X, edited(COSTS, (59, 0), -1)), "at least 0; received -1", {"beta": 0.25}),
        (255 * X, r"to lie in \[0, 1\].*reconstruction='squared_error'", {}),
        (Batches(), "`cache` cannot be combined", {"cache": csdl.StageCache(), "seed": 0}),
        (X, "beta > 0 needs `costs`", {"beta": 0.25}),
        (X, "below 3", {"beta": 0.25, "cost_matrix": C, "costs": LABELS + 1}),
    ],
)
def test_errors_before_training(x, match, arguments):
    net = make_net()
    before = weights_by_layer(net)
    with pytest.raises(ValueError, match=match):
        csdl.pretrain(net, x, **{**QUICK, **arguments})
    assert not changed_layers(net, before)


def test_any_number_of_decisions():
    """Costs may price decisions beyond the classes that the network outputs."""
    priced = np.concatenate([COSTS, np.full((60, 1), 0.5)], axis=1)
    assert np.isfinite(weights_after(costs=priced, beta=1.0)[0]).all()


Dense = keras.layers.Dense


def network(*layers, shape=(6,)):
    """A functional model of these layers and a head."""
    inputs = hidden = keras.Input(shape)
    for layer in layers:
        hidden = layer(hidden)
    return keras.Model(inputs, Dense(3, name="head")(hidden))


def hidden(activation, *between):
    first, second = (Dense(units, activation, name=str(units)) for units in (5, 4))
    return [first, *between, second, keras.layers.BatchNormalization()]


def sequential():
    scale = keras.layers.Rescaling(0.5, offset=0.25)
    return keras.Sequential([keras.Input((6,)), scale, *hidden("sigmoid"), Dense(3)])


def convolutional():
    return csdl.models.caffe_cifar10((8, 8, 1), 3, variant="quick", mean=100.0)


IMAGES = np.random.default_rng(0).uniform(size=(20, 8, 8, 1)).astype("float32")
ANY = {"reconstruction": "squared_error"}
NAMES = ["5", "4"]


@pytest.mark.parametrize(
    "make,x,names,arguments",
    [
        (lambda: network(*hidden("sigmoid", keras.layers.Dropout(0.5))), X, NAMES, {}),
        (sequential, Batches(), NAMES, {}),
        (lambda: network(keras.layers.Rescaling(20.0), *hidden("relu")), Batches(), NAMES, ANY),
        (convolutional, IMAGES, ["ip1"], ANY),
        (
            lambda: network(Dense(5, "sigmoid", name="5"), keras.layers.Flatten(), shape=(7, 6)),
            np.full((4, 7, 6), 0.5),
            ["5"],
            {},
        ),
    ],
    ids=["functional", "sequential", "squared error", "convolutional", "sequences"],
)
def test_hidden_layers_change_and_no_others(make, x, names, arguments):
    model = make()
    assert [layer.name for layer in hidden_layers(model)] == names
    before = weights_by_layer(model)
    histories = csdl.pretrain(model, x, **QUICK, **arguments)
    assert changed_layers(model, before) == names and len(histories) == len(names)
    assert np.isfinite([history.history["loss"] for history in histories]).all()


@pytest.mark.parametrize(
    "make,x,match",
    [
        (
            lambda: make_net(activation="relu"),
            X,
            "'hidden_1' has the activation 'relu'.*squared_error",
        ),
        (lambda: network(*hidden("sigmoid", keras.layers.Rescaling(3.0))), X, "squared_error"),
        (network, X, "no hidden keras.layers.Dense"),
    ],
    ids=["relu", "codes", "none"],
)
def test_models_that_are_refused(make, x, match):
    model = make()
    before = weights_by_layer(model)
    with pytest.raises(ValueError, match=match):
        csdl.pretrain(model, x, **QUICK)
    assert not changed_layers(model, before)
