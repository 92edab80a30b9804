"""Tests of decisions that are no class: which rows price them, and which refuse at once."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.training.algorithm import Algorithm
from tests.support.trainers import DATA, MATRICES, VALIDATION, Counter, make_trainer

ABSTAIN = csdl.costs.with_abstain(MATRICES[0], price=0.01)
PRICED = ["dnn_bayes", "sdae_bayes", "seae_bayes", "cnn_bayes", "calibrated_bayes", "cost_model"]
REFUSED = ["csosr", "min", "dnn_sosr", "csdnn", "scae_bayes", "dnn_weighted"]
LINKED = Algorithm("linked", "Linked", "mlp", "none", "poisson", "argmin")
# What a decision is worth does not depend on there being as many of them as classes.
FEWER = np.abs(np.random.default_rng(0).normal(size=(10, 4)))


class TestMatrices:
    @pytest.mark.parametrize("row", [*PRICED, LINKED])
    def test_a_cheap_decision_is_taken(self, row, run_eagerly):
        trainer = make_trainer(validation_data=VALIDATION)
        model = trainer.train(row, ABSTAIN).model
        decided = csdl.decide(model, DATA.x_test)
        assert decided.max() <= 10
        # After a few steps no network is sure enough to forgo a decision that is nearly free,
        # unless it estimates all costs from scratch.
        assert row is LINKED or np.mean(decided == 10) > 0.5

    @pytest.mark.parametrize("name", REFUSED)
    def test_refused_before_training(self, name):
        counter = Counter()
        trainer = make_trainer(callbacks=[counter])
        with pytest.raises(ValueError, match="such as to abstain.*10 classes and 11 decisions"):
            trainer.train(name, ABSTAIN)
        assert counter.fits == 0


class TestCostsOfExamples:
    NOISE = np.random.default_rng(0).uniform(0.5, 1.5, size=(len(DATA.y_train), 1))

    @pytest.mark.parametrize("row", ["dnn_bayes", "cost_model", LINKED])
    @pytest.mark.parametrize("matrix", [ABSTAIN, FEWER], ids=["more", "fewer"])
    def test_any_number_of_decisions(self, row, matrix, run_eagerly):
        trainer = make_trainer(costs=matrix[DATA.y_train] * self.NOISE)
        outputs = trainer.train(row).model.predict(DATA.x_test, verbose=0)
        assert outputs.shape == (len(DATA.x_test), matrix.shape[1])

    @pytest.mark.parametrize("name", REFUSED)
    def test_refused_before_training(self, name):
        counter = Counter()
        trainer = make_trainer(costs=ABSTAIN[DATA.y_train] * self.NOISE, callbacks=[counter])
        with pytest.raises(ValueError, match="such as to abstain"):
            trainer.train(name)
        assert counter.fits == 0

    @pytest.mark.parametrize("name", ["min", "dnn_blind"])
    def test_rows_that_decide_for_classes(self, name):
        trainer = make_trainer(costs=FEWER[DATA.y_train] * self.NOISE)
        with pytest.raises(ValueError, match="10 classes and 4 decisions"):
            trainer.train(name)

    def test_another_decision_may_be_the_cheapest_of_a_class(self, run_eagerly):
        """Sending an offer to everybody may pay even where it is not accepted."""
        matrix = csdl.costs.zero_one(10)
        matrix[3, [3, 5]] = [2.0, 0.0]
        trainer = make_trainer(costs=matrix[DATA.y_train])
        model = trainer.train("dnn_bayes").model
        layer = model.get_layer("bayes_decision")
        np.testing.assert_allclose(layer.cost_matrix, matrix, rtol=1e-6)
        with pytest.raises(ValueError, match="right decisions are on average the cheapest"):
            trainer.train("dnn_weighted")


class TestDefaultRows:
    @pytest.mark.parametrize("name", ["calibrated_bayes", "cost_model"])
    def test_nothing_to_calibrate_on(self, name, run_eagerly):
        with pytest.warns(UserWarning, match="there is none"):
            make_trainer().train(name, MATRICES[0])

    def test_one_step_of_training(self):
        settings = csdl.Settings().limit_epochs(1)
        csdl.train(
            "calibrated_bayes",
            DATA.x_train[:40],
            DATA.y_train[:40] % 2,
            1 - np.eye(2),
            VALIDATION[:1] + (VALIDATION[1] % 2,),
            settings=settings,
            seed=0,
        )

    @pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
    def test_large_numbers_in_mixed_precision(self, policy):
        x = np.random.default_rng(0).normal(size=(60, 3)) * [1e6, 1, 1] + [0, 2000, 0]
        keras.config.set_dtype_policy(policy)
        try:
            model = csdl.models.tabular(x, 3, seed=0)
        finally:
            keras.config.set_dtype_policy("float32")
        outputs = model.predict(x.astype("float32"), verbose=0)
        assert np.isfinite(outputs).all() and outputs.std(axis=0).min() > 1e-3

    def test_processes_compute_with_the_policy_of_this_one(self):
        weights = []
        for policy, jobs in (("float32", 1), ("mixed_bfloat16", 2)):
            keras.config.set_dtype_policy(policy)
            try:
                trainer = make_trainer(jobs=jobs)
                requests = [("dnn_bayes", MATRICES[0]), ("dnn_sosr", MATRICES[0])]
                models = dict(trainer.train_all(requests))
            finally:
                keras.config.set_dtype_policy("float32")
            weights.append(models[0].model.get_weights()[0])
        # Further from float32 than processes are from this one.
        assert np.abs(weights[0] - weights[1]).max() > 1e-5
