"""Tests of checks of costs and labels."""

import numpy as np
import pytest

from csdl_keras import costs

C = [[0.0, 1.0, 2.0], [5.0, 0.0, 4.0], [3.0, 6.0, 0.0]]
WIDE = np.array([[0.0, 1.0, 7.0], [2.0, 0.0, 7.0]])


@pytest.mark.parametrize(
    "check", [costs.check_cost_matrix, costs.check_cost_vectors, costs.check_mean_costs]
)
class TestAllChecks:
    def test_returns_a_float64_copy(self, check):
        given = np.array(C)
        result = check(given)
        np.testing.assert_array_equal(result, C)
        result[0, 1] = 99.0
        np.testing.assert_array_equal(given, C)

    @pytest.mark.parametrize(
        "make",
        [
            list,
            lambda c: np.array(c, dtype="uint8"),
            lambda c: np.array(c, dtype="float16"),
            lambda c: np.repeat(np.repeat(c, 2, axis=0), 2, axis=1)[::2, ::2],
            lambda c: pytest.importorskip("pandas").DataFrame(c, columns=["a", "b", "c"]),
        ],
    )
    def test_accepts_array_likes(self, check, make):
        result = check(make(C))
        assert result.dtype == np.float64
        np.testing.assert_array_equal(result, C)

    @pytest.mark.parametrize(
        "value, message",
        [
            (np.nan, "finite; received nan at .1, 2"),
            (-np.inf, "finite; received -inf at"),
            (1e39, r"of a size up to 1e\+38; received 1e\+39 at"),
            (-1.0, "at least 0; received -1.0 at .*regret"),
        ],
    )
    def test_wrong_number(self, check, value, message):
        wrong = np.array(C)
        wrong[1, 2] = value
        with pytest.raises(ValueError, match=f"^Expected every entry .*{message}"):
            check(wrong)

    @pytest.mark.parametrize("dtype", ["object", "str", "complex", "bool"])
    def test_wrong_dtype(self, check, dtype):
        with pytest.raises(ValueError, match="real numbers; received dtype"):
            check(np.array(C).astype(dtype))

    @pytest.mark.parametrize("shape", [(), (3,), (1, 3, 3), (0, 3)])
    def test_wrong_rank_or_empty(self, check, shape):
        with pytest.raises(ValueError) as error:
            check(np.zeros(shape))
        assert f"received shape {shape}" in str(error.value)


@pytest.mark.parametrize(
    "check, values, keywords, message",
    [
        (costs.check_cost_matrix, np.zeros((3, 2)), {}, r"\(K, K\), K.*received shape \(3, 2\)"),
        (costs.check_cost_matrix, np.zeros((1, 1)), {}, r"received shape \(1, 1\)"),
        (costs.check_cost_matrix, WIDE, {}, r"received shape \(2, 3\)"),
        (costs.check_cost_matrix, np.zeros((3, 2)), {"square": False}, "D >= K"),
        (costs.check_cost_matrix, np.zeros((1, 3)), {"square": False}, "D >= K"),
        (costs.check_cost_matrix, C, {"num_classes": 4}, r"4 classes; received shape \(3, 3\)"),
        (costs.check_cost_matrix, [[0, 1], [1, 2]], {}, r"C\[1, 1\] = 2.0.*regret"),
        (costs.check_cost_vectors, C, {"num_decisions": 2}, r"\(N, 2\), .*received shape \(3, 3\)"),
        (costs.check_mean_costs, C, {"num_classes": 4}, "a row for each of 4 classes"),
        (costs.check_mean_costs, C[:1], {}, r"at least 2 classes; received \(1, 3\)"),
        (costs.check_labels, [0, 3], {"num_classes": 3}, "below 3, the number.*; received 3"),
        (costs.check_labels, [0, -2], {}, "at least 0; received -2"),
        (costs.check_labels, [0.0, 1.0], {}, r"integer dtype; received float64.*astype\(int\)"),
        (costs.check_labels, ["a", "b"], {}, "<U1.*classes=model.classes"),
        (costs.check_labels, np.array(["a"], object), {}, "<U1.*classes=model.classes"),
        (costs.check_labels, [0j], {}, "integer dtype; received complex128.$"),
        (costs.check_labels, [True, False], {"num_classes": 1}, "below 1.*received 1"),
        (costs.check_labels, [[0], [1]], {}, r"received shape \(2, 1\)"),
        (costs.check_labels, [], {}, r"received shape \(0,\)"),
        (costs.check_labels, [[0], [1, 2]], {}, "rows of different lengths"),
    ],
)
def test_refused(check, values, keywords, message):
    with pytest.raises(ValueError, match=f"^Expected .*{message}"):
        check(values, **keywords)


def test_accepted():
    assert costs.check_cost_matrix(C, num_classes=3).tolist() == C
    assert costs.check_cost_matrix(WIDE, square=False).tolist() == WIDE.tolist()
    assert costs.check_cost_vectors([[3, 2]], 2).tolist() == [[3.0, 2.0]]
    assert costs.check_mean_costs([[3, 2], [1, 2]], 2).tolist() == [[3.0, 2.0], [1.0, 2.0]]


def test_booleans_are_0_and_1():
    assert costs.check_labels([True, False]).tolist() == [1, 0]
    assert costs.check_labels([True, False]).dtype == np.int64
    assert costs.cost_vectors([[0, 1], [5, 0]], [True, False]).tolist() == [[5, 0], [0, 1]]
    for booleans in ([True, False, False], np.array([True, False, False])):
        drawn = [costs.randomized_proportional(y, seed=0) for y in (booleans, [1, 0, 0])]
        assert drawn[0].tolist() == drawn[1].tolist()


@pytest.mark.parametrize("make", [list, np.array, lambda y: np.array(y, dtype="uint8")])
def test_labels_become_an_int64_copy(make):
    given = make([2, 0, 1])
    result = costs.check_labels(given, 3)
    assert result.dtype == np.int64
    result[0] = 9
    assert list(given) == [2, 0, 1]
