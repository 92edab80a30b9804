"""What pre-training reads: arrays and datasets, and what it refuses before it begins."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from tests.pretraining.pretrain_test import COSTS, QUICK, Batches, X, make_net, weights_after
from tests.support.weights import assert_same_weights, changed_layers, weights_by_layer

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


def spoiled(index, value, array=X):
    """A dataset of 60 pairs with a fault, or without costs if the fault is in the inputs."""
    fault = edited(array, index, value)
    return as_tf_data(fault) if array is X else as_tf_data(X, fault)


@pytest.mark.parametrize(
    "make,beta,steps",
    [
        (lambda: as_tf_data(X), 0.0, None),
        (lambda: as_tf_data(X, COSTS), 0.25, None),
        (Batches, 0.25, None),
        (lambda: as_tf_data(X, COSTS).repeat(), 0.25, 3),
    ],
    ids=["inputs", "pairs", "PyDataset", "infinite"],
)
def test_datasets(make, beta, steps):
    net, adam = make_net((5,), seed=0), keras.optimizers.Adam(0.05)
    [history] = csdl.pretrain(
        net, make(), None, beta, 0.0, 4, 20, adam, verbose=0, steps_per_epoch=steps
    )
    losses = history.history["loss"]
    assert len(losses) == 4 and losses[-1] < losses[0]


@pytest.mark.parametrize(
    "x,match,arguments",
    [
        (as_tf_data(X).repeat(), "Expected `steps_per_epoch` with an infinite dataset", {}),
        ((batch for batch in (X, X)), "read several times.*received generator", {}),
        (Batches(), "Expected `costs` only with arrays", {"costs": COSTS, "beta": 0.25}),
        (as_tf_data(X), "Expected a dataset of pairs", {"beta": 0.25}),
        (as_tf_data(X).take(0), "at least one batch", {}),
        (spoiled((59, 0), -1, COSTS), "at least 0; received -1", {"beta": 0.25}),
        (spoiled((59, 0), 2), "to lie in", {}),
        (spoiled((59, 0), np.nan), "to be finite", {}),
        (255 * X, r"to lie in \[0, 1\].*reconstruction='squared_error'", {}),
        (edited(X, (59, 0), -0.5), r"to lie in \[0, 1\]", {}),
        (edited(X, (59, 5), np.nan), "to be finite", {}),
        (edited(X, (59, 5), -np.inf), "to be finite", {"reconstruction": "squared_error"}),
        (X[:, 0], "Expected `x` of shape", {}),
        (X[:0], "`x` of at least one example", {}),
        (X.astype(str), "Expected `x` to hold real numbers", {}),
        (X, "since beta > 0; received None", {"beta": 0.25}),
        (X, "`costs` with a row for each of 60 examples", {"beta": 0.25, "costs": COSTS[:59]}),
        (X, "Expected `costs` of shape", {"beta": 0.25, "costs": COSTS[:, 0]}),
        (X, "every entry of `costs` to be at least 0", {"beta": 0.25, "costs": COSTS - 0.5}),
        (X, "`costs` to be finite", {"beta": 0.25, "costs": edited(COSTS, (59, 2), np.nan)}),
    ],
)
def test_errors_before_training(x, match, arguments):
    net = make_net()
    before = weights_by_layer(net)
    with pytest.raises(ValueError, match=match):
        csdl.pretrain(net, x, **{**QUICK, **arguments})
    assert not changed_layers(net, before)


def test_lists_and_integers():
    binary = (X > 0.5).astype("int64")
    expected = weights_after(x=binary.astype("float32"))
    for x in (binary.tolist(), binary):
        assert_same_weights(weights_after(x=x), expected)


def test_any_number_of_decisions():
    """Costs may price decisions beyond the classes that the network outputs."""
    priced = np.concatenate([COSTS, np.full((60, 1), 0.5)], axis=1)
    assert np.isfinite(weights_after(costs=priced, beta=1.0)[0]).all()
