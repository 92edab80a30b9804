"""`csdl_keras.train`: its epochs, its arguments and what it returns, on digits."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from tests.support.testing import floatx
from tests.support.trainers import (
    DATA,
    LONGER,
    MATRICES,
    SETTINGS,
    VALIDATION,
    make_trainer,
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


class TestEpochs:
    def test_keeps_the_epoch_of_the_lowest_validation_cost(self):
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

    def test_small_sets_are_trained_for_more_epochs(self):
        settings = LONGER.replace({"mlp.epochs": 2, "mlp.min_steps": 3 * 8})  # 3 epochs of 8 steps
        assert make_trainer(settings=settings).train("dnn_sosr", MATRICES[0]).epochs == 4


def changed(values, value):
    copy = np.array(values)
    copy[0] = value
    return copy


class TestTrain:
    @pytest.mark.parametrize(
        "arguments,match",
        [
            ({"algorithm": "dnn"}, "'dnn_blind'.*'csdnn'.*received 'dnn'"),
            ({"y": changed(DATA.y_train, 10)}, "below 10, the number of classes.*received 10"),
            ({"y": DATA.y_train[:-1]}, "`x` with a row for each of 199 labels"),
            ({"cost_matrix": MATRICES[0][:9, :9]}, "below 9, the number of classes"),
            ({"cost_matrix": csdl.costs.with_abstain(MATRICES[0], 1.0)}, "that are no class"),
            ({"cost_matrix": MATRICES[0][:, :9]}, "Expected `cost_matrix` of shape"),
            ({"cost_matrix": 0 * MATRICES[0]}, "an entry above 0; received all zeros"),
            ({"x": changed(DATA.x_train, np.nan)}, "entry of `x` to be finite"),
            ({"validation_data": (DATA.x_val[:, :4], DATA.y_val)}, "Expected validation inputs"),
            ({"validation_data": (DATA.x_val, DATA.y_val[1:])}, "Expected `validation_data`"),
            ({"validation_data": (DATA.x_val, DATA.y_val + 9)}, "below 10"),
            ({"validation_data": (DATA.x_val,)}, "Expected `validation_data` to be .x_val, y_val"),
            ({"seed": -1}, "Expected `seed`"),
            ({"algorithm": "cnn_sosr", "x": DATA.x_train.reshape(-1, 64)}, "3 sizes"),
            ({"algorithm": "cnn_sosr", "x": 255 * DATA.x_train}, r"lie in \[0, 1\]; .* to 255"),
            ({"algorithm": "csdnn", "x": 255 * DATA.x_train}, r"to lie in \[0, 1\]"),
            ({"unlabelled": DATA.x_val}, "`unlabelled` with an algorithm that pre-trains only"),
            ({"algorithm": "csdnn", "unlabelled": DATA.x_val[0]}, "Expected unlabelled inputs"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_what_is_refused_before_anything_is_trained(self, monkeypatch, arguments, match):
        monkeypatch.setattr(keras.Model, "fit", None)
        valid = dict(x=DATA.x_train, y=DATA.y_train, cost_matrix=MATRICES[0], settings=SETTINGS)
        with pytest.raises(ValueError, match=match):
            csdl.train(**{"algorithm": "dnn_sosr", **valid, **arguments})

    def test_calibration_without_validation_data_warns_at_the_caller(self):
        with pytest.warns(UserWarning, match="'cost_model' calibrates") as warned:
            make_trainer().stages("cost_model", MATRICES[0])
        assert warned[0].filename == __file__

    def test_it_learns_and_the_model_can_be_saved(self, tmp_path):
        settings = LONGER.replace({"mlp.epochs": 12, "mlp.patience": 12})
        data = (DATA.x_train, DATA.y_train, MATRICES[0], VALIDATION)
        model = csdl.train("csdnn", *data, settings, seed=0)
        decisions = csdl.decide(model, DATA.x_test)
        cost = MATRICES[0][DATA.y_test, decisions].mean()
        assert cost < 0.5 * MATRICES[0][DATA.y_test].mean(axis=0).min()
        model.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        np.testing.assert_array_equal(csdl.decide(loaded, DATA.x_test), decisions)

    def test_without_a_seed_it_follows_the_global_one(self):
        def run():
            return make_trainer(seed=None).train("dnn_sosr", MATRICES[0]).model

        keras.utils.set_random_seed(5)
        first, second = run(), run()
        keras.utils.set_random_seed(5)
        assert_same_weights(first, run())
        assert np.abs(first.get_weights()[0] - second.get_weights()[0]).max() > 1e-3


@pytest.mark.parametrize(("dtype", "most"), [("bfloat16", 256), ("float16", 2048)])
def test_more_classes_than_a_float_type_numbers(dtype, most):
    """Keras' own losses convert labels to its float type, in which some are others."""
    x, y = np.zeros((6, 3)), np.array([0, 1, 2, 3, most, most])
    with floatx(dtype):
        trainer = csdl.Trainer(x, y, seed=0)
        with pytest.raises(ValueError, match=f"at most {most} classes in {dtype}"):
            trainer.stages("calibrated_bayes", 1 - np.eye(most + 1))
        with pytest.raises(ValueError, match=f"at most {most} classes in {dtype}"):
            csdl.models.labelled_costs(y, np.ones((6, 2)))
        assert len(csdl.models.labelled_costs(y.clip(max=most - 1), np.ones((6, 2)))) == 3
