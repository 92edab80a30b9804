"""Algorithms from end to end, on scikit-learn's digits and tiny networks."""

import random

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.fitting.stage_cache import StageCache
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.algorithms import ALGORITHMS, get_algorithm
from csdl_keras.training.train import train
from tests.support.eager import eager_models
from tests.support.trainers import (
    DATA,
    LONGER,
    MATRICES,
    SETTINGS,
    VALIDATION,
    Counter,
    make_trainer,
)
from tests.support.weights import assert_same_weights

pytestmark = pytest.mark.usefixtures("run_module_eagerly")


def cost_of(model, x, y, matrix):
    return matrix[y, csdl.decide(model, x)].mean()


@pytest.fixture(scope="module")
def table():
    """Every row for the first matrix, then some for the second; fits that each one took."""
    counter = Counter()
    trainer = make_trainer(callbacks=[counter])
    trained, fits = {}, {}
    second = ["dnn_blind", "dnn_bayes", "sdae_bayes", "cnn_bayes", "sdae_sosr", "csdnn"]
    with eager_models():
        for index, names in enumerate(([*ALGORITHMS], second)):
            for name in names:
                before = counter.fits
                trained[name, index] = trainer.train(name, MATRICES[index])
                fits[name, index] = counter.fits - before
    return trained, fits


class TestTable:
    @pytest.mark.parametrize("name", [*ALGORITHMS])
    def test_every_row_decides(self, table, name):
        model = table[0][name, 0].model
        decisions = csdl.decide(model, DATA.x_test)
        assert decisions.shape == DATA.y_test.shape
        assert set(decisions) <= set(range(10))
        if name == "csosr":
            cost = MATRICES[0][DATA.y_test, decisions].mean()
            assert cost < 0.2 * MATRICES[0][DATA.y_test].mean(axis=0).min()
            return
        outputs = model.predict(DATA.x_test, verbose=0)
        blind = get_algorithm(name).prediction == "argmax"
        best = outputs.argmax(axis=1) if blind else outputs.argmin(axis=1)
        np.testing.assert_array_equal(decisions, best)

    def test_shared_stages_run_once(self, table):
        fits = table[1]
        first = {
            "dnn_blind": 1,
            "sdae_blind": 2,
            "cnn_blind": 1,
            "csosr": 0,
            "min": 1,
            "dnn_bayes": 0,
            "sdae_bayes": 0,
            "seae_bayes": 2,
            "scae_bayes": 2,
            "cnn_bayes": 0,
            "dnn_sosr": 1,
            "sdae_sosr": 1,
            "seae_sosr": 1,
            "csdnn": 1,
            "cnn_sosr": 1,
            "calibrated_bayes": 1,
            "ensemble_bayes": 4,
            "cost_model": 1,
            "dnn_weighted": 1,
            "cnn_weighted": 1,
        }
        second = {
            "dnn_blind": 0,
            "dnn_bayes": 0,
            "sdae_bayes": 0,
            "cnn_bayes": 0,
            "sdae_sosr": 1,
            "csdnn": 2,
        }
        assert {name: count for (name, index), count in fits.items() if index == 0} == first
        assert {name: count for (name, index), count in fits.items() if index == 1} == second

    @pytest.mark.parametrize("name,index", [("csdnn", 0), ("sdae_bayes", 1)])
    def test_a_row_alone_is_the_same(self, table, name, index):
        with eager_models():  # a compiled model rounds in another order
            alone = make_trainer().train(name, MATRICES[index])
        assert_same_weights(alone.model, table[0][name, index].model)

    def test_bayes_rows_are_blind_networks_that_decide_by_the_matrix(self, table):
        blind = table[0]["dnn_blind", 0].model.predict(DATA.x_test, verbose=0)
        for index, matrix in enumerate(MATRICES):
            costs = table[0]["dnn_bayes", index].model.predict(DATA.x_test, verbose=0)
            np.testing.assert_allclose(costs, blind @ matrix, rtol=1e-4, atol=1e-5)

    def test_pretraining_makes_a_difference(self, table):
        kernels = [
            table[0][name, 0].model.get_weights()[0]
            for name in ("dnn_sosr", "sdae_sosr", "seae_sosr", "csdnn")
        ]
        for i, kernel in enumerate(kernels):
            for other in kernels[:i]:
                assert np.abs(kernel - other).max() > 1e-4

    def test_seconds_count_shared_stages_in_full(self, table):
        seconds = {row: trained.seconds for row, trained in table[0].items()}
        assert seconds["dnn_bayes", 0] == seconds["dnn_blind", 0] > 0
        assert seconds["sdae_bayes", 1] == seconds["sdae_blind", 0] > 0

    def test_a_row_of_ones_own(self, table):
        mine = Algorithm("mine", "Mine", "mlp", "none", "sosr", "argmin")
        with eager_models():
            own = make_trainer().train(mine, MATRICES[0])
        assert_same_weights(own.model, table[0]["dnn_sosr", 0].model)


