"""Algorithms from end to end, on scikit-learn's digits and tiny networks."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.algorithms import ALGORITHMS
from tests.support.testing import dtype_policy
from tests.support.trainers import (
    DATA,
    LONGER,
    MATRICES,
    SETTINGS,
    VALIDATION,
    Counter,
    make_trainer,
    outputs,
)
from tests.support.weights import assert_same_weights

pytestmark = pytest.mark.usefixtures("run_module_eagerly")

#: Calls of `fit` of each algorithm, trained in the order of the table for the first matrix.
FITS = dict(
    zip(ALGORITHMS, (1, 2, 1, 0, 1, 0, 0, 2, 2, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), strict=True)
)
#: The same for the second matrix.
FITS_AGAIN = {"dnn_blind": 0, "dnn_bayes": 0, "sdae_bayes": 0, "sdae_sosr": 1, "csdnn": 2}


@pytest.fixture(scope="module")
def table(run_module_eagerly):
    """Every algorithm for the first matrix, then some for the second; fits that each one took."""
    counter = Counter()
    trainer = make_trainer(callbacks=[counter])
    trained, fits = {}, ({}, {})
    for index, names in enumerate((ALGORITHMS, FITS_AGAIN)):
        for name in names:
            before = counter.fits
            ensemble = 2 if name == "ensemble_bayes" else None
            trained[name, index] = trainer.train(name, MATRICES[index], ensemble=ensemble)
            fits[index][name] = counter.fits - before
    return trained, fits


class TestTable:
    @pytest.mark.parametrize("name", ALGORITHMS)
    def test_every_algorithm_decides(self, table, name):
        model = table[0][name, 0].model
        decisions = csdl.decide(model, DATA.x_test)
        assert decisions.shape == DATA.y_test.shape
        if name == "csosr":
            cost = MATRICES[0][DATA.y_test, decisions].mean()
            assert cost < 0.2 * MATRICES[0][DATA.y_test].mean(axis=0).min()
            return
        blind = ALGORITHMS[name].prediction == "argmax"
        found = outputs(model) if blind else -outputs(model)
        np.testing.assert_array_equal(decisions, found.argmax(axis=1))

    def test_shared_stages_run_once(self, table):
        assert table[1] == (FITS, FITS_AGAIN)
        seconds = {key: trained.seconds for key, trained in table[0].items()}
        assert seconds["dnn_bayes", 0] == seconds["dnn_blind", 0] > 0
        assert seconds["sdae_bayes", 1] == seconds["sdae_blind", 0] > 0

    def test_alone_it_is_the_same(self, table):
        alone = make_trainer().train("csdnn", MATRICES[0])
        assert_same_weights(alone.model, table[0]["csdnn", 0].model)
        mine = Algorithm("mine", "Mine", "mlp", "none", "sosr", "argmin")
        own = make_trainer().train(mine, MATRICES[0])
        assert_same_weights(own.model, table[0]["dnn_sosr", 0].model)

    def test_bayes_algorithms_are_blind_networks_that_decide_by_the_matrix(self, table):
        blind = outputs(table[0]["dnn_blind", 0].model)
        for index, matrix in enumerate(MATRICES):
            costs = outputs(table[0]["dnn_bayes", index].model)
            np.testing.assert_allclose(costs, blind @ matrix, rtol=1e-4, atol=1e-5)

    def test_pretraining_makes_a_difference(self, table):
        names = ("dnn_sosr", "sdae_sosr", "seae_sosr", "csdnn")
        kernels = [table[0][name, 0].model.get_weights()[0] for name in names]
        for i, kernel in enumerate(kernels):
            for other in kernels[:i]:
                assert np.abs(kernel - other).max() > 1e-4


BOTH = ["pretraining", "training"]


class TestOptions:
    """Each option of the settings reaches the stage that it is for, and no other."""

    @pytest.mark.parametrize(
        ("change", "name", "stages"),
        [
            ({"hard_hinge": True}, "csdnn", ["training"]),
            ({"pretraining.optimizer": "sgd"}, "sdae_bayes", BOTH),
            ({"pretraining.beta": 0.5}, "csdnn", BOTH),
            ({"mlp.momentum": 0.0}, "csdnn", ["training"]),
            ({"auto.clipnorm": None}, "cost_model", ["training"]),
            ({"auto.clipnorm": None}, "calibrated_bayes", []),
            ({"hard_hinge": True}, "dnn_blind", []),
            ({"pretraining.beta": 0.5}, "sdae_bayes", []),
            ({"cnn.epochs": 5}, "csdnn", []),
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
            ({"cnn.variant": "full"}, "cnn_bayes"),
            ({"auto.clipnorm": 1e-3}, "cost_model"),
        ],
        ids=str,
    )
    def test_the_network_is_another(self, table, change, name):
        others = make_trainer(settings=SETTINGS.replace(change)).train(name, MATRICES[0]).model
        weights = table[0][name, 0].model.get_weights()
        assert np.abs(weights[0] - others.get_weights()[0]).max() > 1e-5

    def test_beta_of_0_is_the_cost_blind_stage(self):
        """SEAE and CAE without costs share the stages of the SDAE."""
        trainer, settings = make_trainer(), SETTINGS.replace({"pretraining.beta": 0.0})
        sdae = trainer.stages("sdae_sosr", MATRICES[0])
        assert trainer.stages("csdnn", MATRICES[0], settings) == sdae
        assert trainer.stages("seae_sosr", MATRICES[0], settings) == sdae

    def test_weights_are_mean_costs_of_the_class(self):
        """A class whose mistakes cost 30 times as much is taken for others less often."""
        matrix = csdl.costs.zero_one(10)
        matrix[3] *= 30.0
        trainer = make_trainer(settings=LONGER.replace({"mlp.epochs": 3}))
        blind, weighted = (
            csdl.decide(trainer.train(name, matrix).model, DATA.x_test) == 3
            for name in ("dnn_blind", "dnn_weighted")
        )
        assert weighted.sum() > blind.sum()

    @pytest.mark.parametrize("name", ["beta", "mlp.beta", "rnn.epochs", "mlp.epochs.a", ""])
    def test_unknown_choices(self, name):
        with pytest.raises(ValueError, match=f"the name of a choice.*received {name!r}"):
            csdl.Settings().replace({name: 1})

    def test_choices_that_do_not_fit(self):
        with pytest.raises(ValueError, match="Expected `mlp` to be an instance of MLP; received 3"):
            csdl.Settings(mlp=3)
        with pytest.raises(ValueError, match="Expected `momentum` .* received 1.5"):
            csdl.Settings().replace({"mlp.momentum": 1.5})


class TestCache:
    def test_stages_outlive_the_trainer(self, tmp_path):
        counter, caches = Counter(), [csdl.StageCache(tmp_path) for _ in range(2)]
        first, second = (
            make_trainer(cache=cache, callbacks=[counter]).train("csdnn", MATRICES[0])
            for cache in caches
        )
        assert counter.fits == 2  # pre-training and training, once
        assert (first.seconds, first.epochs) == (second.seconds, second.epochs)
        assert_same_weights(first.model, second.model)

    def test_another_policy_is_another_stage(self):
        before = make_trainer().stages("csdnn", MATRICES[0])
        with dtype_policy("mixed_bfloat16"):
            after = make_trainer().stages("csdnn", MATRICES[0])
        assert all(before[name] != after[name] for name in BOTH)

    def test_what_it_refuses(self, tmp_path):
        with pytest.raises(ValueError, match="Expected a `seed` with a `cache`"):
            make_trainer(cache=csdl.StageCache(tmp_path), seed=None)
        with pytest.raises(ValueError, match="one of .'pretraining', 'training'.; received 'all'"):
            make_trainer().run_stage("all", "csdnn", MATRICES[0])
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
