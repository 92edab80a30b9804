"""Tests of checks of costs and labels."""

import numpy as np
import pytest

from csdl_keras import costs

C = [[0.0, 1.0, 2.0], [5.0, 0.0, 4.0], [3.0, 6.0, 0.0]]
WRONG_NUMBERS = [
    (np.nan, "finite; received nan at"),
    (np.inf, "finite; received inf at"),
    (-np.inf, "finite; received -inf at"),
    (-1.0, "regret"),
]
WRONG_DTYPES = ["object", "str", "complex", "bool"]


@pytest.mark.parametrize("check", [costs.check_cost_matrix, costs.check_cost_vectors])
class TestBothChecks:
    def test_returns_a_float64_copy(self, check):
        given = np.array(C)
        result = check(given)
        assert result.dtype == np.float64
        np.testing.assert_array_equal(result, C)
        result[0, 1] = 99.0
        np.testing.assert_array_equal(given, C)

    @pytest.mark.parametrize(
        "make",
        [
            list,
            lambda c: tuple(map(tuple, c)),
            lambda c: np.array(c, dtype="int32"),
            lambda c: np.array(c, dtype="uint8"),
            lambda c: np.array(c, dtype="float16"),
            lambda c: np.asfortranarray(c),
            lambda c: np.repeat(np.repeat(c, 2, axis=0), 2, axis=1)[::2, ::2],
        ],
    )
    def test_accepts_array_likes(self, check, make):
        result = check(make(C))
        assert result.dtype == np.float64
        np.testing.assert_array_equal(result, C)

    def test_accepts_a_data_frame(self, check):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(C, columns=["a", "b", "c"])
        np.testing.assert_array_equal(check(frame), C)

    @pytest.mark.parametrize(("value", "message"), WRONG_NUMBERS)
    def test_wrong_number(self, check, value, message):
        wrong = np.array(C)
        wrong[1, 2] = value
        with pytest.raises(ValueError, match=message) as error:
            check(wrong)
        assert "(1, 2)" in str(error.value)

    @pytest.mark.parametrize("dtype", WRONG_DTYPES)
    def test_wrong_dtype(self, check, dtype):
        with pytest.raises(ValueError, match="real numbers; received dtype"):
            check(np.array(C).astype(dtype))

    @pytest.mark.parametrize("shape", [(), (3,), (1, 3, 3), (0, 3), (3, 0)])
    def test_wrong_rank_or_empty(self, check, shape):
        with pytest.raises(ValueError) as error:
            check(np.zeros(shape))
        assert f"received shape {shape}" in str(error.value)


class TestCheckCostMatrix:
    @pytest.mark.parametrize("shape", [(3, 2), (1, 1), (1, 3), (2, 3)])
    def test_not_square(self, shape):
        with pytest.raises(ValueError) as error:
            costs.check_cost_matrix(np.zeros(shape))
        assert f"received shape {shape}" in str(error.value)

    def test_more_decisions_than_classes(self):
        wide = [[0.0, 1.0, 0.5], [2.0, 0.0, 0.5]]
        np.testing.assert_array_equal(costs.check_cost_matrix(wide, square=False), wide)

    @pytest.mark.parametrize("shape", [(3, 2), (1, 3)])
    def test_fewer_decisions_than_classes_or_one_class(self, shape):
        with pytest.raises(ValueError, match="D >= K"):
            costs.check_cost_matrix(np.zeros(shape), square=False)

    def test_number_of_classes(self):
        np.testing.assert_array_equal(costs.check_cost_matrix(C, num_classes=3), C)
        with pytest.raises(ValueError, match=r"4 classes; received shape \(3, 3\)"):
            costs.check_cost_matrix(C, num_classes=4)

    def test_diagonal_not_zero(self):
        with pytest.raises(ValueError, match=r"C\[1, 1\] = 2.0.*regret"):
            costs.check_cost_matrix([[0, 1], [1, 2]])

    def test_diagonal_is_of_classes_only(self):
        wide = np.array([[0.0, 1.0, 7.0], [1.0, 0.0, 7.0]])
        np.testing.assert_array_equal(costs.check_cost_matrix(wide, square=False), wide)


class TestCheckCostVectors:
    def test_any_row_minimum(self):
        np.testing.assert_array_equal(costs.check_cost_vectors([[3, 2]]), [[3.0, 2.0]])

    def test_number_of_decisions(self):
        with pytest.raises(ValueError, match=r"\(N, 2\), .*received shape \(3, 3\)"):
            costs.check_cost_vectors(C, num_decisions=2)


class TestCheckLabels:
    @pytest.mark.parametrize("make", [list, np.array, lambda y: np.array(y, dtype="uint8")])
    def test_returns_int64(self, make):
        result = costs.check_labels(make([2, 0, 1]), 3)
        assert result.dtype == np.int64
        np.testing.assert_array_equal(result, [2, 0, 1])

    def test_returns_a_copy(self):
        given = np.array([0, 1])
        costs.check_labels(given)[0] = 9
        np.testing.assert_array_equal(given, [0, 1])

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            ([0, 3], "below 3, the number of classes; received 3"),
            ([0, -1], "at least 0.*received -1"),
            ([0.0, 1.0], "integer dtype; received float64"),
            ([True, False], "integer dtype; received bool"),
            (["a", "b"], "integer dtype"),
            ([[0], [1]], r"received shape \(2, 1\)"),
            ([], r"received shape \(0,\)"),
        ],
    )
    def test_wrong_labels(self, labels, message):
        with pytest.raises(ValueError, match=message):
            costs.check_labels(labels, 3)

    def test_without_number_of_classes(self):
        np.testing.assert_array_equal(costs.check_labels([1000, 0]), [1000, 0])
        with pytest.raises(ValueError, match="received -2"):
            costs.check_labels([0, -2])