class TestOptions:
    """Each option of the settings reaches the stage that it is for, and no other."""

    @pytest.mark.parametrize(
        ("change", "name", "stages"),
        [
            ({"hard_hinge": True}, "csdnn", ["training"]),
            ({"pretraining.tied_weights": True}, "csdnn", ["pretraining", "training"]),
            ({"pretraining.optimizer": "sgd"}, "sdae_bayes", ["pretraining", "training"]),
            ({"pretraining.learning_rate": 0.5}, "sdae_bayes", ["pretraining", "training"]),
            ({"pretraining.corruption": 0.5}, "sdae_bayes", ["pretraining", "training"]),
            ({"pretraining.beta": 0.5}, "csdnn", ["pretraining", "training"]),
            ({"mlp.momentum": 0.0}, "csdnn", ["training"]),
            ({"mlp.learning_rate": 0.01}, "csdnn", ["training"]),
            ({"cnn.variant": "full"}, "cnn_sosr", ["training"]),
            ({"cnn.learning_rate": 1e-5}, "cnn_sosr", ["training"]),
            ({"svm.penalty": 9.0}, "csosr", ["training"]),
            ({"svm.gamma_factor": 0.5}, "csosr", ["training"]),
            ({"auto.clipnorm": None}, "cost_model", ["training"]),
            ({"auto.clipnorm": None}, "calibrated_bayes", []),
            ({"hard_hinge": True}, "dnn_blind", []),
            ({"pretraining.beta": 0.5}, "sdae_bayes", []),
            ({"cnn.epochs": 5}, "csdnn", []),
            ({"mlp.epochs": 5}, "cnn_sosr", []),
        ],
        ids=str,
    )
    def test_what_an_option_changes(self, change, name, stages):
        trainer = make_trainer()
        before = trainer.stages(name, MATRICES[0])
        after = trainer.stages(name, MATRICES[0], SETTINGS.replace(change))
        assert [stage for stage in before if before[stage] != after[stage]] == stages

    @pytest.mark.parametrize(
        ("change", "name"),
        [
            ({"hard_hinge": True}, "dnn_sosr"),
            ({"pretraining.tied_weights": True}, "csdnn"),
            ({"pretraining.optimizer": "sgd"}, "csdnn"),
            ({"mlp.momentum": 0.0}, "dnn_sosr"),
            ({"auto.clipnorm": 1e-3}, "cost_model"),
        ],
        ids=str,
    )
    def test_the_network_is_another(self, change, name):
        trainer = make_trainer()
        weights = trainer.train(name, MATRICES[0]).model.get_weights()
        settings = SETTINGS.replace(change)
        others = trainer.train(name, MATRICES[0], settings).model.get_weights()
        assert np.abs(weights[0] - others[0]).max() > 1e-5

    def test_full_variant(self):
        settings = SETTINGS.replace({"cnn.variant": "full"})
        model = make_trainer(settings=settings).train("cnn_bayes", MATRICES[0]).model
        assert "norm1" in str([layer.name for layer in model._flatten_layers()])

    def test_beta_of_0_is_the_cost_blind_stage(self):
        """SEAE and CAE without costs share the stages of the SDAE."""
        trainer, settings = make_trainer(), SETTINGS.replace({"pretraining.beta": 0.0})
        sdae = trainer.stages("sdae_sosr", MATRICES[0])
        assert trainer.stages("csdnn", MATRICES[0], settings) == sdae
        assert trainer.stages("seae_sosr", MATRICES[0], settings) == sdae

    def test_weights_are_mean_costs_of_the_class(self):
        """A class whose mistakes cost ten times as much is taken for others less often."""
        matrix = np.ones((10, 10)) - np.eye(10)
        matrix[3] *= 30.0
        settings = LONGER.replace({"mlp.epochs": 3})
        trainer = make_trainer(settings=settings)
        blind, weighted = (
            csdl.decide(trainer.train(name, matrix).model, DATA.x_test) == 3
            for name in ("dnn_blind", "dnn_weighted")
        )
        assert weighted.sum() > blind.sum()

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("hard_hinge", 1),
            ("pretraining.tied_weights", "yes"),
            ("pretraining.optimizer", "lion"),
            ("cnn.variant", "quickest"),
            ("mlp.momentum", 1.5),
            ("svm.penalty", 0.0),
            ("svm.gamma_factor", -1.0),
            ("mlp.epochs", 0),
            ("pretraining.beta", 2.0),
            ("mlp.learning_rate", 0.0),
            ("auto.clipnorm", 0.0),
        ],
    )
    def test_values_out_of_range(self, field, value):
        name = field.rpartition(".")[2]
        with pytest.raises(ValueError, match=f"Expected `{name}`.*received {value!r}"):
            csdl.Settings().replace({field: value})

    @pytest.mark.parametrize("name", ["beta", "mlp.beta", "rnn.epochs", "mlp.epochs.a", ""])
    def test_unknown_choices(self, name):
        with pytest.raises(ValueError, match=f"the name of a choice.*received {name!r}"):
            csdl.Settings().replace({name: 1})

    def test_parts_are_of_their_class(self):
        with pytest.raises(ValueError, match="Expected `mlp` to be an instance of MLP; received 3"):
            csdl.Settings(mlp=3)


