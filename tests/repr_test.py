"""What an object is made of can be read in a notebook, in one line."""

import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras import costs, losses
from csdl_keras.sklearn import average_cost_scorer

MATRIX = [[0, 1], [5, 0]]
X, Y = np.ones((60, 3)), np.arange(60) % 2


@pytest.mark.parametrize(
    "made,text",
    [
        (
            costs.AffineCosts(np.ones(50), per_unit=[[0, 0], [1, 0]], fixed=[[0, 5], [0, 5]]),
            "AffineCosts(amount=ndarray of shape (50,), per_unit=[[0.0, 0.0], [1.0, 0.0]], "
            "fixed=[[0.0, 5.0], [0.0, 5.0]])",
        ),
        (
            losses.SOSRLoss(MATRIX, alpha=2.0),
            "SOSRLoss(cost_matrix=[[0.0, 1.0], [5.0, 0.0]], cost_scale=1.0, output='cost', "
            "binary_costs=False, alpha=2.0)",
        ),
        (losses.ReconstructionLoss(), "ReconstructionLoss(from_logits=False)"),
        (
            average_cost_scorer(MATRIX),
            "AverageCostScorer(cost_matrix=[[0.0, 1.0], [5.0, 0.0]], bayes=False)",
        ),
        (
            csdl.Trainer(X, Y, (X[:9], Y[:9]), seed=3),
            "Trainer(x=ndarray of shape (60, 3), y=ndarray of shape (60,), validation_data="
            "(ndarray of shape (9, 3), ndarray of shape (9,)), seed=3)",
        ),
    ],
    ids=lambda value: value.partition("(")[0] if isinstance(value, str) else "",
)
def test_repr(made, text):
    assert repr(made) == text
