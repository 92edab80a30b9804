import math

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras.plots.beta_curve import beta_table


def literal_table(betas, costs, relative):
    means, errors = [], []
    for column in range(len(betas)):
        known = []
        for row in costs:
            cost = row[column] / row[0] if relative else row[column]
            if not math.isnan(cost):
                known.append(cost)
        number = len(known)
        mean = sum(known) / number if number else math.nan
        means.append(mean)
        squares = sum((cost - mean) ** 2 for cost in known)
        errors.append(math.sqrt(squares / (number - 1) / number) if number > 1 else math.nan)
    return means, errors


class TestBetaTable:
    @hypothesis.settings(max_examples=60)
    @hypothesis.given(st.integers(1, 6), st.integers(1, 7), st.booleans(), st.integers(0, 99))
    def test_against_a_literal_loop(self, repetitions, number, relative, seed):
        rng = np.random.default_rng(seed)
        betas = np.arange(number) / 7
        costs = rng.uniform(0.1, 3.0, size=(repetitions, number))
        costs[rng.uniform(size=costs.shape) < 0.2] = np.nan
        costs[0, 0] = 1.0
        grid, means, errors = beta_table(betas, costs, relative)
        expected_means, expected_errors = literal_table(betas, costs, relative)
        np.testing.assert_array_equal(grid, betas)
        np.testing.assert_allclose(means, expected_means)
        np.testing.assert_allclose(errors, expected_errors, atol=1e-12)

    @pytest.mark.parametrize(
        "betas, costs, relative, message",
        [
            ([0, 0.5], [1.0, 2.0], False, r"`costs` of shape \(repetitions, 2\), a column"),
            ([0, 0.5], [[1.0, 2.0, 3.0]], False, "a column for each beta"),
            ([0.5, 0], [[1.0, 2.0]], False, "`betas` to ascend"),
            ([0.5, 0.5], [[1.0, 2.0]], False, "`betas` to ascend"),
            ([0, 1.5], [[1.0, 2.0]], False, "`betas` to ascend from 0 to 1"),
            ([-1, 0.5], [[1.0, 2.0]], False, "at least 0; received -1.0"),
            ([0, np.nan], [[1.0, 2.0]], False, "finite.*received nan"),
            ([0, 0.5], [[1.0, np.inf]], False, "finite and at least 0 or NaN; received inf"),
            ([0, 0.5], [[1.0, -2.0]], False, "received -2.0"),
            ([0, 0.5], [[np.nan, np.nan]], False, "not all missing"),
            ([0, 0.5], [[np.nan, 1.0]], True, "not all missing"),
            ([0.1, 0.5], [[1.0, 2.0]], True, "first of `betas` to be 0.*received 0.1"),
            ([0, 0.5], [[0.0, 2.0]], True, "above 0 at beta 0"),
        ],
    )
    def test_refused(self, betas, costs, relative, message):
        with pytest.raises(ValueError, match=f"Expected .*{message}"):
            beta_table(betas, costs, relative)
