import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras.evaluation import risk_coverage_area, risk_coverage_curve


def literal_curve(y_true, expected_costs, cost_matrix):
    examples = []
    for index, (label, expected) in enumerate(zip(y_true, expected_costs, strict=True)):
        decision = min(range(len(expected)), key=lambda k: expected[k])
        examples.append((expected[decision], index, cost_matrix[label][decision]))
    paid = [cost for _, _, cost in sorted(examples)]
    kept = range(1, len(paid) + 1)
    return [n / len(paid) for n in kept], [sum(paid[:n]) / n for n in kept]


@hypothesis.settings(max_examples=40)
@hypothesis.given(st.integers(2, 4), st.integers(0, 1), st.integers(1, 25), st.integers(0, 99))
def test_against_a_literal_loop(classes, extra, size, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.uniform(0.1, 9.0, size=(classes, classes + extra))
    np.fill_diagonal(matrix, 0.0)
    y_true = rng.integers(classes, size=size)
    # Of either sign, with many ties.
    expected_costs = rng.integers(-2, 4, size=(size, classes + extra)) / 2
    curve = literal_curve(y_true, expected_costs, matrix)
    np.testing.assert_allclose(risk_coverage_curve(y_true, expected_costs, matrix), curve)
    area = risk_coverage_area(matrix[y_true], expected_costs)
    assert area == pytest.approx(np.mean(curve[1]))
