"""Arguments and shapes of inputs that each layer refuses."""

import keras
import numpy as np
import pytest

from csdl_keras import CAE, layers
from tests.layers.contract_test import CASES, MATRIX

NUMBERS = [0, -1.0, np.nan, np.inf, "1", None, True]
WRONG_ARGUMENTS = {
    layers.BayesDecision: [
        ({}, "received None"),
        ({"num_classes": 3}, "received None"),
        ({"num_classes": 1, "num_decisions": 2}, "`num_classes`"),
        ({"num_classes": 3, "num_decisions": 2.5}, "`num_decisions`"),
        ({"cost_matrix": MATRIX[:, :2]}, "`cost_matrix`"),
        ({"cost_matrix": MATRIX - 1}, "`cost_matrix`"),
        ({"cost_matrix": MATRIX, "num_classes": 2}, "2 classes"),
        ({"cost_matrix": MATRIX, "num_decisions": 3}, "num_decisions=3"),
    ],
    layers.BiasCorrectedTemperatureScaling: [
        ({"bias": bias}, "`bias`") for bias in ("1", [[1.0]], [np.nan, 0.0], 1.0)
    ],
    layers.TemperatureScaling: [
        ({"temperature": value}, "`temperature`.*received") for value in NUMBERS
    ],
    CAE: [
        ({"encoder": 0, "num_decisions": 3}, "`encoder`"),
        ({"encoder": "5", "num_decisions": 3}, "`encoder`"),
        ({"encoder": 5, "num_decisions": 2.0}, "`num_decisions`"),
        ({"encoder": 5, "num_decisions": 3, "tied": None}, "`tied`"),
        ({"encoder": 5, "num_decisions": 3, "corruption": 1.5}, "`rate`"),
    ],
    layers.CaffePooling2D: [
        ({"mode": "avg"}, "`mode`"),
        ({"mode": "max", "pool_size": (3, 3)}, "`pool_size`"),
        ({"mode": "max", "strides": 0}, "`strides`"),
        ({"mode": "max", "pool_size": 2, "strides": 3}, "`strides`"),
    ],
    layers.ClassProbabilities: [({"from_logits": value}, "`from_logits`") for value in (None, 1)],
    layers.CostOutput: [
        ({"units": 2, "activation": activation}, "activation")
        for activation in ("relu", keras.activations.sigmoid)
    ],
    layers.Decision: [({"output": output}, "`output`") for output in (None, "costs", "", 0)],
    layers.InverseLink: [
        *[({"link": link}, "`link`.*received") for link in ("exp", None, 1)],
        *[({"cost_scale": value}, "`cost_scale`.*received") for value in NUMBERS],
    ],
    layers.MaskingNoise: [
        ({"rate": rate}, "`rate`") for rate in (-0.1, 1.1, np.nan, None, "0.5", True, [0.5])
    ],
    layers.MemberScaling: [({"members": value}, "`members`") for value in (0, 2.0, None)],
    layers.PriorAdjustment: [
        *[
            ({"from_priors": wrong, "to_priors": [1, 1]}, "`from_priors`")
            for wrong in ([1.0, 0.0], [1.0, np.nan], [1.0, -1.0], [1.0], [[1.0, 1.0]], "11", None)
        ],
        ({"from_priors": [1, 1], "to_priors": [0, 0]}, "`to_priors`.*all zeros"),
        ({"from_priors": [1, 1], "to_priors": [1, 1, 1]}, "`to_priors`.*2 classes; received 3"),
    ],
    layers.TableEncoding: [
        ({"bins": [-1]}, "`bins`"),
        ({"bins": [2], "categories": [0.5]}, "`categories`"),
        ({"bins": [2], "categories": [0, 3]}, "`categories` of 1 columns"),
        ({"bins": [2], "missing": [1]}, "`missing`"),
    ],
    layers.WithinChannelLRN: [
        ({"size": 2}, "size"),
        ({"size": 3.0}, "`size`"),
        ({"alpha": -1.0}, "`alpha`"),
        ({"beta": np.nan}, "`beta`"),
    ],
}
WRONG_SHAPES = {
    "BayesDecision": ([(2, 4), (2, 1), (3,), (2, 3, 4)], "probabilities of shape"),
    "BiasCorrected": ([(2, 4)], "`bias` with an entry for each of 4 classes"),
    "CAE": ([(6,), (2, 4, 4), (2, 4, 4, 1)], "Flatten"),
    "CaffePooling2D, max": (
        [(2, 4, 4), (1, 1, 4, 3), (1, 4, 1, 3), (1, 2, 4, 4, 3), (1, None, 4, 3)],
        "height",
    ),
    "ClassProbabilities": ([(3,)], "shape"),
    "PriorAdjustment": ([(2, 4), (2, 1), (3,)], "probabilities of shape"),
    "TableEncoding": ([(2, 3), (4,), (2, 4, 1)], "one column"),
    "WithinChannelLRN": ([(2, 4), (2, 4, 4), (1, 2, 4, 4, 3)], "height, width, channels"),
}


@pytest.mark.parametrize(
    ("cls", "kwargs", "message"),
    [(cls, *case) for cls, cases in WRONG_ARGUMENTS.items() for case in cases],
)
def test_wrong_arguments(cls, kwargs, message):
    with pytest.raises(ValueError, match=message):
        cls(**kwargs)


@pytest.mark.parametrize(
    ("name", "shape"), [(name, shape) for name in WRONG_SHAPES for shape in WRONG_SHAPES[name][0]]
)
def test_wrong_shape(name, shape):
    with pytest.raises(ValueError, match=WRONG_SHAPES[name][1]):
        CASES[name].make()(keras.Input(batch_shape=shape))
