import numpy as np
import pytest

from csdl_keras import costs

C = [[0.0, 1.0, 2.0], [5.0, 0.0, 4.0], [3.0, 6.0, 0.0]]


@pytest.mark.parametrize(
    "check", [costs.check_cost_matrix, costs.check_cost_vectors, costs.check_mean_costs]
)
def test_returns_a_float64_copy(check):
    given = np.array(C)
    result = check(given)
    np.testing.assert_array_equal(result, C)
    result[0, 1] = 99.0
    np.testing.assert_array_equal(given, C)


@pytest.mark.parametrize(
    "check, values, keywords, message",
    [
        (costs.check_cost_matrix, np.zeros((3, 2)), {}, r"\(K, K\), K.*received shape \(3, 2\)"),
        (costs.check_cost_vectors, C, {"num_decisions": 2}, r"\(N, 2\), .*received shape \(3, 3\)"),
        (costs.check_labels, [0.0, 1.0], {}, r"integer dtype; received float64.*astype\(int\)"),
        (costs.check_labels, ["a", "b"], {}, "<U1.*classes=model.classes"),
        (costs.check_labels, [[0], [1, 2]], {}, "`labels` is not an array"),
    ],
)
def test_refused(check, values, keywords, message):
    with pytest.raises(ValueError, match=message):
        check(values, **keywords)


def test_booleans_are_0_and_1():
    assert costs.check_labels([True, False]).tolist() == [1, 0]
    assert costs.check_labels([True, False]).dtype == np.int64
    assert costs.cost_vectors([[0, 1], [5, 0]], [True, False]).tolist() == [[5, 0], [0, 1]]
    for booleans in ([True, False, False], np.array([True, False, False])):
        drawn = [costs.randomized_proportional(y, seed=0) for y in (booleans, [1, 0, 0])]
        assert drawn[0].tolist() == drawn[1].tolist()
