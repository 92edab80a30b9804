"""Tests of efforts and of a limit of minutes."""

import dataclasses
import time

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.layers import TemperatureScaling, ViewMean
from csdl_keras.sklearn import CostSensitiveClassifier
from csdl_keras.training import EFFORTS, AutoNetwork, budget
from csdl_keras.training.budget import Speed
from csdl_keras.training.data import Examples, TrainingData
from csdl_keras.training.recipes import recipes, with_members
from tests.support.trainers import DATA, MATRICES, SETTINGS, VALIDATION, Counter, make_trainer

IMAGES, TABLES = (60_000, 28, 28, 1), (1000, 5)
SLOW = Speed(start=1.0, step=1000.0)
FAST = Speed(start=0.1, step=1e-4)


def networks(model):
    return [layer for layer in model.layers if isinstance(layer, keras.Model)]


@pytest.mark.parametrize("shape", [IMAGES, (60_000, 32, 32, 3), TABLES], ids=str)
def test_a_higher_effort_trains_no_less(shape):
    def work(effort):
        body = AutoNetwork(effort=effort)
        images = len(shape) == 4
        width = body.build(np.zeros((1, *shape[1:])), 3, "probability", 0).count_params()
        return body.networks_on(shape) * body.epochs_on(shape) * (width if images else 1)

    amounts = [work(effort) for effort in EFFORTS]
    assert amounts == sorted(set(amounts))


@pytest.mark.parametrize(
    ("name", "effort", "shape", "expected"),
    [
        ("calibrated_bayes", None, IMAGES, 1),
        ("calibrated_bayes", "balanced", IMAGES, 2),
        ("ensemble_bayes", None, IMAGES, 2),
        ("ensemble_bayes", None, TABLES, 5),
        ("ensemble_bayes", "best", TABLES, 10),
        ("csdnn", None, TABLES, 1),
        ("csdnn", "balanced", TABLES, 5),
        ("csosr", None, TABLES, 1),
    ],
)
def test_number_of_networks(name, effort, shape, expected):
    algorithm = csdl.ALGORITHMS[name]
    if effort is not None:
        algorithm = dataclasses.replace(algorithm, effort=effort)
    assert with_members(algorithm, csdl.Settings(), shape).members == expected


def test_a_paper_algorithm_averages_networks_trained_as_always():
    single = make_trainer().train("dnn_blind", MATRICES[0]).model
    several = make_trainer().train("dnn_blind", MATRICES[0], effort="balanced").model
    assert len(networks(several)) == 5
    first = networks(several)[0].predict(DATA.x_test, verbose=0)
    np.testing.assert_array_equal(first, single.predict(DATA.x_test, verbose=0))


@pytest.mark.parametrize(
    ("shape", "expected"), [(IMAGES, 5), (TABLES, 10), ((100, 8, 8, 1), 125)], ids=str
)
def test_patience_is_stretched_as_epochs_are(shape, expected):
    body = AutoNetwork(patience=5)
    assert body.patience_on(shape) == expected
    assert AutoNetwork().patience_on(shape) == body.epochs_on(shape)


@pytest.mark.slow
def test_choices_of_settings_stay():
    settings = SETTINGS.replace({"auto.filters": (4, 6)})
    model = make_trainer(settings=settings).train("ensemble_bayes", MATRICES[0]).model
    kernels = [w.shape for w in model.weights if w.name == "kernel" and len(w.shape) == 4]
    assert {shape[3] for shape in kernels} == {4, 6}


@pytest.mark.parametrize(
    "name", ["calibrated_bayes", pytest.param("cost_model", marks=pytest.mark.slow)]
)
def test_a_trained_network_averages_views_and_is_calibrated(name, tmp_path):
    trainer = make_trainer(validation_data=VALIDATION)
    model = trainer.train(name, MATRICES[0], effort="quick").model
    kinds = {type(layer) for layer in model._flatten_layers()}
    assert {ViewMean, TemperatureScaling} <= kinds
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(csdl.decide(loaded, DATA.x_test), csdl.decide(model, DATA.x_test))


@pytest.mark.parametrize("effort", ["fast", 2])
def test_wrong_effort(effort):
    for call in (
        lambda: make_trainer().train("calibrated_bayes", MATRICES[0], effort=effort),
        lambda: csdl.Settings().replace({"auto.effort": effort}),
        lambda: CostSensitiveClassifier(effort=effort).fit(DATA.x_train, DATA.y_train),
    ):
        with pytest.raises(ValueError, match="received"):
            call()


@pytest.mark.parametrize("minutes", [0, -1, float("nan"), "2"])
def test_wrong_minutes(minutes):
    for call in (
        lambda: make_trainer().train("calibrated_bayes", MATRICES[0], minutes=minutes),
        lambda: CostSensitiveClassifier(minutes=minutes).fit(DATA.x_train, DATA.y_train),
    ):
        with pytest.raises(ValueError, match="received"):
            call()


@pytest.mark.parametrize("name", ["csdnn", "csosr"])
def test_minutes_of_what_is_not_timed(name):
    with pytest.raises(ValueError, match="without pre-training; received"):
        make_trainer().train(name, MATRICES[0], minutes=1)


