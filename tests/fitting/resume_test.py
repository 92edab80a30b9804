"""Batches that follow from a seed, and fits that go on by them wherever they are interrupted."""

import hypothesis
import keras
import numpy as np
import pytest
from hypothesis import strategies as st

import csdl_keras as csdl
from csdl_keras import Resume, ShuffledBatches
from csdl_keras.fitting.resume import SeededEpochs
from tests.support.eager import eager_models
from tests.support.interruptions import Epochs
from tests.support.resumed_fits import X, Y, adam, check, fit, interrupt, network
from tests.support.testing import to_numpy
from tests.support.weights import assert_same_weights

DECAYING = keras.optimizers.schedules.ExponentialDecay(0.1, decay_steps=3, decay_rate=0.5)
MONITOR = {"monitor": "score", "mode": "min", "min_delta": 0.5}


def callbacks(folder):
    return [
        keras.callbacks.EarlyStopping(patience=2, restore_best_weights=True, **MONITOR),
        keras.callbacks.ReduceLROnPlateau(patience=1, factor=0.5, **MONITOR),
    ]


def loss_scale():
    """An optimizer whose scale is part of its state."""
    return keras.optimizers.LossScaleOptimizer(adam(), dynamic_growth_steps=3)


class TestInterrupted:
    def test_in_every_epoch_and_behind_the_end(self, tmp_path, nothing_lost):
        expected = fit(tmp_path / "undisturbed", callbacks)
        assert expected[1].epoch == [0, 1, 2, 3]  # Stopped early, which depends on the state.
        found = interrupt(tmp_path / "fit", range(4), callbacks)
        check(nothing_lost, "your own fit, in every epoch", found, expected, 4)
        again = fit(tmp_path / "fit", callbacks)
        check(nothing_lost, "your own fit, behind its end", again, expected, 1)

    @pytest.mark.parametrize(
        "optimizer",
        [
            loss_scale,
            lambda: adam(gradient_accumulation_steps=3),
            lambda: keras.optimizers.SGD(DECAYING, momentum=0.9),
        ],
    )
    def test_once(self, optimizer, tmp_path, nothing_lost):
        expected = fit(tmp_path / "undisturbed", optimizer=optimizer, epochs=3)
        found = interrupt(tmp_path / "fit", [2], optimizer=optimizer, epochs=3)
        check(nothing_lost, "your own fit, once", found, expected, 1)


class TestRuns:
    """Runs of `fit` with `Resume`, which note the epochs and whether weights have changed."""

    def run(self, path, model=None, data=None, own=(), shift=0, **arguments):
        batches = ShuffledBatches(X + shift, Y, batch_size=25, seed=3)
        resume, epochs = Resume(path, batches, own), Epochs()
        with eager_models():
            model = network("adam") if model is None else model
            before = model.get_weights()
            try:
                model.fit(
                    *([batches] if data is None else data),
                    **{"epochs": 3, "verbose": 0, **arguments},
                    callbacks=[resume, *own, epochs],
                )
            finally:
                self.epochs = sum(epochs.begun, [])
                self.unchanged = all(map(np.array_equal, before, model.get_weights()))

    @pytest.mark.parametrize(
        "arguments,message",
        [
            ({"steps_per_epoch": 3}, "must have 2 steps.*received 3"),
            ({"data": (X, Y), "batch_size": 20}, "receive the same ShuffledBatches"),
            ({"own": [Epochs()]}, "cannot save the state of Epochs"),
        ],
    )
    def test_refuses_other_data_and_callbacks(self, arguments, message, tmp_path):
        self.unchanged = True
        with pytest.raises(ValueError, match=message):
            self.run(tmp_path / "fit.npz", **arguments)
        assert self.unchanged and not list(tmp_path.iterdir())

    def test_refuses_the_file_of_another_fit_and_a_damaged_one(self, tmp_path):
        path = tmp_path / "fit.npz"
        self.run(path)
        content = path.read_bytes()
        refused = [
            ({"epochs": 2}, "has 2 epochs; received epochs=2"),
            ({"model": network("rmsprop")}, "different variables, optimizer"),
            ({"own": [keras.callbacks.EarlyStopping("loss")]}, "different callbacks"),
            ({"shift": 1}, "different batches"),
        ]
        for arguments, message in refused:
            with pytest.raises(ValueError, match=message):
                self.run(path, **arguments)
            assert self.unchanged and not self.epochs and path.read_bytes() == content
        path.write_bytes(content[:-100])
        with pytest.warns(UserWarning, match=f"{path} is damaged"):
            self.run(path)
        assert self.epochs == [0, 1, 2]


