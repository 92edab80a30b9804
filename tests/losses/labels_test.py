"""Losses of costs on labels: in every form, of pixels and of masked times, scaled and wrong."""

import keras
import numpy as np
import pytest

from csdl_keras.losses import MINLoss, PoissonCostLoss, SOSRLoss, expected_cost
from tests.support.testing import TestCase, floatx, to_numpy

RNG = np.random.default_rng(0)
C = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 4.0], [3.0, 6.0, 0.0]])
LABELS = np.array([0, 2, 1, 2, 0])
ESTIMATES = RNG.normal(2, 2, size=(5, 3)).astype("float32")
SHAPE = (4, 2, 3)
PIXELS = RNG.integers(3, size=SHAPE)
OUTPUTS = RNG.normal(1, 2, size=(*SHAPE, 3)).astype("float32")


def tiny_model(loss):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3)])
    model.compile("sgd", loss=loss)
    return model


@pytest.mark.parametrize("loss_class", [SOSRLoss, MINLoss])
class TestLabels(TestCase):
    def test_labels_equal_cost_vectors(self, loss_class):
        loss = loss_class(C, reduction=None)
        for labels, outputs in ((LABELS, ESTIMATES), (PIXELS, OUTPUTS)):
            expected = loss_class(reduction=None)(C[labels], outputs)
            column = labels[..., None].astype("float32")
            tensor = keras.ops.convert_to_tensor(column)
            for form in (labels, labels.tolist(), labels.astype("uint8"), column, tensor):
                self.assertAllClose(loss(form, outputs), expected)

    def test_many_classes_in_16_bits(self, loss_class):
        """Rows of the matrix all differ, and bfloat16 would round the labels."""
        matrix = 1.0 + np.arange(1000.0)[:, None] + np.arange(1000.0)[None, :] / 1000
        np.fill_diagonal(matrix, 0.0)
        labels = np.array([3, 257, 999, 513, 771])
        expected = loss_class()(matrix[labels], np.zeros((5, 1000), "float32"))
        with floatx("bfloat16"):
            outputs = keras.ops.zeros((5, 1000), dtype="bfloat16")
            for y in (labels, labels.astype("float32")):
                self.assertAllClose(loss_class(matrix)(y, outputs), expected)

    def test_wrong_labels(self, loss_class):
        for labels, message in (
            ([0, 3], "below 3, the number of classes; received 3"),
            ([0.0, -1.0], "received -1"),
            ([0.0, 0.5], "integer dtype; received float"),
        ):
            with pytest.raises(ValueError, match=message):
                loss_class(C)(labels, ESTIMATES[:2])
        for wrong in (3, -1, 0.5):
            labels = keras.ops.convert_to_tensor([0, wrong, 1.0])
            values = to_numpy(loss_class(C, reduction=None)(labels, ESTIMATES[:3]))
            assert np.isnan(values).tolist() == [False, True, False]

    def test_shapes(self, loss_class):
        with pytest.raises(ValueError, match=r"labels of shape.*received shape \(5, 3\)"):
            loss_class(C)(keras.ops.convert_to_tensor(C[LABELS]), ESTIMATES)
        with pytest.raises(ValueError, match=r"(?s)\(5, 3\) and \(5, 2\).*cost_matrix"):
            loss_class(C)(LABELS, ESTIMATES[:, :2])

    def test_scale(self, loss_class):
        expected = loss_class(reduction=None)(0.25 * C[LABELS], ESTIMATES)
        vectors = loss_class(cost_scale=0.25, reduction=None)
        self.assertAllClose(vectors(C[LABELS], ESTIMATES), expected)
        labels = self.run_config_round_trip(loss_class(C, cost_scale=0.25, reduction=None))
        self.assertAllClose(labels(LABELS, ESTIMATES), expected)

    def test_costs_that_overflow_when_scaled(self, loss_class):
        matrix = [[0.0, 1e30, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
        loss = loss_class(matrix, cost_scale=1e10, reduction=None)
        vectors = loss_class(cost_scale=1e10, reduction=None)
        for values in (loss([0], ESTIMATES[:1]), vectors(np.float32(matrix)[:1], ESTIMATES[:1])):
            assert np.isnan(to_numpy(values)).all()

    def test_weights_of_pixels_and_of_images(self, loss_class):
        values = to_numpy(loss_class(C, reduction=None)(PIXELS, OUTPUTS))
        pixels, images = RNG.uniform(size=SHAPE), np.arange(4.0)
        for weights in (pixels, pixels[..., None], images, images[:, None]):
            table = [np.full((2, 3), w) if w.size == 1 else w.reshape(2, 3) for w in weights]
            found = loss_class(C)(PIXELS, OUTPUTS, weights)
            self.assertAllClose(found, np.mean(values * np.array(table)), rtol=1e-4)


class TestFit(TestCase):
    def test_wrong_label_is_nan_in_a_graph(self):
        model = tiny_model(SOSRLoss(C))
        for wrong in (3, -1, 0.5):
            labels = np.array([0.0, 1.0, wrong], "float32")
            assert np.isnan(model.evaluate(ESTIMATES[:3], labels, verbose=0))
        assert np.isfinite(model.evaluate(ESTIMATES[:3], LABELS[:3].astype("float32"), verbose=0))

    def test_labels_without_a_matrix(self):
        with pytest.raises(ValueError, match="give the loss a `cost_matrix`"):
            tiny_model(SOSRLoss()).fit(ESTIMATES, LABELS, verbose=0)

    def test_masked_times_do_not_count(self):
        """As in Keras' own losses: the mean over those that are not masked."""
        inputs = keras.Input((4,), dtype="int32")
        embedded = keras.layers.Embedding(5, 3, mask_zero=True)(inputs)
        model = keras.Model(inputs, keras.layers.Dense(3)(embedded))
        model.compile("sgd", SOSRLoss(C), run_eagerly=True)
        words = np.array([[1, 2, 0, 0], [3, 0, 0, 0]])
        labels = np.array([[0, 1, 2, 2], [1, 2, 2, 2]])
        values = to_numpy(SOSRLoss(C, reduction=None)(labels, model(words)))
        found = model.evaluate(words, labels, verbose=0)
        self.assertAllClose(np.array(found), values[words > 0].mean(), rtol=1e-4)

    def test_outputs_of_pixels(self):
        self.assertAllClose(expected_cost(None, OUTPUTS), OUTPUTS.min(axis=-1))
        with pytest.raises(ValueError, match="rows that sum to 1"):
            PoissonCostLoss(C)(PIXELS, RNG.dirichlet(np.ones(3), SHAPE))
