import math

import numpy as np
import pytest
from scipy import stats

from csdl_keras.evaluation.bounded_mean import BoundedMean
from csdl_keras.paper.differences import paired_difference

LARGEST = 20.0


def costs_of(seed, matrices=3, examples=40):
    return np.random.default_rng(seed).uniform(0, 5, size=(matrices, examples))


def runs_of(costs):
    return {(matrix, 0): row for matrix, row in enumerate(costs)}


def compare(a, b):
    """Compares costs by matrix, or by run."""
    a, b = (each if isinstance(each, dict) else runs_of(each) for each in (a, b))
    return paired_difference(a, b, dict.fromkeys(range(100), LARGEST))


def loop_interval(a, b):
    """The formula, matrix by matrix and example by example."""
    matrices, examples = a.shape
    means = [sum(a[m][n] - b[m][n] for n in range(examples)) / examples for m in range(matrices)]
    averages = [sum(a[m][n] - b[m][n] for m in range(matrices)) / matrices for n in range(examples)]
    low, high = BoundedMean(np.array(averages), -LARGEST, LARGEST).interval()
    if matrices > 1:
        mean = sum(means) / matrices
        squares = sum((each - mean) ** 2 for each in means) / (matrices - 1) / matrices
        spread = stats.t.ppf(0.975, matrices - 1) * squares**0.5
        low = mean - (spread**2 + (mean - low) ** 2) ** 0.5
        high = mean + (spread**2 + (high - mean) ** 2) ** 0.5
    return low, high


@pytest.mark.parametrize("matrices", [1, 2, 10])
def test_equals_the_literal_loop(matrices):
    a, b = costs_of(0, matrices), costs_of(1, matrices)
    found, exchanged = compare(a, b), compare(b, a)
    assert found.mean == pytest.approx(a.mean() - b.mean())
    assert found.ratio == pytest.approx(a.mean() / b.mean())
    assert found.matrices == matrices
    assert (found.low, found.high) == pytest.approx(loop_interval(a, b))
    assert (exchanged.low, exchanged.high) == pytest.approx((-found.high, -found.low))


@pytest.mark.parametrize("matrices", [1, 3])
def test_intervals_of_ratios_equal_the_literal_loop(matrices):
    a, b = costs_of(0, matrices), costs_of(1, matrices)
    examples = a.shape[1]
    logs = [math.log(a[m].mean() / b[m].mean()) for m in range(matrices)]
    slopes = [
        sum(a[m][n] / a[m].mean() - b[m][n] / b[m].mean() for m in range(matrices)) / matrices
        for n in range(examples)
    ]
    squares = (1.96 * np.std(slopes)) ** 2 / examples
    if matrices > 1:
        quantile = stats.t.ppf(0.975, matrices - 1)
        squares += (quantile * np.std(logs, ddof=1)) ** 2 / matrices
    found = compare(a, b)
    ends = [math.exp(np.mean(logs) + sign * squares**0.5) for sign in (-1, 1)]
    assert (found.ratio_low, found.ratio_high) == pytest.approx(ends)
    free = compare(a, 0 * b)
    assert math.isnan(free.ratio_low) and math.isnan(free.ratio)


def test_pairs_use_the_runs_that_both_have():
    a, b = costs_of(0), costs_of(1)
    whole = compare({(1, 0): a[1], (2, 0): a[2]}, {(0, 0): b[0], (1, 0): b[1]})
    assert whole == compare({(1, 0): a[1]}, {(1, 0): b[1]}) and whole.matrices == 1
    assert compare({(0, 0): a[0]}, {(1, 0): b[1]}) is None


def test_training_seeds_add_their_error():
    """The formula with a third error, of runs named by matrix and seed."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0, 5, size=(2, 3, 2, 40))  # matrices, seeds, examples
    a += rng.normal(0, 0.3, (1, 2, 1))
    runs = [(matrix, seed) for matrix in range(3) for seed in range(2)]
    found = compare({run: a[run] for run in runs}, {run: b[run] for run in runs})
    assert (found.matrices, found.seeds) == (3, 2)
    difference = a - b
    low, high = loop_interval(a.mean(axis=1), b.mean(axis=1))
    means = difference.mean(axis=(0, 2))
    spread = stats.t.ppf(0.975, 1) * means.std(ddof=1) / 2**0.5
    mean = difference.mean()
    expected = mean - np.hypot(spread, mean - low), mean + np.hypot(spread, high - mean)
    assert (found.low, found.high) == pytest.approx(expected)


def test_incomplete_runs_are_compared_where_matrices_share_their_seeds():
    rng = np.random.default_rng(0)
    whole = {(matrix, seed): rng.uniform(0, 5, 40) for matrix in range(3) for seed in range(3)}
    part = {run: rng.uniform(0, 5, 40) for run in list(whole)[:5]}  # a matrix and two seeds
    found = compare(part, whole)
    assert (found.matrices, found.seeds) == (2, 2)
    square = [(matrix, seed) for matrix in range(2) for seed in range(2)]
    parts = ({run: costs[run] for run in square} for costs in (part, whole))
    assert found == compare(*parts)
    # More matrices come first, since their error is the larger one.
    for more in ([(2, 0)], [(2, 1), (2, 2)]):
        again = compare({**part, **{run: whole[run] for run in more}}, whole)
        assert (again.matrices, again.seeds) == (3, 1)