ROWS = np.random.default_rng(0).uniform(size=(10, 3)).astype("float32")
TARGETS = np.random.default_rng(1).uniform(size=(10, 2))


class TestBatches:
    @hypothesis.given(st.integers(1, 20), st.integers(1, 7), st.integers(0, 2**40))
    def test_epochs_are_permutations_of_numpy(self, size, batch_size, seed):
        batches = ShuffledBatches(np.arange(size), None, None, batch_size, seed)
        for epoch in (2, 0, 1):
            batches.epoch = epoch
            order = np.random.default_rng([seed, epoch, 1]).permutation(size).tolist()
            expected = [order[start : start + batch_size] for start in range(0, size, batch_size)]
            assert [batch.tolist() for (batch,) in batches] == expected

    def test_parts_belong_together_and_floats_are_those_of_keras(self):
        x = {"a": ROWS, "b": [ROWS[:, 0].astype("float64")]}
        batches = ShuffledBatches(x, np.arange(10), np.arange(10) / 2, batch_size=4)
        for inputs, y, weights in batches:
            np.testing.assert_array_equal(inputs["a"], ROWS[y])
            np.testing.assert_array_equal(inputs["b"][0], ROWS[y, 0])
            np.testing.assert_array_equal(weights, (y / 2).astype("float32"))
            assert {inputs["b"][0].dtype, weights.dtype} == {np.dtype("float32")}

    def test_the_fingerprint_holds_what_batches_depend_on(self):
        arguments = {"x": ROWS, "y": TARGETS, "batch_size": 4, "seed": 1}
        changes = [{"x": ROWS + 1}, {"y": None}, {"batch_size": 5}, {"seed": 2}]
        made = [ShuffledBatches(**{**arguments, **it}) for it in ({}, *changes)]
        assert len({it.fingerprint() for it in made}) == len(made)


def states(model):
    return [it for it in model.variables if it.name == "seed_generator_state"]


def noisy(*layers):
    model = keras.Sequential([keras.Input((3,)), *layers, keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    return model


class TestSeededEpochs:
    def test_fit_takes_the_batches_in_their_order(self, run_eagerly):
        batches = ShuffledBatches(ROWS, TARGETS, np.arange(10.0), batch_size=4)
        model, twin = noisy(), noisy()
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
        model = noisy(*own, keras.layers.Flatten())
        found = []

        class Note(keras.callbacks.Callback):
            def note(self, *_, **__):
                found.append([to_numpy(it).tolist() for it in states(self.model)])

            on_train_batch_begin = on_epoch_end = note

        batches = ShuffledBatches(ROWS, TARGETS, batch_size=10, seed=5)
        callbacks = [Note(), SeededEpochs(batches)]
        model.fit(batches, epochs=3, initial_epoch=1, verbose=0, callbacks=callbacks)
        for epoch in (1, 2):
            seeds = np.random.default_rng([5, epoch, 2]).integers(2**31, size=4)
            begin, end = found[2 * epoch - 2 : 2 * epoch]
            assert begin == [[seed, 0] for seed in seeds.tolist()]
            assert [seed for seed, _ in end] == seeds.tolist()
            assert all(count > 0 for _, count in end)
