"""Efforts, and the number of networks that they and other choices lead to."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.layers import TemperatureScaling, ViewMean
from csdl_keras.training import EFFORTS, AutoNetwork
from csdl_keras.training.algorithms import get_algorithm
from tests.support.trainers import DATA, MATRICES, VALIDATION, make_trainer

IMAGES, TABLES = (60_000, 28, 28, 1), (1000, 5)


@pytest.mark.parametrize("shape", [IMAGES, (60_000, 32, 32, 3), TABLES], ids=str)
def test_a_higher_effort_trains_no_less(shape):
    def work(effort):
        body = AutoNetwork(effort=effort)
        width = body.build(np.zeros((1, *shape[1:])), 3, "probability", 0).count_params()
        return body.networks_on(shape) * body.epochs_on(shape) * (width if len(shape) == 4 else 1)

    amounts = [work(effort) for effort in EFFORTS]
    assert amounts == sorted(set(amounts))


@pytest.mark.parametrize(
    ("name", "effort", "members", "shape", "expected"),
    [
        ("calibrated_bayes", None, None, IMAGES, 1),
        ("calibrated_bayes", "balanced", None, IMAGES, 2),
        ("calibrated_bayes", "balanced", 3, IMAGES, 3),
        ("ensemble_bayes", None, None, TABLES, 5),
        ("ensemble_bayes", "best", None, TABLES, 10),
        ("csdnn", "balanced", None, TABLES, 5),
        ("csosr", "best", 3, TABLES, 1),
    ],
)
def test_number_of_networks(name, effort, members, shape, expected):
    algorithm = get_algorithm(name, effort)
    assert csdl.Settings(members=members).with_members(algorithm, shape).members == expected


@pytest.mark.parametrize(
    ("shape", "expected"), [(IMAGES, 5), (TABLES, 10), ((100, 8, 8, 1), 125)], ids=str
)
def test_patience_is_stretched_as_epochs_are(shape, expected):
    body = AutoNetwork(patience=5)
    assert body.patience_on(shape) == expected
    assert AutoNetwork().patience_on(shape) == body.epochs_on(shape)


def test_a_trained_network_averages_views_and_is_calibrated(tmp_path, run_eagerly):
    for name in ("calibrated_bayes", "cost_model"):
        trainer = make_trainer(validation_data=VALIDATION)
        model = trainer.train(name, MATRICES[0], effort="quick").model
        assert {ViewMean, TemperatureScaling} <= {type(it) for it in model._flatten_layers()}
        model.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        expected = csdl.decide(model, DATA.x_test)
        np.testing.assert_array_equal(csdl.decide(loaded, DATA.x_test), expected)
