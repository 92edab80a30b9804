"""Tests of what the losses of costs share: labels in place of cost vectors, checks, 16 bits."""

import keras
import numpy as np
import pytest

from csdl_keras import losses, metrics
from csdl_keras.losses import MINLoss, OneSidedLoss, SOSRLoss
from csdl_keras.losses.base import CostLoss
from tests.support.testing import TestCase, floatx, to_numpy

C = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 4.0], [3.0, 6.0, 0.0]])
LABELS = np.array([0, 2, 1, 2, 0])
ESTIMATES = np.random.default_rng(0).normal(2, 2, size=(5, 3)).astype("float32")
FORMS = [
    pytest.param(lambda y, dtype=dtype, shape=shape: y.astype(dtype).reshape(shape), id=name)
    for dtype in ("int32", "int64", "uint8", "float32")
    for name, shape in ((f"{dtype}-N", (-1,)), (f"{dtype}-Nx1", (-1, 1)))
]


def tiny_model(loss, width=3):
    model = keras.Sequential([keras.Input((3,)), _layer(loss, width)])
    model.compile("sgd", loss=loss)
    return model


def _layer(loss, width):
    """Outputs of the kind that the loss trains."""
    return keras.layers.Dense(width, "sigmoid" if isinstance(loss, MINLoss) else None)


def many_classes():
    """A matrix of 1000 classes whose rows all differ, and labels that bfloat16 would round."""
    matrix = 1.0 + np.arange(1000.0)[:, None] + np.arange(1000.0)[None, :] / 1000
    np.fill_diagonal(matrix, 0.0)
    return matrix, np.array([3, 257, 999, 513, 771])


@pytest.mark.parametrize("loss_class", [SOSRLoss, OneSidedLoss, MINLoss])
class TestLabels(TestCase):
    @pytest.mark.parametrize("form", FORMS)
    def test_labels_equal_cost_vectors(self, loss_class, form):
        expected = loss_class(reduction=None)(C[LABELS], ESTIMATES)
        loss = loss_class(C, reduction=None)
        self.assertAllClose(loss(form(LABELS), ESTIMATES), expected)
        tensor = keras.ops.convert_to_tensor(form(LABELS))
        self.assertAllClose(loss(tensor, keras.ops.convert_to_tensor(ESTIMATES)), expected)

    @pytest.mark.parametrize("form", FORMS[2:4])
    def test_fit_on_labels_equals_fit_on_cost_vectors(self, loss_class, form):
        model, twin = tiny_model(loss_class(C)), tiny_model(loss_class())
        twin.set_weights(model.get_weights())
        x = ESTIMATES[:, ::-1].copy()
        self.assertAllClose(
            model.fit(x, form(LABELS), batch_size=2, shuffle=False, verbose=0).history,
            twin.fit(x, C[LABELS], batch_size=2, shuffle=False, verbose=0).history,
        )
        for weight, other in zip(model.weights, twin.weights, strict=True):
            self.assertAllClose(weight, other)

    @pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
    def test_many_classes_in_16_bits(self, loss_class, dtype):
        matrix, labels = many_classes()
        expected = loss_class()(matrix[labels], np.zeros((5, 1000), "float32"))
        with floatx(dtype):
            loss = loss_class(matrix)
            assert loss.dtype == "float32"
            outputs = keras.ops.zeros((5, 1000), dtype=dtype)
            for y in (labels, labels.astype("int32")[:, None], labels.astype("float32")):
                self.assertAllClose(loss(y, outputs), expected)

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            ([0, 3], "below 3, the number of classes; received 3"),
            ([0.0, -1.0], "received -1"),
            ([[0], [3]], "received 3"),
            ([0.0, 0.5], "integer dtype; received float"),
            ([0.0, np.nan], "integer dtype; received float"),
        ],
    )
    def test_wrong_labels(self, loss_class, labels, message):
        loss = loss_class(C)
        for y in (labels, np.array(labels)):
            with pytest.raises(ValueError, match=message):
                loss(y, ESTIMATES[:2])

    def test_wrong_label_makes_fit_nan(self, loss_class):
        model = tiny_model(loss_class(C))
        for wrong in (3, -1, 0.5, 1000000):
            labels = np.array([0.0, 1.0, wrong], "float32")
            assert np.isnan(model.evaluate(ESTIMATES[:3], labels, verbose=0))
        assert np.isfinite(model.evaluate(ESTIMATES[:3], LABELS[:3].astype("float32"), verbose=0))
        assert np.isnan(model.fit(ESTIMATES[:3], labels, verbose=0).history["loss"]).all()

    @pytest.mark.parametrize("wrong", [3, -1, 0.5, 1000000])
    def test_only_the_wrong_label_is_nan(self, loss_class, wrong):
        loss = loss_class(C, reduction=None)
        values = to_numpy(loss(keras.ops.convert_to_tensor([0, wrong, 1.0]), ESTIMATES[:3]))
        assert np.isnan(values).tolist() == [False, True, False]

    def test_labels_of_two_columns(self, loss_class):
        with pytest.raises(ValueError, match=r"labels of shape.*received shape \(5, 3\)"):
            loss_class(C).call(keras.ops.convert_to_tensor(C[LABELS]), ESTIMATES)

    def test_matrix_of_another_width(self, loss_class):
        with pytest.raises(ValueError) as error:
            loss_class(C)(LABELS, ESTIMATES[:, :2])
        assert "(5, 3) and (5, 2)" in str(error.value)
        assert "cost_matrix" in str(error.value)

    @pytest.mark.parametrize(
        "matrix", [[[0.0, -1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0]], C[:2]]
    )
    def test_wrong_matrix(self, loss_class, matrix):
        with pytest.raises(ValueError, match="cost_matrix"):
            loss_class(matrix)

    def test_matrix_is_a_copy(self, loss_class):
        given = C.copy()
        loss = loss_class(given)
        before = loss(LABELS, ESTIMATES)
        given[:] = 0.0
        self.assertAllClose(loss(LABELS, ESTIMATES), before)