class TestPlan:
    """What is planned for a measured speed."""

    def planned(self, monkeypatch, speed, minutes, validation=VALIDATION, **arguments):
        monkeypatch.setattr(budget, "measure", lambda *_: speed)
        trainer = make_trainer(
            settings=csdl.Settings(),
            validation_data=validation,
        )
        found = []

        def stop(stages, requests, *_):
            found.extend(requests[0])
            raise InterruptedError

        monkeypatch.setattr("csdl_keras.training.trainer.train_several", stop)
        with pytest.raises(InterruptedError):
            trainer.train("calibrated_bayes", MATRICES[0], minutes=minutes, **arguments)
        return found

    def test_a_fast_network_is_trained_at_the_best_effort_many_times(self, monkeypatch):
        recipes = self.planned(monkeypatch, FAST, 1)
        assert {recipe.body.effort for recipe in recipes} == {"best"} and len(recipes) > 4

    def test_no_more_than_the_effort(self, monkeypatch):
        recipes = self.planned(monkeypatch, FAST, 1, effort="quick")
        assert {recipe.body.effort for recipe in recipes} == {"quick"}

    def test_no_more_networks_than_asked_for(self, monkeypatch):
        assert len(self.planned(monkeypatch, FAST, 1, ensemble=2)) == 2

    @pytest.mark.parametrize(("minutes", "epochs"), [(1, 1), (10_000, 127)])
    def test_fewer_epochs_of_a_slow_network(self, monkeypatch, minutes, epochs):
        (recipe,) = self.planned(monkeypatch, SLOW, minutes)
        assert recipe.body.epochs_on(recipe.shape) == epochs

    @pytest.mark.parametrize(
        ("minutes", "timed", "effort"), [(0.1, 1, "quick"), (0.35, 2, "balanced"), (100, 2, "best")]
    )
    def test_a_wider_network_is_timed_where_it_may_fit(self, monkeypatch, minutes, timed, effort):
        widths = []

        def measured(recipe, data):
            widths.append(recipe.body.filters_on(recipe.shape))
            return Speed(start=2.0, step=0.002 * len(widths))

        monkeypatch.setattr(budget, "measure", measured)
        x, y = np.zeros((500, 20, 20, 1)), np.arange(500) % 3
        data = TrainingData(Examples(x, y), Examples(x, y))

        def make(algorithm, settings):
            return recipes(data, algorithm, 1 - np.eye(3), settings, {})

        chosen, _ = budget.recipes_in_time(
            make, csdl.ALGORITHMS["calibrated_bayes"], csdl.Settings(), data, minutes
        )
        assert widths == [EFFORTS[name].filters for name in ("quick", "balanced")[:timed]]
        assert {recipe.body.effort for recipe in chosen} == {effort}

    def test_without_validation_data_two_networks_calibrate_each_other(self, monkeypatch):
        recipes = self.planned(monkeypatch, SLOW, 1, validation=None)
        assert len(recipes) == 2 and all(recipe.folds == 5 for recipe in recipes)


class TestMinutes:
    @pytest.mark.slow
    def test_ends_in_time_with_a_calibrated_model(self):
        start = time.monotonic()
        counter = Counter()
        trainer = make_trainer(
            settings=csdl.Settings(), validation_data=VALIDATION, callbacks=[counter]
        )
        model = trainer.train("calibrated_bayes", MATRICES[0], minutes=0.25).model
        # Where the machine is busy, the step that is under way still ends.
        assert time.monotonic() - start < 60 and counter.fits >= 1
        kinds = {type(layer) for layer in model._flatten_layers()}
        assert TemperatureScaling in kinds and csdl.decide(model, DATA.x_test).shape == (540,)

    @pytest.mark.slow
    def test_networks_that_are_late_are_left_out(self, monkeypatch):
        monkeypatch.setattr(budget, "measure", lambda *_: FAST)
        monkeypatch.setattr(budget, "_MOST_NETWORKS", 3)
        ends = []

        class Late(keras.callbacks.Callback):
            def on_epoch_end(self, epoch, logs=None):
                ends.append(logs["minutes_left"])

            def on_train_end(self, logs=None):
                time.sleep(2.0)

        settings = csdl.Settings().replace({"auto.epochs": 1, "auto.min_steps": 1})
        trainer = make_trainer(settings=settings, callbacks=[Late()])
        model = trainer.train("calibrated_bayes", MATRICES[0], minutes=0.02).model
        assert len(ends) == 1 and ends[0] >= 0
        assert csdl.decide(model, DATA.x_test).shape == (540,)

    @pytest.mark.slow
    def test_results_are_no_stages_of_a_training_with_another_limit(self, monkeypatch):
        monkeypatch.setattr(budget, "measure", lambda *_: FAST)
        monkeypatch.setattr(budget, "_MOST_NETWORKS", 1)
        counter = Counter()
        trainer = make_trainer(validation_data=VALIDATION, callbacks=[counter])
        for minutes in (None, 1, None, 2, 1):
            trainer.train("calibrated_bayes", MATRICES[0], effort="quick", minutes=minutes)
        assert counter.fits == 3
