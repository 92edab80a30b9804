"""Tests of what metrics refuse, and of what their contract leaves out."""

import keras
import numpy as np
import pytest

from csdl_keras import SOSRLoss
from csdl_keras.metrics import AverageCost, DecisionAccuracy, NormalizedCost
from tests.metrics.contract_test import COSTS, LABELS, OUTPUTS, C
from tests.support.testing import JIT_COMPILE, to_numpy


def test_nan_cost_of_another_decision_gives_nan():
    costs = COSTS.copy()
    costs[0, 2] = np.nan
    for metric in (AverageCost(), DecisionAccuracy()):
        assert np.isnan(to_numpy(metric(costs, OUTPUTS)))


def test_wrong_label_gives_nan_in_evaluate():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Activation("linear")])
    metrics = [AverageCost(C), DecisionAccuracy(), NormalizedCost(C)]
    model.compile(loss=lambda _, outputs: outputs, metrics=metrics, jit_compile=JIT_COMPILE)
    for labels, wrong in (([0, 1], False), ([0, 3], True), ([-1, 1], True)):
        logs = model.evaluate(OUTPUTS[:2], np.array(labels), verbose=0, return_dict=True)
        assert [np.isnan(logs[metric.name]) for metric in metrics] == [wrong] * 3


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float32"])
def test_a_class_beyond_the_type_of_the_labels(dtype):
    """Class 300 is no class 44, which it would be in 8 bits."""
    matrix = np.arange(1.0, 302.0)[:, None] * (1 - np.eye(301))
    labels = np.array([44, 0, 300 % 256]).astype(dtype)
    outputs = keras.ops.one_hot(keras.ops.zeros(3, dtype="int32"), 301)
    for class_id in (300, 44, 0):
        metric = AverageCost(matrix, output="probability", class_id=class_id)
        metric.update_state(keras.ops.convert_to_tensor(labels), outputs)
        paid = [matrix[label, 0] for label in (44, 0, 44) if label == class_id]
        assert float(metric.result()) == pytest.approx(np.mean(paid) if paid else 0.0)


@pytest.mark.parametrize(("dtype", "most"), [("bfloat16", 256), ("float16", 2048)])
@pytest.mark.parametrize("kind", [AverageCost, DecisionAccuracy, SOSRLoss])
def test_labels_that_a_float_type_rounds_to_others(kind, dtype, most):
    """In `bfloat16`, label 257 is 256; where that may be, a class count says so."""
    for classes in (most, most + 1):
        one = DecisionAccuracy("cost") if kind is DecisionAccuracy else kind(1 - np.eye(classes))
        labels = keras.ops.convert_to_tensor(np.array([0.0, 3.0]), dtype=dtype)
        outputs = 1.0 - np.eye(classes)[[0, 3]]
        if classes == most:
            one(labels, outputs)
            continue
        with pytest.raises(ValueError, match=f"{dtype} .* up to {most}, too few for {classes} "):
            one(labels, outputs)


@pytest.mark.parametrize(
    ("metric", "kwargs", "message"),
    [
        (AverageCost, {"class_id": 0}, "`class_id`.*received 0"),
        (
            AverageCost,
            {"cost_matrix": C, "output": "cost", "bayes": True},
            "received output='cost'",
        ),
        (NormalizedCost, {}, "Pass a `cost_matrix` or"),
    ],
)
def test_wrong_arguments(metric, kwargs, message):
    with pytest.raises(ValueError, match=message):
        metric(**kwargs)


@pytest.mark.parametrize(
    ("metric", "targets", "outputs", "message"),
    [
        (AverageCost(C), [0, 3], OUTPUTS[:2], "below 3"),
        (AverageCost(), LABELS, OUTPUTS, r"and \(7, 3\).*give the metric a `cost_matrix`"),
        (DecisionAccuracy(), COSTS[:, :2], OUTPUTS, r"\(7, 2\) and \(7, 3\)"),
        (AverageCost(C, bayes=True), LABELS, np.full((7, 3), 2.0), "received 7 rows that are not"),
    ],
)
def test_wrong_batches(metric, targets, outputs, message):
    with pytest.raises(ValueError, match=message):
        metric.update_state(np.array(targets), outputs)