TIES = {
    "free decisions": [[0, 0, 2], [1, 0, 0], [0, 3, 0]],
    "nothing costs": [[0, 0, 0], [0, 0, 0], [0, 0, 0]],
    "equal": [[0, 2, 2], [2, 0, 2], [2, 2, 0]],
    "tiny": [[0, 1e-38, 1], [1e-45, 0, 1e30], [1, 1e-30, 0]],
}


@pytest.mark.parametrize("scale", [1.0, 0.3, 1e-12])
@pytest.mark.parametrize("matrix", TIES.values(), ids=TIES)
@pytest.mark.parametrize("loss_class", [SOSRLoss, OneSidedLoss])
class TestSignsOfCosts(TestCase):
    def test_labels_equal_cost_vectors(self, loss_class, matrix, scale):
        """What is cheapest is found once for each class: of ties all, also of costs of 0."""
        costs = np.float32(matrix)[LABELS]
        expected = loss_class(cost_scale=scale, reduction=None)(costs, ESTIMATES)
        loss = loss_class(matrix, cost_scale=scale, reduction=None)
        self.assertAllClose(loss(LABELS, ESTIMATES), expected, rtol=1e-6)


@pytest.mark.parametrize("loss_class", [SOSRLoss, OneSidedLoss, MINLoss])
class TestCostVectors(TestCase):
    def test_fit_in_16_bit_floatx(self, loss_class):
        for dtype in ("float16", "bfloat16"):
            with floatx(dtype):
                model = tiny_model(loss_class())
                logs = model.fit(ESTIMATES, C[LABELS], verbose=0).history
            self.assertFinite(logs["loss"])

    def test_sum_beyond_float16(self, loss_class):
        """A sum of three costs of 60000, or half the square of one, is too much for float16."""
        with floatx("float16"):
            estimates = keras.ops.zeros((2, 4), dtype="float16")
            value = loss_class()(np.array([[0.0, 6e4, 6e4, 6e4]] * 2), estimates)
        self.assertAllClose(value, 1.8e9 if loss_class is MINLoss else 180000.0, rtol=1e-5)

    @pytest.mark.parametrize("columns", [2, 4])
    def test_shapes_differ(self, loss_class, columns):
        estimates = np.zeros((5, columns), "float32")
        with pytest.raises(ValueError) as error:
            loss_class()(C[LABELS], estimates)
        assert f"(5, 3) and (5, {columns})" in str(error.value)

    @pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
    def test_labels_without_matrix(self, loss_class, shape):
        with pytest.raises(ValueError, match="give the loss a `cost_matrix`"):
            loss_class()(LABELS.reshape(shape), ESTIMATES)
        with pytest.raises(ValueError, match="give the loss a `cost_matrix`"):
            tiny_model(loss_class()).fit(ESTIMATES, LABELS.reshape(shape), verbose=0)

    def test_inputs_are_not_modified(self, loss_class):
        costs, estimates = C[LABELS], ESTIMATES.copy()
        loss_class()(costs, estimates)
        np.testing.assert_array_equal(costs, C[LABELS])
        np.testing.assert_array_equal(estimates, ESTIMATES)

    def test_wrong_reduction(self, loss_class):
        with pytest.raises(ValueError, match="reduction"):
            loss_class(reduction="median")


def test_base_class_is_abstract():
    with pytest.raises(NotImplementedError, match="CostLoss must implement `cost_loss`"):
        CostLoss()(C[LABELS], ESTIMATES)


@pytest.mark.parametrize("loss_class", [SOSRLoss, OneSidedLoss, MINLoss])
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
        values = to_numpy(loss(np.array([0]), ESTIMATES[:1]))
        vectors = loss_class(cost_scale=1e10, reduction=None)
        assert np.isnan(values).all()
        assert np.isnan(to_numpy(vectors(np.float32(matrix)[:1], ESTIMATES[:1]))).all()

    @pytest.mark.parametrize("scale", [0, -1.0, np.nan, np.inf, "2", None, True])
    def test_wrong_scale(self, loss_class, scale):
        with pytest.raises(ValueError, match="`cost_scale`.*received"):
            loss_class(cost_scale=scale)


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (OneSidedLoss, "one_sided_loss"),
        (losses.PoissonCostLoss, "poisson_cost_loss"),
        (losses.ObservedCostLoss, "observed_cost_loss"),
        (losses.SquaredErrorLoss, "squared_error_loss"),
        (metrics.DecisionAccuracy, "decision_accuracy"),
        (lambda: metrics.NormalizedCost(C), "normalized_cost"),
        (lambda: metrics.Savings(C), "savings"),
    ],
)
def test_default_names_do_not_depend_on_what_was_made_before(made, name):
    assert [made().name, made().name] == [name, name]
