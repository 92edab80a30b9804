"""Decisions that are no class: algorithms that support them, and algorithms that refuse them."""

import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.training.algorithms import Algorithm
from tests.support.trainers import DATA, MATRICES, VALIDATION, make_trainer

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
ABSTAIN = csdl.costs.with_abstain(MATRICES[0], price=0.01)
LINKED = Algorithm("linked", "Linked", "mlp", "none", "poisson", "argmin")


@pytest.mark.parametrize("algorithm", ["dnn_bayes", LINKED])
def test_a_cheap_decision_is_taken(algorithm):
    model = make_trainer(validation_data=VALIDATION).train(algorithm, ABSTAIN).model
    decided = csdl.decide(model, DATA.x_test)
    assert decided.max() <= 10
    # After a few steps no network is sure enough to forgo a decision that is nearly free,
    # unless it estimates all costs from scratch.
    assert algorithm is LINKED or np.mean(decided == 10) > 0.5


class TestCostsOfExamples:
    def test_another_decision_may_be_the_cheapest_of_a_class(self):
        """Sending an offer to everybody may pay even where it is not accepted."""
        matrix = csdl.costs.zero_one(10)
        matrix[3, [3, 5]] = [2.0, 0.0]
        trainer = make_trainer(costs=matrix[DATA.y_train])
        layer = trainer.train("dnn_bayes").model.get_layer("bayes_decision")
        np.testing.assert_allclose(layer.cost_matrix, matrix, rtol=1e-6)
        with pytest.raises(ValueError, match="right decisions are on average the cheapest"):
            trainer.train("dnn_weighted")
