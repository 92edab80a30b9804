"""Callbacks with a cache or in several processes, which must only observe."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.fitting.callbacks import OBSERVERS
from tests.support.trainers import MATRICES, Counter, make_trainer

#: Callbacks of Keras that may change the training.
CHANGING = {"BackupAndRestore", "Callback", "EarlyStopping", "LambdaCallback", "TerminateOnNaN"}
CHANGING |= {"LearningRateScheduler", "ReduceLROnPlateau", "SwapEMAWeights"}


def test_every_callback_of_keras_is_classified():
    names = {name for name in dir(keras.callbacks) if not name.startswith("_")}
    observing = {one.__name__ for one in OBSERVERS}
    assert names - {"CallbackList"} <= CHANGING | observing and not CHANGING & observing


@pytest.mark.parametrize(
    "callback",
    [
        keras.callbacks.ReduceLROnPlateau(),
        keras.callbacks.LambdaCallback(),
        type("Logger", (keras.callbacks.CSVLogger,), {})("log.csv"),
        type("Own", (keras.callbacks.Callback,), {})(),
    ],
    ids=lambda callback: type(callback).__name__,
)
def test_callbacks_that_may_change_training_are_refused(callback, tried):
    refused = f"only observe with {{}}.*received {type(callback).__name__}"
    for reason, arguments in [("a `cache`", {"cache": csdl.StageCache()}), ("sev.*", {"jobs": 2})]:
        with pytest.raises(ValueError, match=refused.format(reason)):
            make_trainer(callbacks=[Counter(), callback], **arguments)
    arguments = {"seed": 0, "cache": csdl.StageCache(), "callbacks": [callback]}
    with pytest.raises(ValueError, match=refused.format("a `cache`")):
        csdl.pretrain(csdl.models.mlp((3,), 2, (2,)), np.zeros((4, 3)), **arguments)
    tried("callbacks", 3)


def test_observers_are_accepted_with_a_cache(tmp_path, run_eagerly):
    own = keras.callbacks.LambdaCallback()
    own.observes_only = True
    logger = keras.callbacks.CSVLogger(str(tmp_path / "log.csv"))
    callbacks = [own, logger, csdl.RaiseOnDivergence()]
    make_trainer(cache=csdl.StageCache(), callbacks=callbacks).train("dnn_blind", MATRICES[0])
    assert (tmp_path / "log.csv").read_text()


def test_without_a_cache_callbacks_change_the_training(run_eagerly):
    slow = keras.callbacks.LearningRateScheduler(lambda epoch: 1e-8)
    slowed = make_trainer(callbacks=[slow]).train("dnn_blind", MATRICES[0]).model
    plain = make_trainer().train("dnn_blind", MATRICES[0]).model
    assert np.abs(slowed.get_weights()[0] - plain.get_weights()[0]).max() > 1e-3
