"""Pre-training with a cost matrix and labels, and pre-trained layers kept in a cache."""

import random

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from tests.pretraining.data_test import as_tf_data
from tests.support.weights import assert_same_weights

pytestmark = pytest.mark.usefixtures("run_eagerly")
RNG = np.random.default_rng(0)
X = RNG.uniform(size=(60, 6)).astype("float32")
LABELS = RNG.integers(3, size=60)
C = np.array([[0.0, 0.1, 0.5], [1.0, 0.0, 0.3], [0.2, 0.7, 0.0]])
QUICK = {"epochs": 2, "batch_size": 20, "verbose": 0, "seed": 0}


def make_net(hidden_units=(5, 4)):
    return csdl.models.mlp((6,), 3, hidden_units, seed=0)


def pretrained(hidden_units=(5, 4), **arguments):
    net = make_net(hidden_units)
    histories = csdl.pretrain(net, **{"x": X, "beta": 0.25, **QUICK, **arguments})
    return net.get_weights(), histories


def test_only_a_seed_sets_the_global_one(run_eagerly):
    """With a cache or without: so layers of a dataset draw the same numbers."""

    def drawn_after(begin, seed, cache=None):
        random.seed(begin)
        pretrained(x=as_tf_data(X, C[LABELS]), data_id="a", seed=seed, cache=cache)
        return random.random()

    drawn = [drawn_after(1, 0), drawn_after(2, 0), drawn_after(3, 0, csdl.StageCache())]
    assert len(set(drawn)) == 1
    assert drawn_after(1, None) != drawn_after(2, None)


class TestCostMatrix:
    def test_labels_equal_cost_vectors(self):
        keras.utils.set_random_seed(1)
        expected, _ = pretrained(costs=C[LABELS])
        for labels in (LABELS, LABELS.astype("uint8")):
            keras.utils.set_random_seed(1)
            assert_same_weights(pretrained(costs=labels, cost_matrix=C)[0], expected)

    def test_dataset_of_labels(self):
        expected, _ = pretrained(x=as_tf_data(X, C[LABELS]), batch_size=100)
        found, _ = pretrained(x=as_tf_data(X, LABELS), batch_size=100, cost_matrix=C)
        assert_same_weights(found, expected)

    def test_beta_0_reads_no_labels(self):
        keras.utils.set_random_seed(1)
        expected, _ = pretrained(beta=0)
        keras.utils.set_random_seed(1)
        assert_same_weights(pretrained(beta=0, costs=None, cost_matrix=C)[0], expected)

    @pytest.mark.parametrize(
        "arguments,message",
        [
            ({"costs": LABELS + 1}, "below 3.*received 3"),
            ({"costs": C[LABELS]}, "labels"),
            ({"costs": None}, "integer labels of shape"),
            ({"costs": LABELS[:-1]}, r"received shape \(59,\)"),
            ({"costs": LABELS, "cost_matrix": C - 1}, "cost_matrix"),
        ],
    )
    def test_refuses(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            pretrained(**{"cost_matrix": C, **arguments})


class Counter(keras.callbacks.Callback):
    """Counts the layers that are trained."""

    observes_only = True
    layers = 0

    def on_train_begin(self, logs=None):
        self.layers += 1


@pytest.fixture
def counter():
    return Counter()


class TestCache:
    def run(self, cache, counter, hidden_units=(5, 4), **arguments):
        arguments = {"costs": LABELS, "cost_matrix": C, **arguments}
        return pretrained(hidden_units, cache=cache, callbacks=[counter], **arguments)

    @pytest.mark.parametrize("kind", ["memory", "folder"])
    def test_a_second_time_nothing_is_trained(self, kind, counter, tmp_path):
        cache = csdl.StageCache(tmp_path if kind == "folder" else None)
        weights, histories = self.run(cache, counter)
        assert counter.layers == 2
        if kind == "folder":
            cache = csdl.StageCache(tmp_path)
        again, told = self.run(cache, counter)
        assert counter.layers == 2
        assert_same_weights(again, weights)
        assert [one.history for one in told] == [one.history for one in histories]
        assert [one.epoch for one in told] == [[0, 1], [0, 1]]

    def test_lower_layers_are_shared_between_depths(self, counter):
        cache = csdl.StageCache()
        alone = [self.run(csdl.StageCache(), Counter(), units)[0] for units in ((5,), (5, 4, 3))]
        self.run(cache, counter, (5, 4))
        for units, expected, trained in zip(((5,), (5, 4, 3)), alone, (2, 3), strict=True):
            assert_same_weights(self.run(cache, counter, units)[0], expected)
            assert counter.layers == trained

    def test_an_interrupted_run_goes_on_behind_its_last_layer(self, counter):
        class Interrupt(Counter):
            def on_epoch_end(self, epoch, logs=None):
                if self.layers == 2:
                    raise InterruptedError

        cache, (expected, _) = csdl.StageCache(), self.run(csdl.StageCache(), Counter())
        with pytest.raises(InterruptedError):
            self.run(cache, Interrupt())
        assert_same_weights(self.run(cache, counter)[0], expected)
        assert counter.layers == 1

    @pytest.mark.parametrize(
        "change",
        [
            {"x": X[::-1].copy()},
            {"costs": (LABELS + 1) % 3},
            {"cost_matrix": C.T},
            {"beta": 0.5},
            {"corruption": 0.5},
            {"epochs": 3},
            {"batch_size": 30},
            {"optimizer": "sgd"},
            {"optimizer": keras.optimizers.Adam(0.01)},
            {"reconstruction": "squared_error"},
            {"tied": True},
            {"seed": 1},
        ],
        ids=lambda change: "-".join(change),
    )
    def test_a_changed_choice_finds_nothing(self, change, counter):
        cache = csdl.StageCache()
        self.run(cache, Counter(), (5,))
        self.run(cache, counter, (5,), **change)
        assert counter.layers == 1

    def test_costs_do_not_matter_to_beta_0(self, counter):
        cache = csdl.StageCache()
        self.run(cache, counter, beta=0)
        self.run(cache, counter, beta=0, cost_matrix=C.T)
        assert counter.layers == 2

    def test_what_lies_below_matters(self, counter):
        def run(scale):
            layers = [
                keras.Input((6,)),
                keras.layers.Rescaling(scale),
                keras.layers.Dense(5, "sigmoid", kernel_initializer=keras.initializers.Constant(1)),
                keras.layers.Dense(3, "softmax"),
            ]
            arguments = {**QUICK, "cache": cache, "callbacks": [counter]}
            csdl.pretrain(keras.Sequential(layers), X, **arguments)

        cache = csdl.StageCache()
        run(1.0)
        run(1.0)
        assert counter.layers == 1
        run(0.5)
        assert counter.layers == 2

    def test_datasets_are_told_by_their_name(self, counter):
        cache, dataset = csdl.StageCache(), as_tf_data(X, LABELS)
        with pytest.raises(ValueError, match="`data_id`.*received None"):
            self.run(cache, counter, x=dataset, costs=None)
        first, _ = self.run(cache, counter, x=dataset, costs=None, data_id="a")
        again, _ = self.run(cache, counter, x=dataset, costs=None, data_id="a")
        assert counter.layers == 2
        assert_same_weights(again, first)
        self.run(cache, counter, x=dataset, costs=None, data_id="b")
        assert counter.layers == 4

    def test_needs_a_seed(self, counter):
        with pytest.raises(ValueError, match="`seed` with a `cache`.*received None"):
            self.run(csdl.StageCache(), counter, seed=None)
