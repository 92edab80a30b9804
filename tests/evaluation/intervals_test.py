import numpy as np
import pytest

from csdl_keras.evaluation import compare_costs, cost_interval

C = np.array([[0.0, 1.0], [9.0, 0.0]])
LABELS = np.arange(400) % 2
GOOD = np.where(np.arange(400) % 20 == 0, 1 - LABELS, LABELS)
BAD = np.where(np.arange(400) % 7 == 0, 1 - LABELS, GOOD)


def clopper_pearson(size):
    """Upper end of the 95 % interval of a share, if none of as many examples has it."""
    return 1 - 0.025 ** (1 / size)


def test_interval_where_no_mistake_was_seen():
    low, high = cost_interval(LABELS, LABELS, C)
    assert low == 0.0 and high == pytest.approx(9 * clopper_pearson(400))
    assert cost_interval(C[LABELS], LABELS) == (low, high)


class TestCompareCosts:
    def test_difference(self):
        found, back = compare_costs(LABELS, GOOD, BAD, C), compare_costs(LABELS, BAD, GOOD, C)
        assert found.cheaper and not found.costlier and found.p_value < 0.01
        assert found.low <= found.difference <= found.high
        assert back.costlier and not back.cheaper
        ends = (back.difference, back.low, back.high)
        np.testing.assert_allclose(ends, (-found.difference, -found.high, -found.low))
        assert np.isclose(found.ratio, 1 / back.ratio) and found.ratio < 1

    def test_equal_decisions(self):
        same = compare_costs(LABELS, GOOD, GOOD, C)
        assert (same.difference, same.p_value, same.cheaper, same.costlier) == (0, 1, False, False)
        # Models that decided 400 examples alike may decide others differently.
        assert same.low == -same.high and same.high == pytest.approx(9 * clopper_pearson(400))
        # What bounds differences is the largest one between two decisions for an example.
        same = compare_costs(np.tile([1.0, 4.0], (400, 1)), GOOD, GOOD)
        assert same.high == pytest.approx(3 * clopper_pearson(400))
