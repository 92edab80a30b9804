"""Which rows are class probabilities."""

import keras
import numpy as np
import pytest

from csdl_keras.costs._tensors import distributions
from csdl_keras.costs.checks import TOLERANCE, TOLERANCE_16_BITS, probability_rows
from tests.support.testing import to_numpy

ROWS = np.array(
    [
        [0.25, 0.75],
        [0.0, 1.0],
        [0.5, 0.5 + 0.9 * TOLERANCE],
        [0.5, 0.5 + 1.1 * TOLERANCE],
        [0.5, 0.5 + 0.9 * TOLERANCE_16_BITS],
        [0.5, 0.5 + 1.1 * TOLERANCE_16_BITS],
        [-0.25, 1.25],
        [np.nan, 0.5],
        [np.inf, -np.inf],
    ],
    "float32",
)


def expected(rows, tolerance):
    return [all(p >= 0 for p in row) and abs(sum(row) - 1) <= tolerance for row in rows.tolist()]


@pytest.mark.parametrize("convert", [np.asarray, keras.ops.convert_to_tensor])
class TestProbabilityRows:
    @pytest.mark.parametrize("tolerance", [TOLERANCE, TOLERANCE_16_BITS])
    def test_literal_loop(self, convert, tolerance):
        found = to_numpy(probability_rows(convert(ROWS), loose=tolerance == TOLERANCE_16_BITS))
        assert found.tolist() == expected(ROWS, tolerance)

    def test_the_tolerance_follows_the_type(self, convert):
        assert to_numpy(probability_rows(convert(ROWS))).tolist() == expected(ROWS, TOLERANCE)
        half = ROWS[:6].astype("float16")
        assert to_numpy(probability_rows(convert(half))).all() == expected(half, 1e-2)[5]
        assert to_numpy(probability_rows(convert(half[:5]))).all()

    def test_one_column(self, convert):
        column = np.array([[0.0], [0.5], [1.0], [-0.1], [1.1], [np.nan]], "float32")
        found = to_numpy(probability_rows(convert(column)))
        assert found.tolist() == [True, True, True, False, False, False]


def test_distributions():
    found = to_numpy(distributions(keras.ops.convert_to_tensor(ROWS)))
    proper = np.array(expected(ROWS, TOLERANCE_16_BITS))
    np.testing.assert_array_equal(found[proper], ROWS[proper])
    assert np.isnan(found[~proper]).all()
