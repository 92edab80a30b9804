"""`csdl_keras.train`: its epochs, its arguments and what it returns, on digits."""

import sys
import warnings

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.training.data import TrainingData, validation_split
from tests.support.testing import floatx
from tests.support.trainers import (
    DATA,
    LONGER,
    MATRICES,
    SETTINGS,
    VALIDATION,
    make_trainer,
    outputs,
)
from tests.support.weights import assert_same_weights

pytestmark = pytest.mark.usefixtures("run_module_eagerly")


class Spoiler(keras.callbacks.Callback):
    """Keeps validation costs, and zeroes all weights at the start of epochs from the fifth on."""

    def __init__(self):
        super().__init__()
        self.costs = []

    def on_epoch_begin(self, epoch, logs=None):
        if epoch >= 4:
            self.model.set_weights([np.zeros_like(w) for w in self.model.get_weights()])

    def on_epoch_end(self, epoch, logs=None):
        self.costs.append(logs["val_average_cost"])


def test_keeps_the_epoch_of_the_lowest_validation_cost():
    spoiler = Spoiler()
    arguments = {"validation_data": VALIDATION, "callbacks": [spoiler]}
    trained = make_trainer(settings=LONGER, **arguments).train("dnn_sosr", MATRICES[0])
    best = int(np.argmin(spoiler.costs))
    assert best < 4
    assert trained.epochs == len(spoiler.costs) == best + 1 + 3
    decisions = csdl.decide(trained.model, VALIDATION[0])
    cost = MATRICES[0][VALIDATION[1], decisions].mean()
    assert cost == pytest.approx(min(spoiler.costs), rel=1e-5)
    assert cost < spoiler.costs[-1]


def test_small_sets_are_trained_for_more_epochs():
    settings = LONGER.replace({"mlp.epochs": 2, "mlp.min_steps": 3 * 8})  # 3 epochs of 8 steps
    assert make_trainer(settings=settings).train("dnn_sosr", MATRICES[0]).epochs == 4


