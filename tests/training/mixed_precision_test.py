"""Training in 16 bits: heads, losses and costs stay in float32, and finite, in every row."""

import functools

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.training.algorithms import ALGORITHMS
from tests.support.testing import MIXED_POLICIES, TestCase, dtype_policy, to_numpy
from tests.support.trainers import DATA, SETTINGS, VALIDATION, make_trainer

ROWS = tuple(name for name, row in ALGORITHMS.items() if row.body != "svm")
LARGEST = 1e6  # beyond float16, whose largest number is 65504
MATRIX = csdl.costs.randomized_proportional(DATA.y_train_val, seed=0)
MATRIX = MATRIX * (LARGEST / MATRIX.max())
COSTS = MATRIX[DATA.y_train]
FLAT = DATA.x_train.reshape(len(DATA.x_train), -1)


@pytest.fixture(params=MIXED_POLICIES)
def policy(request):
    with dtype_policy(request.param):
        yield request.param


@functools.cache
def trainer_of(policy: str) -> csdl.Trainer:
    """One for each policy, so that rows share stages."""
    settings = SETTINGS.replace({"mlp.epochs": 1, "pretraining.epochs": 1})
    return make_trainer(validation_data=VALIDATION, settings=settings)


def computing_types(model: keras.Model) -> set[str]:
    """In what the layers with kernels compute, the one that outputs left out."""
    layers = [layer for layer in model._flatten_layers() if hasattr(layer, "kernel")]
    return {layer.compute_dtype for layer in layers[:-1]}


@pytest.mark.usefixtures("run_eagerly", "policy")
class TestRows(TestCase):
    def check(self, model: keras.Model, x: np.ndarray) -> None:
        outputs = model(x)
        assert keras.backend.standardize_dtype(outputs.dtype) == "float32"
        self.assertFinite(outputs)
        self.assertFinite(model.get_weights())
        assert csdl.decide(model, x).max() < 10

    @pytest.mark.parametrize("name", ROWS)
    def test_costs_of_a_million(self, name, policy):
        ensemble = 2 if name == "ensemble_bayes" else None
        model = trainer_of(policy).train(name, MATRIX, ensemble=ensemble).model
        self.check(model, DATA.x_test)
        assert policy.removeprefix("mixed_") in computing_types(model)
        if ALGORITHMS[name].prediction == "bayes":
            assert 1e3 < to_numpy(model(DATA.x_test)).max() < LARGEST

    def test_members_of_a_table(self):
        x_val = DATA.x_val.reshape(len(DATA.x_val), -1)
        trainer = csdl.Trainer(FLAT, DATA.y_train, (x_val, DATA.y_val), SETTINGS, seed=0)
        self.check(trainer.train("ensemble_bayes", MATRIX, ensemble=2).model, x_val)

    @pytest.mark.parametrize("name", ["csdnn", "cnn_sosr", "cost_model"])
    def test_costs_of_examples(self, name):
        self.check(make_trainer(costs=COSTS).train(name).model, DATA.x_test)


class TestAlone(TestCase):
    @pytest.mark.parametrize("reconstruction", ["cross_entropy", "squared_error"])
    def test_pretraining(self, policy, reconstruction, run_eagerly):
        model = csdl.models.mlp((64,), 10, (12, 8), output="cost", seed=0)
        before = model.get_weights()
        histories = csdl.pretrain(
            model,
            FLAT,
            costs=COSTS,
            cost_scale=1 / LARGEST,
            beta=0.25,
            epochs=2,
            reconstruction=reconstruction,
            seed=0,
            verbose=0,
        )
        for history in histories:
            assert all(np.isfinite(values).all() for values in history.history.values())
        self.assertFinite(model.get_weights())
        for layer, index in ((1, 0), (2, 2)):
            assert np.any(model.get_weights()[index] != before[index]), layer

    @pytest.mark.slow
    @pytest.mark.parametrize("loss_class", [csdl.SOSRLoss, csdl.losses.PoissonCostLoss])
    def test_learns_as_in_float32(self, policy, loss_class):
        def trained() -> tuple[keras.Model, list[float]]:
            keras.utils.set_random_seed(0)
            model = csdl.models.mlp((64,), 10, (20,), output="cost", seed=0)
            metrics = [csdl.metrics.AverageCost(MATRIX)]
            loss = loss_class(MATRIX, cost_scale=1 / LARGEST)
            model.compile(keras.optimizers.Adam(0.01), loss=loss, metrics=metrics)
            history = model.fit(FLAT, DATA.y_train, epochs=12, batch_size=20, verbose=0).history
            return model, history["average_cost"]

        model, mixed = trained()
        assert computing_types(model) == {policy.removeprefix("mixed_")}
        with dtype_policy("float32"):
            _, whole = trained()
        assert mixed[-1] < 0.7 * mixed[0]
        assert abs(mixed[-1] - whole[-1]) < 0.15 * whole[0]
