"""Arguments and shapes of inputs that layers refuse."""

import keras
import pytest

from csdl_keras import CAE, layers
from tests.layers.contract_test import CASES, MATRIX

WRONG = [
    (layers.BayesDecision, {}, "received None"),
    (layers.BayesDecision, {"cost_matrix": MATRIX - 1}, "`cost_matrix`"),
    (layers.MatrixScaling, {"matrix": [[1, 2]], "bias": [[1]]}, "`bias`.*received shape"),
    (layers.TemperatureScaling, {"temperature": 0}, "`temperature`.*received 0"),
    (CAE, {"encoder": "5", "num_decisions": 3}, "`encoder`"),
    (CAE, {"encoder": 5, "num_decisions": 3, "corruption": 1.5}, "`rate`"),
    (layers.CostOutput, {"units": 2, "activation": "relu"}, "activation"),
    (layers.PriorAdjustment, {"from_priors": [1, 0], "to_priors": [1, 1]}, "`from_priors`"),
    (layers.PriorAdjustment, {"from_priors": [1, 1], "to_priors": [0, 0]}, "`to_priors` are 0"),
    (layers.TableEncoding, {"bins": [2], "categories": [0, 3]}, "`categories`.*each of 1 columns"),
    (layers.RandomAffine, {"shift": 0.6}, "`shift`"),
]
SHAPES = {
    "BayesDecision": (2, 4),
    "CaffePooling2D, max": (1, None, 4, 3),
    "ClassProbabilities": (3,),
    "WithinChannelLRN": (2, 4, 4),
}


@pytest.mark.parametrize(("cls", "kwargs", "message"), WRONG)
def test_wrong_arguments(cls, kwargs, message):
    with pytest.raises(ValueError, match=message):
        cls(**kwargs)


@pytest.mark.parametrize(("name", "shape"), SHAPES.items())
def test_wrong_shape(name, shape):
    with pytest.raises(ValueError, match="(?i)(shape|classes|dim)"):
        CASES[name].make()(keras.Input(batch_shape=shape))
