"""Tests of the cost that a model expects of its own decision."""

import numpy as np
import pytest

from csdl_keras.losses import expected_cost
from tests.support.testing import to_numpy

COSTS = np.array([[3.0, 1.0, 2.0], [0.5, 0.5, 9.0], [-1.0, 4.0, 0.0]], "float32")


@pytest.mark.parametrize("targets", [None, np.array([0, 1, 2])])
def test_values(targets):
    np.testing.assert_array_equal(to_numpy(expected_cost(targets, COSTS)), [1.0, 0.5, -1.0])
