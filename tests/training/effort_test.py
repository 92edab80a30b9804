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


def test_few_examples_are_seen_more_often():
    body, images, rows = AutoNetwork(min_steps=700), (90, 8, 8, 1), (1700, 4)
    assert (body.batch_on(images), body.epochs_on(images), body.passes_on(images)) == (100, 700, 1)
    assert (body.batch_on(rows), body.epochs_on(rows), body.passes_on(rows)) == (200, 30, 3)
    assert (body.steps_on(images), body.steps_on(rows)) == (700, 780)
    assert body.passes_on(IMAGES) == 1 and body.epochs_on(IMAGES) == 20
    assert body.patience_on(TABLES) == 15 and AutoNetwork(patience=5).patience_on(TABLES) == 5


def learning_rate(body, shape):
    config = body.optimizer(shape, on_costs=False).get_config()
    return keras.optimizers.schedules.deserialize(config["learning_rate"])


def test_rates_of_tables_fall_to_zero_four_times():
    body, shape = AutoNetwork(), (6800, 4)
    steps = body.steps_on(shape)
    rate = learning_rate(body, shape)
    found = [float(rate(step)) for step in range(steps)]
    starts = [step for step in range(1, steps) if found[step] > 2 * found[step - 1]]
    np.testing.assert_allclose(starts, steps * np.array([1, 3, 7]) / 15, atol=1)
    assert max(found) == pytest.approx(5e-3) and all(found[it - 1] < 1e-4 for it in starts)


@pytest.mark.parametrize("epochs", [1, 20])
def test_the_rate_of_images_rises_for_a_twentieth_and_falls_to_zero(epochs):
    body, shape = AutoNetwork(epochs=epochs, min_steps=1), (1000, 8, 8, 1)
    rate, steps = learning_rate(body, shape), body.steps_on(shape)
    warmup = max(1, steps // 20)
    expected = [5 * 3e-3 * (it + 1) / warmup for it in range(warmup)]
    expected += [5 * 3e-3 * (steps - it) / (steps - warmup) for it in range(warmup, steps)]
    np.testing.assert_allclose([float(rate(it)) for it in range(steps)], expected, rtol=1e-5)


def test_a_trained_network_averages_views_and_is_calibrated(tmp_path, run_eagerly):
    for name in ("calibrated_bayes", "cost_model"):
        trainer = make_trainer(validation_data=VALIDATION)
        model = trainer.train(name, MATRICES[0], effort="quick").model
        assert {ViewMean, TemperatureScaling} <= {type(it) for it in model._flatten_layers()}
        model.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        expected = csdl.decide(model, DATA.x_test)
        np.testing.assert_array_equal(csdl.decide(loaded, DATA.x_test), expected)
