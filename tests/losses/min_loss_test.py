"""Tests of MIN's loss, squared errors weighted by costs."""

import hypothesis
import keras
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from csdl_keras.losses import MINLoss, min_loss
from tests.support.testing import TestCase, to_numpy

C = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 0.0], [3.0, 6.0, 0.0]])
LABELS = np.array([0, 2, 1, 2, 0])
COSTS = np.array([[0.0, 1, 2], [3, 0, 0], [2, 2, 2], [1, 5, 4], [7, 0.5, 0]])
OUTPUTS = np.random.default_rng(0).dirichlet(np.ones(3), size=5).astype("float32")
PRIORS = np.array([0.2, 0.7, 0.1])


def class_loss(matrix, priors, label, outputs):
    """1/2 sum_i [(t_i - o_i) K(y, i)]^2 with Kukar and Kononenko's K."""
    total = 0.0
    for i in range(len(matrix)):
        if i == label:
            others = [j for j in range(len(matrix)) if j != i]
            factor = sum(priors[j] * matrix[i, j] for j in others) / (1 - priors[i])
        else:
            factor = matrix[label, i]
        total += (((1.0 if i == label else 0.0) - outputs[i]) * factor) ** 2
    return total / 2


def example_loss(costs, outputs, priors=(1 / 3, 1 / 3, 1 / 3)):
    label = int(np.argmin(costs))
    matrix = np.zeros((3, 3))
    matrix[label] = costs
    return class_loss(matrix, priors, label, outputs)


class TestMINLoss(TestCase):
    def test_contract(self):
        self.run_loss_test(MINLoss, COSTS, OUTPUTS, example_loss, activation="softmax")

    def test_labels_equal_the_loop(self):
        """Also where another class costs nothing, as in row 1: the label tells, not the costs."""
        expected = [class_loss(C, PRIORS, y, o) for y, o in zip(LABELS, OUTPUTS, strict=True)]
        loss = self.run_config_round_trip(MINLoss(C, PRIORS, reduction=None))
        self.assertAllClose(loss(LABELS, OUTPUTS), np.array(expected))
        self.assertAllClose(loss(LABELS[:, None], OUTPUTS), np.array(expected))
        assert class_loss(C, PRIORS, 1, OUTPUTS[2]) != class_loss(C, PRIORS, 2, OUTPUTS[2])

    def test_priors_of_cost_vectors(self):
        expected = [example_loss(c, o, PRIORS) for c, o in zip(COSTS, OUTPUTS, strict=True)]
        self.assertAllClose(min_loss(COSTS, OUTPUTS, PRIORS), np.array(expected))

    def test_equal_costs_are_the_squared_error(self):
        loss = MINLoss(1.0 - np.eye(3), PRIORS, reduction=None)
        expected = 0.5 * ((np.eye(3)[LABELS] - OUTPUTS) ** 2).sum(axis=1)
        self.assertAllClose(loss(LABELS, OUTPUTS), expected)

    def test_nothing_costs(self):
        self.assertAllClose(MINLoss(np.zeros((3, 3)), reduction=None)(LABELS, OUTPUTS), 0 * LABELS)

    def test_labels_that_no_class_has(self):
        loss = MINLoss(C, reduction=None)
        values = loss(keras.ops.convert_to_tensor(np.array([0.0, 3.0, -1.0])), OUTPUTS[:3])
        np.testing.assert_array_equal(np.isnan(to_numpy(values)), [False, True, True])

    @pytest.mark.parametrize(
        ("priors", "message"),
        [
            ([0.5, 0.5], "`priors` with an entry for each of 3 classes"),
            ([0.5, 0.6, 0.1], "sum to 1"),
            ([1.0, 0.0, 0.0], "in .0, 1."),
            ([1.5, -0.5, 0.0], "in .0, 1."),
            ([np.nan, 0.5, 0.5], "in .0, 1."),
            ([[0.2, 0.7, 0.1]], "K >= 2 numbers"),
            ("abc", "`priors` to hold real numbers"),
            (0.5, "K >= 2 numbers"),
        ],
    )
    def test_wrong_priors(self, priors, message):
        with pytest.raises(ValueError, match=message):
            MINLoss(C, priors)

    def test_wrong_number_of_priors_without_a_matrix(self):
        with pytest.raises(ValueError, match="Expected 3 `priors`; received 2"):
            MINLoss(priors=[0.5, 0.5])(COSTS, OUTPUTS)

    def test_shapes_that_differ(self):
        with pytest.raises(ValueError, match="one shape"):
            min_loss(COSTS, OUTPUTS[:, :2])

    def test_training_lowers_costs(self):
        """A class is favoured whose mistakes cost much."""
        x = np.zeros((200, 1), "float32")
        y = np.arange(200) % 2
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(2, "softmax")])
        model.compile(keras.optimizers.SGD(1.0), loss=MINLoss([[0.0, 1.0], [0.1, 0.0]]))
        model.fit(x, y, epochs=10, verbose=0)
        assert to_numpy(model(x[:1]))[0].argmax() == 0


class TestProperties(TestCase):
    @hypothesis.given(
        hnp.arrays("float32", (6, 4), elements=st.integers(0, 12).map(lambda i: i / 4)),
        hnp.arrays("float32", (6, 4), elements=st.integers(0, 8).map(lambda i: i / 8)),
        st.integers(0, 3),
    )
    def test_not_negative_and_zero_at_the_target(self, costs, outputs, label):
        labels = np.full(6, label)
        costs[:, label] = 0
        right = np.eye(4, dtype="float32")[labels]
        assert np.all(to_numpy(min_loss(costs, outputs, targets=right)) >= 0)
        np.testing.assert_array_equal(to_numpy(min_loss(costs, right, targets=right)), 0.0)

    @hypothesis.given(st.sampled_from([0.25, 2.0, 1024.0]))
    def test_unit_of_costs(self, unit):
        self.assertAllClose(
            min_loss(unit * COSTS, OUTPUTS), unit**2 * to_numpy(min_loss(COSTS, OUTPUTS))
        )
