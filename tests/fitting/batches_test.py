"""Batches and masks that depend only on a seed, the epoch and the step."""

import hypothesis
import keras
import numpy as np
from hypothesis import strategies as st

import csdl_keras as csdl
from csdl_keras import ShuffledBatches
from csdl_keras.fitting.resume import SeededEpochs
from tests.support.testing import to_numpy
from tests.support.weights import assert_same_weights

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(10, 3)).astype("float32")
Y = RNG.uniform(size=(10, 2))


class TestOrder:
    @hypothesis.given(st.integers(1, 20), st.integers(1, 7), st.integers(0, 2**40))
    def test_epochs_are_permutations_of_numpy(self, size, batch_size, seed):
        batches = ShuffledBatches(np.arange(size), None, None, batch_size, seed)
        for epoch in (2, 0, 1):
            batches.epoch = epoch
            order = np.random.default_rng([seed, epoch, 1]).permutation(size).tolist()
            expected = [order[start : start + batch_size] for start in range(0, size, batch_size)]
            assert [batch.tolist() for (batch,) in batches] == expected

    def test_parts_belong_together_and_floats_are_those_of_keras(self):
        x = {"a": X, "b": [X[:, 0].astype("float64")]}
        batches = ShuffledBatches(x, np.arange(10), np.arange(10) / 2, batch_size=4)
        for inputs, y, weights in batches:
            np.testing.assert_array_equal(inputs["a"], X[y])
            np.testing.assert_array_equal(inputs["b"][0], X[y, 0])
            np.testing.assert_array_equal(weights, (y / 2).astype("float32"))
            assert {inputs["b"][0].dtype, weights.dtype} == {np.dtype("float32")}

    def test_the_fingerprint_holds_what_batches_depend_on(self):
        arguments = {"x": X, "y": Y, "batch_size": 4, "seed": 1}
        changes = [{"x": X + 1}, {"y": None}, {"batch_size": 5}, {"seed": 2}]
        made = [ShuffledBatches(**{**arguments, **it}) for it in ({}, *changes)]
        assert len({it.fingerprint() for it in made}) == len(made)


def states(model):
    return [it for it in model.variables if it.name == "seed_generator_state"]


def network(*layers):
    model = keras.Sequential([keras.Input((3,)), *layers, keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    return model


class TestFit:
    def test_fit_takes_the_batches_in_their_order(self, run_eagerly):
        batches = ShuffledBatches(X, Y, np.arange(10.0), batch_size=4)
        model, twin = network(), network()
        twin.set_weights(model.get_weights())
        model.fit(batches, epochs=3, verbose=0, shuffle=False, callbacks=[SeededEpochs(batches)])
        for epoch in range(3):
            batches.epoch = epoch
            for x, y, weights in batches:
                twin.train_on_batch(x, y, sample_weight=weights)
        assert_same_weights(model, twin, atol=1e-6)

    def test_every_generator_begins_each_epoch_anew(self, run_eagerly):
        inner = keras.Sequential([keras.Input((3,)), keras.layers.GaussianNoise(0.1)])
        shift = [keras.layers.Reshape((1, 3, 1)), csdl.layers.RandomShift(0.0, 0.5)]
        own = [keras.layers.Dropout(0.5, seed=1), csdl.MaskingNoise(0.5, seed=3), inner, *shift]
        model = network(*own, keras.layers.Flatten())
        found = []

        class Note(keras.callbacks.Callback):
            def note(self, *_, **__):
                found.append([to_numpy(it).tolist() for it in states(self.model)])

            on_train_batch_begin = on_epoch_end = note

        batches = ShuffledBatches(X, Y, batch_size=10, seed=5)
        callbacks = [Note(), SeededEpochs(batches)]
        model.fit(batches, epochs=3, initial_epoch=1, verbose=0, callbacks=callbacks)
        for epoch in (1, 2):
            seeds = np.random.default_rng([5, epoch, 2]).integers(2**31, size=4)
            begin, end = found[2 * epoch - 2 : 2 * epoch]
            assert begin == [[seed, 0] for seed in seeds.tolist()]
            assert [seed for seed, _ in end] == seeds.tolist()
            assert all(count > 0 for _, count in end)
