"""Training on costs under which another decision is the cheapest of a class."""

import numpy as np
import pytest

import csdl_keras as csdl
from tests.support.trainers import DATA, make_trainer

pytestmark = pytest.mark.usefixtures("run_module_eagerly")


def test_another_decision_may_be_the_cheapest_of_a_class():
    """Sending an offer to everybody may pay even where it is not accepted."""
    matrix = csdl.costs.zero_one(10)
    matrix[3, [3, 5]] = [2.0, 0.0]
    trainer = make_trainer(costs=matrix[DATA.y_train])
    layer = trainer.train("dnn_bayes").model.get_layer("bayes_decision")
    np.testing.assert_allclose(layer.cost_matrix, matrix, rtol=1e-6)
