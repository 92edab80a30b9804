"""Losses of outputs `(batch, height, width, D)` and `(batch, time, D)`."""

import keras
import numpy as np
import pytest

from csdl_keras.losses import MINLoss, PoissonCostLoss, SOSRLoss, expected_cost
from tests.support.testing import TestCase, to_numpy

RNG = np.random.default_rng(0)
C = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 4.0], [3.0, 6.0, 0.0]])
SHAPE = (4, 2, 3)
LABELS = RNG.integers(3, size=SHAPE)
OUTPUTS = RNG.normal(1, 2, size=(*SHAPE, 3)).astype("float32")
WEIGHTS = RNG.uniform(size=SHAPE)
OF_EACH_CLASS = pytest.mark.parametrize("loss_class", [SOSRLoss, PoissonCostLoss, MINLoss])


@OF_EACH_CLASS
class TestDense(TestCase):
    def test_forms_of_labels(self, loss_class):
        expected = loss_class(reduction=None)(C[LABELS], OUTPUTS)
        loss = loss_class(C, reduction=None)
        assert tuple(expected.shape) == SHAPE
        column = LABELS[..., None].astype("float32")
        for labels in (LABELS, LABELS.tolist(), column, keras.ops.convert_to_tensor(column)):
            self.assertAllClose(loss(labels, OUTPUTS), expected)

    def test_weights(self, loss_class):
        """Of pixels, with or without a last axis, or of images."""
        values = to_numpy(loss_class(C, reduction=None)(LABELS, OUTPUTS))
        images = np.arange(4.0)
        for weights in (WEIGHTS, WEIGHTS[..., None], images, images[:, None]):
            table = np.array(
                [np.full((2, 3), w) if w.size == 1 else w.reshape(2, 3) for w in weights]
            )
            self.assertAllClose(
                loss_class(C)(LABELS, OUTPUTS, weights), np.mean(values * table), rtol=1e-4
            )
            loss = loss_class(C, reduction="mean_with_sample_weight")
            self.assertAllClose(
                loss(LABELS, OUTPUTS, weights), np.average(values, weights=table), rtol=1e-4
            )


class TestOfAll(TestCase):
    def test_expected_cost(self):
        self.assertAllClose(expected_cost(None, OUTPUTS), OUTPUTS.min(axis=-1))

    def test_probabilities_of_pixels_are_refused(self):
        shares = RNG.dirichlet(np.ones(3), SHAPE)
        with pytest.raises(ValueError, match="rows that sum to 1"):
            SOSRLoss(C)(LABELS, shares)

    def test_masked_times_do_not_count(self):
        """As in Keras' own losses: the mean over those that are not masked."""
        inputs = keras.Input((4,), dtype="int32")
        embedded = keras.layers.Embedding(5, 3, mask_zero=True)(inputs)
        costs = keras.layers.Dense(3)(embedded)
        model = keras.Model(inputs, costs)
        model.compile("sgd", SOSRLoss(C))
        words, labels = (
            np.array([[1, 2, 0, 0], [3, 0, 0, 0]]),
            np.array([[0, 1, 2, 2], [1, 2, 2, 2]]),
        )
        values = to_numpy(SOSRLoss(C, reduction=None)(labels, model(words)))
        found = model.evaluate(words, labels, verbose=0)
        self.assertAllClose(np.array(found), values[words > 0].mean(), rtol=1e-4)