class TestCache:
    def test_stages_outlive_the_trainer(self, tmp_path):
        counter = Counter()
        first, second = (
            make_trainer(cache=StageCache(tmp_path), callbacks=[counter]).train(
                "sdae_bayes", MATRICES[0]
            )
            for _ in range(2)
        )
        assert counter.fits == 2  # pre-training and training, once
        assert (first.seconds, first.epochs) == (second.seconds, second.epochs)
        assert_same_weights(first.model, second.model)

    @pytest.mark.parametrize(
        "change", ["data", "validation", "seed", "settings", "policy", "matrix"]
    )
    def test_what_is_found_is_what_would_be_trained(self, tmp_path, change):
        trainer = make_trainer(cache=StageCache(tmp_path), validation_data=VALIDATION)
        before = trainer.stages("csdnn", MATRICES[0])
        kwargs = {"cache": StageCache(tmp_path), "validation_data": VALIDATION}
        matrix, policy = MATRICES[0], keras.config.dtype_policy()
        if change == "validation":
            kwargs["validation_data"] = None
        elif change == "seed":
            kwargs["seed"] = 1
        elif change == "settings":
            kwargs["settings"] = SETTINGS.replace({"pretraining.corruption": 0.5})
        elif change == "matrix":
            matrix = MATRICES[1]
        try:
            if change == "policy":
                keras.config.set_dtype_policy("mixed_bfloat16")
            other = make_trainer(**kwargs)
            if change == "data":
                inputs = changed(DATA.x_train, 0, 0.5)
                other = csdl.Trainer(inputs, DATA.y_train, settings=SETTINGS, seed=0, **kwargs)
            after = other.stages("csdnn", matrix)
        finally:
            keras.config.set_dtype_policy(policy)
        cache = StageCache(tmp_path)
        assert all(cache.key(before[name]) != cache.key(after[name]) for name in before)

    def test_a_cache_needs_a_seed(self, tmp_path):
        with pytest.raises(ValueError, match="Expected a `seed` with a `cache`"):
            make_trainer(cache=StageCache(tmp_path), seed=None)

    def test_unknown_stage(self):
        with pytest.raises(ValueError, match="one of .'pretraining', 'training'.; received 'all'"):
            make_trainer().run_stage("all", "csdnn", MATRICES[0])

    def test_a_row_without_pretraining(self):
        assert make_trainer().run_stage("pretraining", "dnn_sosr", MATRICES[0]) is None


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
    def run(self, validation_data, settings=LONGER, callbacks=()):
        kwargs = {"validation_data": validation_data, "callbacks": callbacks}
        return make_trainer(settings=settings, **kwargs).train("dnn_sosr", MATRICES[0])

    def test_keeps_the_epoch_of_the_lowest_validation_cost(self):
        spoiler = Spoiler()
        trained = self.run(VALIDATION, callbacks=[spoiler])
        best = int(np.argmin(spoiler.costs))
        assert best < 4
        assert trained.epochs == len(spoiler.costs) == best + 1 + 3
        cost = cost_of(trained.model, *VALIDATION, MATRICES[0])
        assert cost == pytest.approx(min(spoiler.costs), rel=1e-5)
        assert cost < spoiler.costs[-1]

    def test_without_validation_data_all_epochs_are_trained(self):
        assert self.run(None).epochs == 9

    def test_small_sets_are_trained_for_more_epochs(self):
        steps = -(-len(DATA.y_train) // 10)
        settings = LONGER.replace(
            {"mlp.epochs": 2, "mlp.min_steps": 3 * steps, "cnn.min_steps": 3 * steps}
        )
        assert self.run(None, settings).epochs == 4


def changed(values, index, value):
    copy = np.array(values)
    copy[index] = value
    return copy


class TestArguments:
    @pytest.mark.parametrize(
        "arguments,match",
        [
            ({"algorithm": "dnn"}, "'dnn_blind'.*'csdnn'.*received 'dnn'"),
            ({"y": changed(DATA.y_train, 0, 10)}, "below 10, the number of classes.*received 10"),
            ({"y": changed(DATA.y_train, 0, -1)}, "at least 0"),
            ({"y": DATA.y_train[:-1]}, "`x` with a row for each of 199 labels"),
            ({"y": DATA.y_train / 1.0}, "integer dtype"),
            ({"cost_matrix": MATRICES[0][:, :9]}, "Expected `cost_matrix` of shape"),
            ({"cost_matrix": MATRICES[0][:9]}, "below 9, the number of classes"),
            ({"cost_matrix": -MATRICES[0]}, "at least 0"),
            ({"cost_matrix": MATRICES[0][:9, :9]}, "below 9, the number of classes"),
            ({"cost_matrix": 0 * MATRICES[0]}, "an entry above 0; received all zeros"),
            ({"x": DATA.x_train.astype(str)}, "Expected `x` to hold real numbers"),
            ({"x": changed(DATA.x_train, 0, np.nan)}, "entry of `x` to be finite"),
            ({"validation_data": (DATA.x_val[:, :4], DATA.y_val)}, "Expected validation inputs"),
            ({"validation_data": (DATA.x_val, DATA.y_val[1:])}, "Expected `validation_data`"),
            ({"validation_data": (DATA.x_val, DATA.y_val + 9)}, "below 10"),
            ({"seed": -1}, "Expected `seed`"),
            ({"algorithm": "cnn_sosr", "x": DATA.x_train.reshape(-1, 64)}, "3 sizes"),
            ({"algorithm": "csdnn", "x": 255 * DATA.x_train}, r"to lie in \[0, 1\]"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_what_is_refused_before_anything_is_trained(self, monkeypatch, arguments, match):
        fits = []
        monkeypatch.setattr(keras.Model, "fit", lambda *args, **kwargs: fits.append(args))
        valid = {
            "algorithm": "dnn_sosr",
            "x": DATA.x_train,
            "y": DATA.y_train,
            "cost_matrix": MATRICES[0],
            "settings": SETTINGS,
        }
        with pytest.raises(ValueError, match=match):
            train(**{**valid, **arguments})
        assert not fits


class TestTrain:
    @pytest.mark.parametrize("name", ["csdnn", "sdae_bayes"])
    def test_the_model_can_be_saved(self, tmp_path, name):
        model = train(name, DATA.x_train, DATA.y_train, MATRICES[0], settings=SETTINGS, seed=0)
        model.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        np.testing.assert_array_equal(
            csdl.decide(loaded, DATA.x_test), csdl.decide(model, DATA.x_test)
        )

    def test_without_a_seed_it_follows_the_global_one(self):
        def run():
            return train("dnn_sosr", DATA.x_train, DATA.y_train, MATRICES[0], settings=SETTINGS)

        keras.utils.set_random_seed(5)
        first, second = run(), run()
        keras.utils.set_random_seed(5)
        assert_same_weights(first, run())
        assert np.abs(first.get_weights()[0] - second.get_weights()[0]).max() > 1e-3

    def test_only_a_seed_resets_the_global_state(self):
        draws = []
        for seed in (None, 7):
            random.seed(1)
            train("dnn_blind", DATA.x_train, DATA.y_train, MATRICES[0], None, SETTINGS, seed)
            draws.append(random.random())
        assert draws[0] != draws[1]
        random.seed(7)

    def test_it_learns(self):
        settings = LONGER.replace({"mlp.epochs": 20, "mlp.patience": 20, "cnn.patience": 20})
        model = train("dnn_sosr", DATA.x_train, DATA.y_train, MATRICES[0], VALIDATION, settings, 0)
        cost = cost_of(model, DATA.x_test, DATA.y_test, MATRICES[0])
        constant = MATRICES[0][DATA.y_test].mean(axis=0).min()
        assert cost < 0.5 * constant
