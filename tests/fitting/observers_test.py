"""Callbacks with a cache or in several processes."""

import keras
import numpy as np
import pytest
from csdl_keras.fitting.observers import OBSERVERS

import csdl_keras as csdl
from tests.support.trainers import MATRICES, Counter, make_trainer


class TestCallbacks:
    def test_every_callback_of_keras_is_classified(self):
        """A new one fails here until it is known to observe, or not."""
        changing = {
            "BackupAndRestore",
            "Callback",
            "EarlyStopping",
            "LambdaCallback",
            "LearningRateScheduler",
            "ReduceLROnPlateau",
            "SwapEMAWeights",
            "TerminateOnNaN",
        }
        names = {name for name in dir(keras.callbacks) if not name.startswith("_")}
        observing = {one.__name__ for one in OBSERVERS}
        assert names - {"CallbackList"} <= changing | observing and not changing & observing

    @pytest.mark.parametrize(
        "callback",
        [
            keras.callbacks.LearningRateScheduler(lambda epoch: 1e-8),
            keras.callbacks.ReduceLROnPlateau(),
            keras.callbacks.LambdaCallback(),
            type("Logger", (keras.callbacks.CSVLogger,), {})("log.csv"),
            type("Own", (keras.callbacks.Callback,), {})(),
        ],
        ids=lambda callback: type(callback).__name__,
    )
    def test_what_may_change_training_is_refused(self, callback, tmp_path, tried):
        name = type(callback).__name__
        for reason, arguments in {
            "a `cache`": {"cache": csdl.StageCache()},
            "a `cache`,": {"cache": csdl.StageCache(tmp_path)},
            "several `jobs`": {"jobs": 2},
        }.items():
            with pytest.raises(ValueError, match=f"only observe with {reason}.*received {name}"):
                make_trainer(callbacks=[Counter(), callback], **arguments)
        model = csdl.models.mlp((3,), 2, (2,))
        with pytest.raises(ValueError, match=f"only observe with a `cache`.*received {name}"):
            csdl.pretrain(
                model, np.zeros((4, 3)), seed=0, cache=csdl.StageCache(), callbacks=[callback]
            )
        tried("callbacks", 4)

    def test_what_observes_is_accepted(self, tmp_path, run_eagerly):
        own = keras.callbacks.LambdaCallback()
        own.observes_only = True
        logger = keras.callbacks.CSVLogger(str(tmp_path / "log.csv"))
        trainer = make_trainer(
            cache=csdl.StageCache(), callbacks=[own, logger, csdl.RaiseOnDivergence()]
        )
        trainer.train("dnn_blind", MATRICES[0])
        assert (tmp_path / "log.csv").read_text()

    def test_without_a_cache_they_change_their_trainer_alone(self, run_eagerly):
        slow = keras.callbacks.LearningRateScheduler(lambda epoch: 1e-8)
        slowed = make_trainer(callbacks=[slow]).train("dnn_blind", MATRICES[0]).model
        plain = make_trainer().train("dnn_blind", MATRICES[0]).model
        assert np.abs(slowed.get_weights()[0] - plain.get_weights()[0]).max() > 1e-3
