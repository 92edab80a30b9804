"""Fits that diverge raise an error that names them, and callbacks must only observe."""

import dataclasses
import functools
import pickle

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.sklearn import CostSensitiveClassifier
from tests.support.trainers import DATA, MATRICES, SETTINGS, VALIDATION, Counter, make_trainer

pytestmark = pytest.mark.usefixtures("run_eagerly")

X = np.random.default_rng(0).uniform(size=(40, 4)).astype("float32")
COSTS = np.random.default_rng(1).uniform(size=(40, 3)).astype("float32")
RATES = ("mlp", "cnn", "auto", "pretraining")
TOO_FAST = SETTINGS.replace(
    {f"{part}.learning_rate": 1e38 for part in RATES}
    | {"pretraining.optimizer": "sgd", "auto.batch_size": 20}
)


def make_model(rate, name="costs_of_three"):
    model = csdl.models.mlp((4,), 3, (5,), output="cost", name=name, seed=0)
    model.compile(keras.optimizers.SGD(rate), loss=csdl.SOSRLoss())
    return model


def fit(model, *callbacks, **arguments):
    model.fit(X, COSTS, callbacks=callbacks, **{"epochs": 5, "verbose": 0, **arguments})


class Spoil(keras.callbacks.Callback):
    """Makes a weight infinite after the last loss has been computed."""

    def on_train_batch_end(self, batch, logs=None):
        self.model.layers[-1].bias.assign([0.0, np.inf, 0.0])


class TestCallback:
    def test_a_loss(self):
        with pytest.raises(csdl.DivergedError) as caught:
            fit(make_model(1e38), csdl.RaiseOnDivergence(), batch_size=10)
        message = str(caught.value)
        assert "finite `loss` in training 'costs_of_three'; received" in message
        assert f"in epoch {caught.value.epoch}" in message and 1 <= caught.value.epoch <= 5
        assert "it is 1e+38" in message and "`cost_scale`" in message
        assert isinstance(caught.value, FloatingPointError)

    def test_a_validation_loss(self):
        wrong = (X, np.full_like(COSTS, np.nan))
        with pytest.raises(csdl.DivergedError, match="`val_loss` in training 'mine'.*in epoch 1"):
            fit(make_model(0.1), csdl.RaiseOnDivergence("'mine'"), validation_data=wrong)

    def test_weights_after_the_last_update(self):
        with pytest.raises(csdl.DivergedError, match="finite weights .*received NaN or inf.*epoch"):
            fit(make_model(0.1), Spoil(), csdl.RaiseOnDivergence(), batch_size=40, epochs=1)

    def test_a_learning_rate_that_changes(self):
        rate = keras.optimizers.schedules.CosineDecay(1e38, 100)
        with pytest.raises(csdl.DivergedError, match=r"it is (1|9.\d+)e\+3[78]"):
            fit(make_model(rate), csdl.RaiseOnDivergence())

    def test_the_error_can_be_sent_to_another_process(self):
        error = pickle.loads(pickle.dumps(csdl.DivergedError("why", epoch=7)))
        assert (str(error), error.epoch) == ("why", 7)


class TestEverywhere:
    def test_a_trainer_and_its_cache(self, tmp_path):
        counter, cache = Counter(), csdl.StageCache(tmp_path)
        for _ in range(2):  # The second trainer finds the failure in the cache.
            trainer = make_trainer(
                settings=TOO_FAST, validation_data=VALIDATION, cache=cache, callbacks=[counter]
            )
            with pytest.raises(csdl.DivergedError, match="training 'dnn_sosr'; received"):
                trainer.train("dnn_sosr", MATRICES[0])
        assert counter.fits == 1
        assert len(list(tmp_path.rglob("*.npz"))) == 1

    def test_pretraining_of_an_algorithm(self):
        with pytest.raises(csdl.DivergedError, match="training 'csdnn' .pre-training.; received"):
            make_trainer(settings=TOO_FAST).train("csdnn", MATRICES[0])

    def test_members_trained_as_one_network(self):
        x = DATA.x_train.reshape(len(DATA.x_train), -1)
        algorithm = dataclasses.replace(csdl.ALGORITHMS["ensemble_bayes"], members=2)
        validation = (x[:20], DATA.y_train[:20])
        with pytest.raises(csdl.DivergedError, match="training 'ensemble_bayes'"):
            csdl.train(
                x,
                DATA.y_train,
                MATRICES[0],
                algorithm,
                validation_data=validation,
                settings=TOO_FAST,
            )

    def test_a_network_of_the_user(self):
        build = functools.partial(csdl.models.mlp, hidden_units=(5,), output="cost")
        estimator = CostSensitiveClassifier(build, settings=TOO_FAST)
        with pytest.raises(csdl.DivergedError, match="training 'own_network'"):
            estimator.fit(X, np.arange(40) % 3)


@pytest.mark.parametrize(
    "callback",
    [
        keras.callbacks.ReduceLROnPlateau(),
        type("Logger", (keras.callbacks.CSVLogger,), {})("log.csv"),
        type("Own", (keras.callbacks.Callback,), {})(),
    ],
    ids=lambda callback: type(callback).__name__,
)
def test_callbacks_that_may_change_training_are_refused_with_a_cache(callback):
    refused = f"only observe with a `cache`.*received {type(callback).__name__}"
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
