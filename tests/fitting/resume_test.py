"""`Resume` in your own fits: nothing is lost, wherever they are interrupted."""

import keras
import numpy as np
import pytest

from csdl_keras import Resume, ShuffledBatches
from tests.support.eager import eager_models
from tests.support.interruptions import Epochs
from tests.support.resumed_fits import X, Y, adam, check, fit, interrupt, network

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

    def run(self, path, model=None, data=None, own=(), shift=0, settings=None, **arguments):
        batches = ShuffledBatches(X + shift, Y, batch_size=25, seed=3)
        resume, epochs = Resume(path, batches, own, **(settings or {})), Epochs()
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

    def test_the_last_epoch_is_repeated(self, tmp_path):
        for expected in ([0, 1, 2], [2]):
            self.run(tmp_path / "fit.npz", validation_data=(X, Y))
            assert self.epochs == expected

    @pytest.mark.parametrize(
        "arguments,message",
        [
            ({"steps_per_epoch": 3}, "Expected 2 steps an epoch.*received 3"),
            ({"data": (X, Y), "batch_size": 20}, "on the ShuffledBatches.*other data"),
            ({"own": [Epochs()]}, "whose place is known.*received Epochs"),
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
            ({"epochs": 2}, "more than 2 `epochs`.*received 2"),
            ({"model": network("rmsprop")}, "other variables, optimizer"),
            ({"own": [keras.callbacks.EarlyStopping("loss")]}, "other callbacks"),
            ({"shift": 1}, "other batches"),
        ]
        for arguments, message in refused:
            with pytest.raises(ValueError, match=message):
                self.run(path, **arguments)
            assert self.unchanged and not self.epochs and path.read_bytes() == content
        path.write_bytes(content[:-100])
        with pytest.raises(ValueError, match=f"Expected {path} to be.*received a damaged one"):
            self.run(path)
        assert self.unchanged and path.read_bytes() == content[:-100]
        with pytest.warns(UserWarning, match=f"{path} is damaged"):
            self.run(path, settings={"replaces": True})
        assert self.epochs == [0, 1, 2]

    @pytest.mark.skipif(
        keras.backend.backend() != "tensorflow", reason="others build models ahead of training"
    )
    def test_refuses_a_model_without_weights(self, tmp_path):
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        with pytest.raises(ValueError, match="a model that is built"):
            self.run(tmp_path / "fit.npz", model)
