"""Tests of what losses of costs share: labels in place of cost vectors, scales, checks, 16 bits."""

import keras
import numpy as np
import pytest

from csdl_keras.losses import MINLoss, OneSidedLoss, SOSRLoss
from tests.support.testing import TestCase, floatx, to_numpy

C = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 4.0], [3.0, 6.0, 0.0]])
LABELS = np.array([0, 2, 1, 2, 0])
ESTIMATES = np.random.default_rng(0).normal(2, 2, size=(5, 3)).astype("float32")
OF_EACH_CLASS = pytest.mark.parametrize("loss_class", [SOSRLoss, OneSidedLoss, MINLoss])


def tiny_model(loss):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3)])
    model.compile("sgd", loss=loss)
    return model


@OF_EACH_CLASS
class TestLabels(TestCase):
    @pytest.mark.parametrize("form", ["int32", "int64", "uint8", "float32"])
    def test_labels_equal_cost_vectors(self, loss_class, form):
        expected = loss_class(reduction=None)(C[LABELS], ESTIMATES)
        loss = loss_class(C, reduction=None)
        labels = LABELS.astype(form)
        self.assertAllClose(loss(labels, ESTIMATES), expected)
        tensors = (
            keras.ops.convert_to_tensor(labels[:, None]),
            keras.ops.convert_to_tensor(ESTIMATES),
        )
        self.assertAllClose(loss(*tensors), expected)

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

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            ([0, 3], "below 3, the number of classes; received 3"),
            ([0.0, -1.0], "received -1"),
            ([[0], [3]], "received 3"),
            ([0.0, 0.5], "integer dtype; received float"),
        ],
    )
    def test_wrong_labels(self, loss_class, labels, message):
        for y in (labels, np.array(labels)):
            with pytest.raises(ValueError, match=message):
                loss_class(C)(y, ESTIMATES[:2])

    @pytest.mark.parametrize("wrong", [3, -1, 0.5, 1000000])
    def test_only_the_wrong_label_is_nan_in_a_tensor(self, loss_class, wrong):
        loss = loss_class(C, reduction=None)
        values = to_numpy(loss(keras.ops.convert_to_tensor([0, wrong, 1.0]), ESTIMATES[:3]))
        assert np.isnan(values).tolist() == [False, True, False]

    def test_shapes(self, loss_class):
        with pytest.raises(ValueError, match=r"labels of shape.*received shape \(5, 3\)"):
            loss_class(C).call(keras.ops.convert_to_tensor(C[LABELS]), ESTIMATES)
        with pytest.raises(ValueError, match=r"(?s)\(5, 3\) and \(5, 2\).*cost_matrix"):
            loss_class(C)(LABELS, ESTIMATES[:, :2])


@OF_EACH_CLASS
class TestCostVectors(TestCase):
    def test_sum_beyond_float16(self, loss_class):
        """A sum of three costs of 60000, or half the square of one, is too much for float16."""
        with floatx("float16"):
            estimates = keras.ops.zeros((2, 4), dtype="float16")
            value = loss_class()(np.array([[0.0, 6e4, 6e4, 6e4]] * 2), estimates)
        self.assertAllClose(value, 1.8e9 if loss_class is MINLoss else 180000.0, rtol=1e-5)


@OF_EACH_CLASS
class TestCostScale(TestCase):
    def test_equals_scaled_costs(self, loss_class):
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


class TestOfAll(TestCase):
    def test_wrong_label_is_nan_in_a_graph(self):
        model = tiny_model(SOSRLoss(C))
        for wrong in (3, -1, 0.5, 1000000):
            labels = np.array([0.0, 1.0, wrong], "float32")
            assert np.isnan(model.evaluate(ESTIMATES[:3], labels, verbose=0))
        assert np.isfinite(model.evaluate(ESTIMATES[:3], LABELS[:3].astype("float32"), verbose=0))

    def test_labels_without_a_matrix_in_fit(self):
        with pytest.raises(ValueError, match="give the loss a `cost_matrix`"):
            tiny_model(SOSRLoss()).fit(ESTIMATES, LABELS, verbose=0)
