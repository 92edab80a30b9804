"""What pre-training reads: arrays and datasets, and what it refuses before it begins."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from tests.pretraining.pretrain_test import COSTS, QUICK, Batches, X, make_net
from tests.support.weights import changed_layers, weights_by_layer


def edited(values, index, value):
    copy = np.array(values)
    copy[index] = value
    return copy


def as_tf_data(*arrays, batch_size=20):
    tf = pytest.importorskip("tensorflow")
    arrays = tuple(np.asarray(array, "float32") for array in arrays)
    slices = arrays if len(arrays) > 1 else arrays[0]
    return tf.data.Dataset.from_tensor_slices(slices).batch(batch_size)


@pytest.fixture
def net():
    keras.utils.set_random_seed(0)
    return make_net()


@pytest.fixture
def refused(net):
    """Checks that a call raises a ValueError of that message and leaves the model alone."""

    def check(match, *args, **kwargs):
        before = weights_by_layer(net)
        with pytest.raises(ValueError, match=match):
            csdl.pretrain(net, *args, **{**QUICK, **kwargs})
        assert not changed_layers(net, before)

    return check


class TestDatasets:
    def make(self, kind, beta):
        if kind == "PyDataset":
            return Batches(), None
        if kind == "steps":
            return as_tf_data(X, COSTS).repeat(), 3
        return (as_tf_data(X, COSTS) if beta else as_tf_data(X)), None

    @pytest.mark.parametrize(
        "kind,beta", [("tf.data", 0.0), ("tf.data", 0.25), ("PyDataset", 0.25), ("steps", 0.25)]
    )
    def test_losses_decrease(self, kind, beta):
        net = make_net(hidden_units=(5,))
        dataset, steps = self.make(kind, beta)
        adam = keras.optimizers.Adam(0.05)
        histories = csdl.pretrain(
            net,
            dataset,
            beta=beta,
            corruption=0.0,
            optimizer=adam,
            steps_per_epoch=steps,
            **{**QUICK, "epochs": 8},
        )
        for history in histories:
            losses = history.history["loss"]
            assert len(losses) == 8
            assert losses[-1] < losses[0]

    def test_infinite_without_steps(self, refused):
        refused("Expected `steps_per_epoch` with an infinite dataset", as_tf_data(X).repeat())

    def test_generators(self, refused):
        refused("read several times.*received generator", (batch for batch in (X, X)))

    def test_costs_beside_a_dataset(self, refused):
        refused("Expected `costs` only with arrays", Batches(), COSTS, beta=0.25)

    def test_a_dataset_without_costs(self, refused):
        refused("Expected a dataset of pairs", as_tf_data(X), beta=0.25)

    def test_an_empty_dataset(self, refused):
        refused("at least one batch", as_tf_data(X).take(0))

    def test_a_fault_in_the_last_batch(self, refused):
        refused("at least 0; received -1", as_tf_data(X, edited(COSTS, (59, 0), -1)), beta=0.25)
        refused("to lie in", as_tf_data(edited(X, (59, 0), 2)))
        refused("to be finite", as_tf_data(edited(X, (59, 0), np.nan)))


class TestArrays:
    @pytest.mark.parametrize("x", [edited(X, (59, 0), 1.5), edited(X, (59, 0), -0.5), 255 * X])
    def test_the_cross_entropy_wants_unit_inputs(self, refused, x):
        refused(r"to lie in \[0, 1\].*reconstruction='squared_error'", x)

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("reconstruction", ["cross_entropy", "squared_error"])
    def test_inputs_that_are_not_finite(self, refused, value, reconstruction):
        refused("to be finite", edited(X, (59, 5), value), reconstruction=reconstruction)

    @pytest.mark.parametrize(
        "x", [X[:, 0], X[:0], X.astype(str), X > 0.5], ids=["1-D", "empty", "text", "bool"]
    )
    def test_what_is_no_array_of_numbers(self, refused, x):
        refused("Expected `x` (of shape|to hold real numbers)", x)

    @pytest.mark.parametrize(
        "costs,match",
        [
            (None, "since beta > 0; received None"),
            (COSTS[:59], "`costs` with a row for each of 60 examples"),
            (COSTS[:, 0], "Expected `costs` of shape"),
            (COSTS - 0.5, "Expected every entry of `costs` to be at least 0"),
            (edited(COSTS, (59, 2), np.nan), "Expected every entry of `costs` to be finite"),
        ],
        ids=["none", "rows", "1-D", "negative", "nan"],
    )
    def test_costs(self, refused, costs, match):
        refused(match, X, costs, beta=0.25)

    def test_lists_and_integers(self):
        binary = (X > 0.5).astype("int64")
        results = []
        for x in (binary.tolist(), binary, binary.astype("float32")):
            net = make_net(hidden_units=(5,))
            net.set_weights([np.full(w.shape, 0.1, "float32") for w in net.get_weights()])
            keras.utils.set_random_seed(1)
            csdl.pretrain(net, x, **QUICK)
            results.append(net.get_weights()[0])
        np.testing.assert_array_equal(results[0], results[2])
        np.testing.assert_array_equal(results[1], results[2])

    def test_any_number_of_decisions(self):
        """Costs may price decisions beyond the classes that the network outputs."""
        priced = np.concatenate([COSTS, np.full((60, 1), 0.5)], axis=1)
        net = make_net(hidden_units=(5,))
        histories = csdl.pretrain(net, X, costs=priced, beta=1.0, **QUICK)
        assert np.isfinite([history.history["loss"] for history in histories]).all()
