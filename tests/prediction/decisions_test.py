"""Decisions that are no class: algorithms that support them, and algorithms that refuse them."""

import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.training.algorithms import Algorithm
from tests.support.testing import dtype_policy
from tests.support.trainers import DATA, MATRICES, VALIDATION, Counter, make_trainer

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
ABSTAIN = csdl.costs.with_abstain(MATRICES[0], price=0.01)
REFUSED = ["csosr", "min", "dnn_sosr", "csdnn", "scae_bayes", "dnn_weighted"]
LINKED = Algorithm("linked", "Linked", "mlp", "none", "poisson", "argmin")
# What a decision is worth does not depend on there being as many of them as classes.
FEWER = np.abs(np.random.default_rng(0).normal(size=(10, 4)))
NOISE = np.random.default_rng(0).uniform(0.5, 1.5, size=(len(DATA.y_train), 1))


@pytest.mark.parametrize("algorithm", ["dnn_bayes", "calibrated_bayes", "cost_model", LINKED])
def test_a_cheap_decision_is_taken(algorithm):
    model = make_trainer(validation_data=VALIDATION).train(algorithm, ABSTAIN).model
    decided = csdl.decide(model, DATA.x_test)
    assert decided.max() <= 10
    # After a few steps no network is sure enough to forgo a decision that is nearly free,
    # unless it estimates all costs from scratch.
    assert algorithm is LINKED or np.mean(decided == 10) > 0.5


@pytest.mark.parametrize("name", REFUSED)
def test_refused_before_training(name):
    counter = Counter()
    with pytest.raises(ValueError, match="such as to abstain.*10 classes and 11 decisions"):
        make_trainer(callbacks=[counter]).train(name, ABSTAIN)
    with pytest.raises(ValueError, match="such as to abstain"):
        make_trainer(costs=ABSTAIN[DATA.y_train] * NOISE, callbacks=[counter]).train(name)
    assert counter.fits == 0


class TestCostsOfExamples:
    @pytest.mark.parametrize(
        "algorithm,matrix", [("dnn_bayes", FEWER), ("cost_model", ABSTAIN), (LINKED, FEWER)]
    )
    def test_any_number_of_decisions(self, algorithm, matrix):
        trainer = make_trainer(costs=matrix[DATA.y_train] * NOISE)
        outputs = trainer.train(algorithm).model.predict(DATA.x_test, verbose=0)
        assert outputs.shape == (len(DATA.x_test), matrix.shape[1])

    @pytest.mark.parametrize("name", ["min", "dnn_blind"])
    def test_algorithms_that_decide_for_classes(self, name):
        trainer = make_trainer(costs=FEWER[DATA.y_train] * NOISE)
        with pytest.raises(ValueError, match="10 classes and 4 decisions"):
            trainer.train(name)

    def test_another_decision_may_be_the_cheapest_of_a_class(self):
        """Sending an offer to everybody may pay even where it is not accepted."""
        matrix = csdl.costs.zero_one(10)
        matrix[3, [3, 5]] = [2.0, 0.0]
        trainer = make_trainer(costs=matrix[DATA.y_train])
        layer = trainer.train("dnn_bayes").model.get_layer("bayes_decision")
        np.testing.assert_allclose(layer.cost_matrix, matrix, rtol=1e-6)
        with pytest.raises(ValueError, match="right decisions are on average the cheapest"):
            trainer.train("dnn_weighted")


@pytest.mark.parametrize("name", ["calibrated_bayes", "cost_model"])
def test_nothing_to_calibrate_on(name):
    with pytest.warns(UserWarning, match="there is none"):
        make_trainer().train(name, MATRICES[0])


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_large_numbers_in_mixed_precision(policy):
    x = np.random.default_rng(0).normal(size=(60, 3)) * [1e6, 1, 1] + [0, 2000, 0]
    with dtype_policy(policy):
        model = csdl.models.tabular(x, 3, seed=0)
    outputs = model.predict(x.astype("float32"), verbose=0)
    assert np.isfinite(outputs).all() and outputs.std(axis=0).min() > 1e-3
