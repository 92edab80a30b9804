"""Decisions that are no class: algorithms that support them, and algorithms that refuse them."""

import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.training.algorithms import Algorithm
from tests.support.trainers import DATA, MATRICES, VALIDATION, make_trainer

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
ABSTAIN = csdl.costs.with_abstain(MATRICES[0], price=0.01)
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


class TestCostsOfExamples:
    @pytest.mark.parametrize(
        "algorithm,matrix", [("dnn_bayes", FEWER), ("cost_model", ABSTAIN), (LINKED, FEWER)]
    )
    def test_any_number_of_decisions(self, algorithm, matrix):
        trainer = make_trainer(costs=matrix[DATA.y_train] * NOISE)
        outputs = trainer.train(algorithm).model.predict(DATA.x_test, verbose=0)
        assert outputs.shape == (len(DATA.x_test), matrix.shape[1])

    def test_another_decision_may_be_the_cheapest_of_a_class(self):
        """Sending an offer to everybody may pay even where it is not accepted."""
        matrix = csdl.costs.zero_one(10)
        matrix[3, [3, 5]] = [2.0, 0.0]
        trainer = make_trainer(costs=matrix[DATA.y_train])
        layer = trainer.train("dnn_bayes").model.get_layer("bayes_decision")
        np.testing.assert_allclose(layer.cost_matrix, matrix, rtol=1e-6)
        with pytest.raises(ValueError, match="right decisions are on average the cheapest"):
            trainer.train("dnn_weighted")
