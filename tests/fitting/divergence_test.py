"""Trainings that diverge: an error that names them, and no model left behind."""

import dataclasses
import pickle

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.sklearn import CostSensitiveClassifier
from tests.support.trainers import DATA, MATRICES, SETTINGS, VALIDATION, Counter, make_trainer

X = np.random.default_rng(0).uniform(size=(40, 4)).astype("float32")
COSTS = np.random.default_rng(1).uniform(size=(40, 3)).astype("float32")
TOO_FAST = SETTINGS.replace(
    {
        "mlp.learning_rate": 1e38,
        "cnn.learning_rate": 1e38,
        "auto.learning_rate": 1e38,
        "pretraining.learning_rate": 1e38,
        "pretraining.optimizer": "sgd",
        "auto.batch_size": 20,
    }
)


def make_model(rate):
    model = csdl.models.mlp((4,), 3, (5,), output="cost", name="costs_of_three", seed=0)
    model.compile(keras.optimizers.SGD(rate), loss=csdl.SOSRLoss())
    return model


def fit(model, callback, **kwargs):
    arguments = {"epochs": 5, "batch_size": 10, "verbose": 0, **kwargs}
    return model.fit(X, COSTS, callbacks=[callback], **arguments)


class TestCallback:
    def test_a_loss(self, run_eagerly):
        with pytest.raises(csdl.DivergedError) as caught:
            fit(make_model(1e38), csdl.RaiseOnDivergence())
        message = str(caught.value)
        assert "finite `loss` in training 'costs_of_three'; received" in message
        assert f"in epoch {caught.value.epoch}" in message and 1 <= caught.value.epoch <= 5
        assert "it is 1e+38" in message and "`cost_scale`" in message
        assert isinstance(caught.value, FloatingPointError)

    def test_a_validation_loss(self, run_eagerly):
        with pytest.raises(csdl.DivergedError, match="finite `val_loss` in training 'mine'"):
            wrong = (X, np.full_like(COSTS, np.nan))
            fit(make_model(0.1), csdl.RaiseOnDivergence("'mine'"), validation_data=wrong)

    def test_weights_after_the_last_update(self, run_eagerly):
        """Each loss is that of weights before the update."""
        model = make_model(0.1)

        class Spoil(keras.callbacks.Callback):
            def on_train_batch_end(self, batch, logs=None):
                self.model.layers[-1].bias.assign([0.0, np.inf, 0.0])

        with pytest.raises(csdl.DivergedError, match="finite weights .*received NaN or inf.*epoch"):
            model.fit(
                X,
                COSTS,
                batch_size=40,
                callbacks=[Spoil(), csdl.RaiseOnDivergence()],
                verbose=0,
            )

    def test_what_converges_is_left_alone(self, run_eagerly):
        models = [make_model(0.1), make_model(0.1)]
        keras.utils.set_random_seed(0)
        fit(models[0], csdl.RaiseOnDivergence())
        keras.utils.set_random_seed(0)
        fit(models[1], Counter())
        for left, right in zip(*(model.get_weights() for model in models), strict=True):
            np.testing.assert_array_equal(left, right)

    def test_a_learning_rate_that_changes(self, run_eagerly):
        rate = keras.optimizers.schedules.CosineDecay(1e38, 100)
        with pytest.raises(csdl.DivergedError, match=r"it is (1|9.\d+)e\+3[78]"):
            fit(make_model(rate), csdl.RaiseOnDivergence())

    def test_the_error_goes_between_processes(self):
        error = pickle.loads(pickle.dumps(csdl.DivergedError("why", epoch=7)))
        assert (str(error), error.epoch) == ("why", 7)


class TestTrainer:
    @pytest.mark.parametrize("name", ["dnn_sosr", "cnn_bayes", "cost_model"])
    def test_the_row_is_named_and_the_cache_keeps_no_model(self, name, tmp_path, run_eagerly):
        counter, cache = Counter(), csdl.StageCache(tmp_path)
        for _ in range(2):  # the second time it is remembered
            trainer = make_trainer(
                settings=TOO_FAST, validation_data=VALIDATION, cache=cache, callbacks=[counter]
            )
            with pytest.raises(csdl.DivergedError, match=f"training '{name}'; received"):
                trainer.train(name, MATRICES[0])
        assert counter.fits == 1
        found = cache.find(trainer.stages(name, MATRICES[0])["training"])
        assert found.arrays == [] and found.info["epochs"] >= 1

    def test_pretraining(self, run_eagerly):
        trainer = make_trainer(settings=TOO_FAST)
        with pytest.raises(csdl.DivergedError, match="training 'csdnn' .pre-training.; received"):
            trainer.train("csdnn", MATRICES[0])

    def test_members_trained_as_one_network(self, run_eagerly):
        x = DATA.x_train.reshape(len(DATA.x_train), -1)
        row = dataclasses.replace(csdl.ALGORITHMS["ensemble_bayes"], members=2)
        validation = (x[:20], DATA.y_train[:20])
        with pytest.raises(csdl.DivergedError, match="training 'ensemble_bayes'"):
            csdl.train(row, x, DATA.y_train, MATRICES[0], validation, settings=TOO_FAST)


def test_pretraining_of_any_model(run_eagerly):
    model = csdl.models.mlp((4,), 3, (5,))
    with pytest.raises(csdl.DivergedError, match=f"'pretrain_{csdl.hidden_layers(model)[0].name}'"):
        csdl.pretrain(
            model, X, epochs=3, batch_size=10, optimizer=keras.optimizers.SGD(1e38), verbose=0
        )


def test_a_network_of_the_user(run_eagerly):
    def build(input_shape, num_classes):
        model = csdl.models.mlp(input_shape, num_classes, (5,), output="cost", name="own")
        model.compile(keras.optimizers.SGD(1e38), loss=csdl.SOSRLoss())
        return model

    with pytest.raises(csdl.DivergedError, match="training 'own'"):
        CostSensitiveClassifier(build, settings=TOO_FAST).fit(X, np.arange(40) % 3)