class TestTrain:
    @pytest.mark.parametrize(
        "arguments,match",
        [
            ({"validation_data": (DATA.x_val[:, :4], DATA.y_val)}, "validation inputs"),
            ({"validation_data": (DATA.x_val,)}, "`validation_data` must be .x_val, y_val"),
            ({"validation_data": np.ones(9, bool)}, r"a mask \(200,\).* shape \(9,\) and"),
            ({"validation_data": np.array([3, 200])}, "indices below 200.* from 3 to 200"),
            ({"validation_data": np.arange(200)}, "some of the examples, not all; rec.* 0 to 199"),
            ({"algorithm": "cnn_sosr", "x": 255 * DATA.x_train}, r"lie in \[0, 1\]; .* to 255"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_what_is_refused_before_anything_is_trained(self, monkeypatch, arguments, match):
        monkeypatch.setattr(keras.Model, "fit", None)
        valid = dict(x=DATA.x_train, y=DATA.y_train, cost_matrix=MATRICES[0], settings=SETTINGS)
        with pytest.raises(ValueError, match=match):
            csdl.train(**{"algorithm": "dnn_sosr", **valid, **arguments})

    def test_examples_that_a_mask_holds_out(self):
        mask = np.arange(len(DATA.y_train)) % 5 == 0
        others = (DATA.x_train[~mask], DATA.y_train[~mask])
        held_out = (DATA.x_train[mask], DATA.y_train[mask])
        first, second = (
            csdl.train(*data, MATRICES[0], "dnn_sosr", validation_data=val, epochs=1, seed=0)
            for data, val in (((DATA.x_train, DATA.y_train), mask), (others, held_out))
        )
        np.testing.assert_array_equal(outputs(first), outputs(second))

    def test_it_learns_and_the_model_can_be_saved(self, tmp_path):
        data = (DATA.x_train, DATA.y_train, MATRICES[0], "csdnn")
        settings = LONGER.replace({"mlp.epochs": 12, "mlp.patience": 12})
        model = csdl.train(*data, validation_data=VALIDATION, settings=settings, seed=0)
        decisions = csdl.decide(model, DATA.x_test)
        cost = MATRICES[0][DATA.y_test, decisions].mean()
        assert cost < 0.5 * MATRICES[0][DATA.y_test].mean(axis=0).min()
        assert len(model.history.history["val_average_cost"]) == len(model.history.epoch)
        model.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        np.testing.assert_array_equal(csdl.decide(loaded, DATA.x_test), decisions)


class TestHeldOut:
    """Without validation data, `train` holds out examples as the estimator does."""

    SETTINGS = csdl.Settings().limit_epochs(2)

    def train(self, algorithm="calibrated_bayes", **arguments):
        x = DATA.x_train.reshape(len(DATA.x_train), -1)
        given = {"settings": self.SETTINGS, "seed": 3, **arguments}
        return csdl.train(x, DATA.y_train, MATRICES[0], algorithm, **given)

    def test_a_share_of_each_class(self):
        x, y = DATA.x_train.reshape(len(DATA.x_train), -1), DATA.y_train
        kept, held_out = validation_split(y, 0.15, np.random.RandomState(3))
        trainer = csdl.Trainer(
            x[kept], y[kept], (x[held_out], y[held_out]), settings=self.SETTINGS, seed=3
        )
        expected = trainer.train("calibrated_bayes", MATRICES[0]).model
        assert_same_weights(self.train(), expected)

    def test_not_of_an_ensemble_that_has_folds(self, monkeypatch):
        monkeypatch.setattr(TrainingData, "split", None)
        self.train("ensemble_bayes", settings=csdl.Settings(members=5).limit_epochs(1))

    def test_nothing_at_all_says_what_is_missing(self):
        with pytest.warns(
            UserWarning, match="'calibrated_bayes' calibrates.*not calibrated"
        ) as one:
            self.train(validation_data=False)
        with pytest.warns(UserWarning, match="'dnn_bayes' trains for all epochs") as other:
            model = self.train("dnn_bayes", validation_data=False)
        assert one[0].filename == other[0].filename == __file__
        assert "val_loss" not in model.history.history


def test_a_bar_for_each_network_in_a_terminal(capsys, monkeypatch):
    x = DATA.x_train.reshape(len(DATA.x_train), -1)
    arguments = {"settings": csdl.Settings(members=2).limit_epochs(2), "seed": 0}
    csdl.train(x, DATA.y_train, MATRICES[0], "dnn_blind", **arguments)
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    csdl.train(x, DATA.y_train, MATRICES[0], "dnn_blind", **arguments)
    shown = capsys.readouterr().out
    assert "DNN blind, training of network 2 of 2" in shown and "2/2" in shown


@pytest.mark.parametrize(("dtype", "most"), [("bfloat16", 256), ("float16", 2048)])
def test_more_classes_than_a_float_type_numbers(dtype, most):
    """Keras' own losses convert labels to its float type, in which some are others."""
    x, y = np.zeros((6, 3)), np.array([0, 1, 2, 3, most, most])
    with floatx(dtype):
        trainer = csdl.Trainer(x, y, seed=0)
        with pytest.raises(ValueError, match=f"{dtype} represents integers up to {most}, too few"):
            trainer.key("calibrated_bayes", 1 - np.eye(most + 1))


def planned(algorithm, *shape):
    """Checks a request; nothing is trained before the first result is asked for."""
    trainer = csdl.Trainer(np.ones((20, *shape)), np.arange(20) % 2, seed=0)
    trainer.train_all([(algorithm, 1.0 - np.eye(2))])


def test_gray_images_without_channels_are_noticed():
    message = (
        r"x of shape \(N, 8, 9\) is treated as a table of 72 features; "
        r"for images pass x\[..., None\]"
    )
    with pytest.warns(UserWarning, match=message) as warned:
        planned("cost_model", 8, 9)
    assert [it.filename for it in warned if "72 features" in str(it.message)] == [__file__]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="x of shape")
        planned("dnn_bayes", 8, 9)
        planned("ensemble_bayes", 8, 9, 1)
        planned("ensemble_bayes", 72)
