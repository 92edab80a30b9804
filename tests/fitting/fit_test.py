"""Fits that diverge raise an error that names them, and callbacks must only observe."""

import pickle

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from tests.support.trainers import MATRICES, SETTINGS, VALIDATION, Counter, make_trainer

pytestmark = pytest.mark.usefixtures("run_eagerly")

X = np.random.default_rng(0).uniform(size=(40, 4)).astype("float32")
COSTS = np.random.default_rng(1).uniform(size=(40, 3)).astype("float32")
TOO_FAST = SETTINGS.replace(
    {f"{part}.learning_rate": 1e38 for part in ("mlp", "pretraining")}
    | {"pretraining.optimizer": "sgd"}
)


def fit(rate, *callbacks, **arguments):
    model = csdl.models.mlp((4,), 3, (5,), output="cost", name="costs_of_three", seed=0)
    model.compile(keras.optimizers.SGD(rate), loss=csdl.SOSRLoss())
    model.fit(X, COSTS, callbacks=callbacks, **{"epochs": 5, "verbose": 0, **arguments})


class Spoil(keras.callbacks.Callback):
    """Makes a weight infinite after the last loss has been computed."""

    def on_train_batch_end(self, batch, logs=None):
        self.model.layers[-1].bias.assign([0.0, np.inf, 0.0])


class TestCallback:
    def test_a_loss(self):
        with pytest.raises(csdl.DivergedError) as caught:
            fit(1e38, csdl.RaiseOnDivergence(), batch_size=10)
        message, epoch = str(caught.value), caught.value.epoch
        assert "The training of 'costs_of_three' diverged: `loss` is " in message
        assert f"in epoch {epoch}" in message and 1 <= epoch <= 5 and "it is 1e+38" in message
        # It can be sent to another process.
        error = pickle.loads(pickle.dumps(caught.value))
        assert (str(error), error.epoch) == (message, epoch)

    def test_weights_after_the_last_update(self):
        with pytest.raises(csdl.DivergedError, match="diverged: weights .* contain NaN.*epoch"):
            fit(0.1, Spoil(), csdl.RaiseOnDivergence(), batch_size=40, epochs=1)


class TestEverywhere:
    def test_a_trainer_and_its_cache(self, tmp_path):
        cache = csdl.StageCache(tmp_path)
        trainer = make_trainer(settings=TOO_FAST, validation_data=VALIDATION, cache=cache)
        with pytest.raises(csdl.DivergedError, match="training of 'dnn_sosr' diverged"):
            trainer.train("dnn_sosr", MATRICES[0])
        assert not list(tmp_path.rglob("*.npz"))

    def test_pretraining_of_an_algorithm(self):
        with pytest.raises(csdl.DivergedError, match="training of 'csdnn' .pre-training. diverged"):
            make_trainer(settings=TOO_FAST).train("csdnn", MATRICES[0])


@pytest.mark.parametrize(
    "callback",
    [
        keras.callbacks.EarlyStopping("loss"),
        type("OwnLogger", (keras.callbacks.CSVLogger,), {})("log.csv"),
    ],
    ids=lambda callback: type(callback).__name__,
)
def test_callbacks_that_may_change_training_are_refused_with_a_cache(callback):
    refused = f"a `cache`, `callbacks` must only observe; received {type(callback).__name__}"
    with pytest.raises(ValueError, match=refused):
        make_trainer(callbacks=[Counter(), callback], cache=csdl.StageCache())
    arguments = {"seed": 0, "cache": csdl.StageCache(), "callbacks": [callback]}
    with pytest.raises(ValueError, match=refused):
        csdl.pretrain(csdl.models.mlp((3,), 2, (2,)), np.zeros((4, 3)), **arguments)


def test_observers_are_accepted_with_a_cache(tmp_path):
    own = keras.callbacks.LambdaCallback()
    own.observes_only = True
    logger = keras.callbacks.CSVLogger(str(tmp_path / "log.csv"))
    callbacks = [own, logger, csdl.RaiseOnDivergence()]
    make_trainer(cache=csdl.StageCache(), callbacks=callbacks).train("dnn_blind", MATRICES[0])
    assert (tmp_path / "log.csv").read_text()
