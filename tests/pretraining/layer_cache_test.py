"""Pre-trained layers that are kept in a cache."""

import random

import numpy as np
import pytest

import csdl_keras as csdl
from tests.pretraining.data_test import as_tf_data
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
        net = make_net()
        histories = csdl.pretrain(net, cache=cache, callbacks=[counter], **ARGUMENTS)
        assert counter.fits == 2
        weights, told = net.get_weights(), [dict(one.history) for one in histories]
        for weight in net.trainable_weights:
            weight.assign(np.zeros(weight.shape))
        for history in histories:
            history.history["loss"] = [*history.history["loss"], np.nan]
            history.epoch.append(7)
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
            assert_same_weights(found, pretrained(units, cache=csdl.StageCache())[0])
            assert counter.fits == fits

    def test_an_interrupted_run_goes_on_behind_its_last_layer(self):
        class Interrupt(Counter):
            def on_epoch_end(self, epoch, logs=None):
                if self.fits == 2:
                    raise InterruptedError

        cache, counter = csdl.StageCache(), Counter()
        with pytest.raises(InterruptedError):
            pretrained(cache=cache, callbacks=[Interrupt()])
        found, _ = pretrained(cache=cache, callbacks=[counter])
        assert_same_weights(found, pretrained(cache=csdl.StageCache())[0])
        assert counter.fits == 1

    def test_a_dataset_needs_a_name(self):
        cache, counter = csdl.StageCache(), Counter()
        arguments = {"x": as_tf_data(X, LABELS), "costs": None, "cache": cache}
        with pytest.raises(ValueError, match="`data_id`.*received None"):
            pretrained(**arguments)
        first, _ = pretrained(**arguments, data_id="a", callbacks=[counter])
        again, _ = pretrained(**arguments, data_id="a", callbacks=[counter])
        assert counter.fits == 2
        assert_same_weights(again, first)

    def test_needs_a_seed(self):
        with pytest.raises(ValueError, match="`seed` with a `cache`.*received None"):
            pretrained(cache=csdl.StageCache(), seed=None)

    def test_only_a_seed_sets_the_global_one(self):
        """With a cache or without: so layers of a dataset draw the same numbers."""

        def drawn_after(begin, seed, cache=None):
            random.seed(begin)
            pretrained((5,), seed=seed, cache=cache, epochs=1)
            return random.random()

        drawn = [drawn_after(1, 0), drawn_after(2, 0), drawn_after(3, 0, csdl.StageCache())]
        assert len(set(drawn)) == 1
        assert drawn_after(1, None) != drawn_after(2, None)
