"""Metrics of outputs `(batch, height, width, D)`: each pixel counts as an example."""

import keras
import numpy as np
import pytest

from csdl_keras.metrics import AverageCost, DecisionAccuracy, NormalizedCost, Savings
from tests.metrics.contract_test import CASES, LABELS, OUTPUTS, C
from tests.support.testing import JIT_COMPILE, TestCase, to_numpy


def images(rows):
    """Two images of 7 x 1 pixels: all examples, and all of them backwards."""
    return np.stack([rows, rows[::-1]])[:, :, None]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
class TestDense(TestCase):
    def test_values(self, case):
        decided, weights = case.decide(case.y_pred), np.arange(7) / 2.0
        y_true, y_pred = images(case.y_true), images(case.y_pred)
        metric = case.make()
        metric.update_state(y_true, y_pred)
        metric.update_state(y_true[:, 2:4], y_pred[:, 2:4], np.zeros(2))
        self.assertAllClose(metric.result(), case.score(decided, None))
        if case.y_true.ndim == 1:
            y_true = y_true[..., None]
        pixels = images(weights)
        for given in (pixels, pixels[..., None], keras.ops.convert_to_tensor(pixels)):
            metric.reset_state()
            metric.update_state(y_true, y_pred, sample_weight=given)
            self.assertAllClose(metric.result(), case.score(decided, weights))


METRICS = [AverageCost(C), DecisionAccuracy(), NormalizedCost(C), Savings(C)]


def test_pixels_count_the_same_not_images():
    metric = AverageCost(C)
    for part in (slice(0, 1), slice(1, 7)):
        metric.update_state(LABELS[None, part], OUTPUTS[None, part])
    expected = CASES["cost_labels"].score(CASES["cost_labels"].decide(OUTPUTS), None)
    assert float(metric.result()) == pytest.approx(expected)


def test_nan_and_wrong_labels_give_nan():
    for metric in METRICS:
        outputs = images(OUTPUTS)
        outputs[1, 3, 0, 2] = np.nan
        assert np.isnan(to_numpy(metric(images(LABELS), outputs)))
        metric.reset_state()
        labels = keras.ops.convert_to_tensor(np.where(images(LABELS) == 2, 7, images(LABELS)))
        assert np.isnan(to_numpy(metric(labels, images(OUTPUTS))))
        metric.reset_state()


def test_masked_times_do_not_count():
    inputs = keras.Input((4,), dtype="int32")
    embedded = keras.layers.Embedding(5, 3, mask_zero=True)(inputs)
    model = keras.Model(inputs, keras.layers.Dense(3)(embedded))
    metrics = [type(metric).from_config(metric.get_config()) for metric in METRICS]
    model.compile(loss="mse", metrics=metrics, jit_compile=JIT_COMPILE)
    words, labels = np.array([[1, 2, 0, 0], [3, 0, 0, 0]]), np.array([[0, 1, 2, 2], [1, 2, 2, 2]])
    logs = model.evaluate(words, labels[..., None] * np.ones(1), verbose=0, return_dict=True)
    outputs = to_numpy(model(words))[words > 0]
    for metric in METRICS:
        metric.reset_state()
        expected = to_numpy(metric(labels[words > 0], outputs))
        metric.reset_state()
        np.testing.assert_allclose(logs[metric.name], expected, rtol=1e-5)
