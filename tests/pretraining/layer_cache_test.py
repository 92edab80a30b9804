"""Pre-trained layers that are kept in a cache, and what changes their keys."""

import inspect

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from tests.pretraining.pretrain_test import LABELS, C, X
from tests.support.trainers import Counter
from tests.support.weights import assert_same_weights

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
QUICK = {"epochs": 2, "batch_size": 20, "verbose": 0, "seed": 0}
ARGUMENTS = {"x": X, "costs": LABELS, "cost_matrix": C, "beta": 0.25, **QUICK}


def make_net(hidden_units=(5, 4)):
    return csdl.models.mlp((6,), 3, hidden_units, seed=0)


def pretrained(hidden_units=(5, 4), **arguments):
    net = make_net(hidden_units)
    histories = csdl.pretrain(net, **{**ARGUMENTS, **arguments})
    return net.get_weights(), histories


class TestCache:
    @pytest.mark.parametrize("kind", ["memory", "folder"])
    def test_a_second_time_nothing_is_trained(self, kind, tmp_path):
        """The cache keeps what was trained, whatever happens to the model and its history."""
        cache, counter = csdl.StageCache(tmp_path if kind == "folder" else None), Counter()
        weights, histories = pretrained(cache=cache, callbacks=[counter])
        assert counter.fits == 2
        told = [dict(one.history) for one in histories]
        for history in histories:
            history.history["loss"] = [*history.history["loss"], np.nan]
        if kind == "folder":
            cache = csdl.StageCache(tmp_path)
        again, histories = pretrained(cache=cache, callbacks=[counter])
        assert counter.fits == 2
        assert_same_weights(again, weights)
        assert [one.history for one in histories] == told
        assert [one.epoch for one in histories] == [[0, 1], [0, 1]]

    def test_lower_layers_are_shared_between_depths(self):
        cache, counter = csdl.StageCache(), Counter()
        pretrained((5, 4), cache=cache, callbacks=[counter])
        for units, fits in (((5,), 2), ((5, 4, 3), 3)):
            found, _ = pretrained(units, cache=cache, callbacks=[counter])
            assert counter.fits == fits
        assert_same_weights(found, pretrained(units)[0])

    def test_an_interrupted_run_goes_on_behind_its_last_layer(self):
        class Interrupt(Counter):
            def on_epoch_end(self, epoch, logs=None):
                if self.fits == 2:
                    raise InterruptedError

        cache, counter = csdl.StageCache(), Counter()
        with pytest.raises(InterruptedError):
            pretrained(cache=cache, callbacks=[Interrupt()])
        found, _ = pretrained(cache=cache, callbacks=[counter])
        assert_same_weights(found, pretrained()[0])
        assert counter.fits == 1


class FoundError(Exception):
    """Ends pre-training where a layer is looked up."""


class Noting(csdl.StageCache):
    """Raises the first key that it is asked for."""

    def get(self, description, compute):
        raise FoundError(self.key(description))


def key(activation="sigmoid", **arguments):
    """The key of the first layer."""
    net = csdl.models.mlp((6,), 3, (5,), activation, seed=0)
    with pytest.raises(FoundError) as error:
        csdl.pretrain(net, cache=Noting(), **{**ARGUMENTS, **arguments})
    return str(error.value)


class OwnAdam(keras.optimizers.Adam):
    version = 1


CHANGES = {
    "x": [{"x": X[::-1]}],
    "costs": [{"costs": (LABELS + 1) % 3}, {"costs": C[LABELS], "cost_matrix": None}],
    "beta": [{"beta": 0.5}, {"beta": 0.0}],
    "corruption": [{"corruption": 0.5}],
    "epochs": [{"epochs": 3}],
    "batch_size": [{"batch_size": 30}],
    "optimizer": [
        {"optimizer": "sgd"},
        {"optimizer": keras.optimizers.Adam(0.01)},
        {"optimizer": OwnAdam()},
    ],
    "reconstruction": [{"reconstruction": "squared_error"}],
    "tied": [{"tied": True}],
    "seed": [{"seed": 1}],
    "cost_matrix": [{"cost_matrix": C.T}],
    "cost_scale": [{"cost_scale": 0.5}],
    "unlabelled": [{"unlabelled": X[:9]}, {"unlabelled": X[:9] * 0.5}],
    "model": [{"activation": "hard_sigmoid"}],
}
#: They print, only observe, refuse or keep.
OTHERS = {"callbacks", "verbose", "cache", "binary_costs"}


def test_no_two_arguments_share_a_layer():
    assert {*inspect.signature(csdl.pretrain).parameters} == CHANGES.keys() | OTHERS
    changes = [{}, *(change for several in CHANGES.values() for change in several)]
    assert len({key(**change) for change in changes}) == len(changes)
    assert key() == key(verbose=0, x=X.astype("float32").copy())
    assert key(beta=0) == key(beta=0, cost_matrix=C.T, costs=None)
