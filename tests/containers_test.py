"""The same numbers give the same results, whatever holds them."""

import keras
import numpy as np
import pandas as pd
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

import csdl_keras as csdl
from csdl_keras import costs, evaluation
from tests.support.testing import to_numpy


def matrix(rng, rows, columns):
    """Quarters, which 16 bits hold exactly; 0 for right decisions."""
    table = rng.integers(33, size=(rows, columns)) / 4
    table[np.arange(rows), np.arange(rows)] = 0.0
    return table


def frame(a):
    """Rows of labels have the index of others, by which nothing may be put in order."""
    if a.ndim == 2:
        return pd.DataFrame(a)
    return pd.Series(a, index=np.arange(len(a), 0, -1) if a.dtype.kind == "i" else None)


def nullable(a):
    return frame(a).astype("Int64" if a.dtype.kind in "iu" else "Float64")


def masked(a):
    mask = np.zeros(a.shape, bool)
    mask.flat[0] = True
    return np.ma.masked_array(a, mask)


CONTAINERS = {
    "tuple of rows": tuple,
    "backwards": lambda a: np.ascontiguousarray(a[::-1])[::-1],
    "pandas": frame,
    "pandas, nullable": nullable,
    "polars": lambda a: polars.DataFrame(a) if a.ndim == 2 else polars.Series(a),
    "16 bits": lambda a: a.astype("float16" if a.dtype.kind == "f" else "int16"),
    "tensor": keras.ops.convert_to_tensor,
}
FUNCTIONS = {
    "check_cost_matrix": (costs.check_cost_matrix, "cost_matrix"),
    "cost_vectors": (costs.cost_vectors, "cost_matrix labels"),
    "class_means": (costs.class_means, "costs labels"),
    "with_abstain": (costs.with_abstain, "cost_matrix price"),
    "regret": (costs.regret, "costs"),
    "randomized_proportional": (
        lambda labels: costs.randomized_proportional(labels, seed=0),
        "labels",
    ),
    "savings": (evaluation.savings, "y_true decisions cost_matrix"),
    "cost_interval": (evaluation.cost_interval, "y_true decisions cost_matrix"),
    "calibration_error": (evaluation.calibration_error, "y_true probabilities"),
    "risk_coverage_area": (evaluation.risk_coverage_area, "y_true cost_matrix expected_costs"),
    "bayes_decisions": (
        lambda probabilities, cost_matrix: csdl.bayes_decisions(probabilities, cost_matrix),
        "probabilities cost_matrix",
    ),
    "adjust_priors": (csdl.adjust_priors, "model_or_probabilities from_priors to_priors"),
    "sosr": (lambda costs, estimates: to_numpy(csdl.sosr(costs, estimates)), "costs estimates"),
}


def right(names, k=3):
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.arange(2 * k + 2) % k)
    probabilities = rng.multinomial(16, np.full(k, 1 / k), size=len(labels)) / 16
    every = {
        "cost_matrix": matrix(rng, k, k),
        "labels": labels,
        "y_true": labels,
        "decisions": rng.integers(k, size=len(labels)),
        "costs": matrix(rng, k, k)[labels],
        "expected_costs": matrix(rng, k, k)[labels],
        "estimates": matrix(rng, k, k)[labels],
        "price": rng.integers(9, size=k) / 4,
        "probabilities": probabilities,
        "model_or_probabilities": probabilities,
        "from_priors": np.full(k, 0.25),
        "to_priors": 0.25 + rng.integers(4, size=k) / 4,
    }
    return {name: every[name] for name in names.split()}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_containers(name):
    function, names = FUNCTIONS[name]
    arguments = right(names)
    expected = np.asarray(function(**arguments))
    for kind, hold in CONTAINERS.items():
        found = function(**{name: hold(it) for name, it in arguments.items()})
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6, err_msg=kind)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "sosr"])
def test_missing_entries_are_refused(name):
    """In masked arrays and in nullable columns."""
    function, names = FUNCTIONS[name]
    arguments = right(names)
    for argument, value in arguments.items():
        missing = nullable(value)
        missing.iloc[0] = None
        for wrong in (masked(value), missing, polars.Series(["x", "y"]), [[1], [1, 2]]):
            with pytest.raises(ValueError, match="Expected|missing|masked|not an array|diagonal"):
                function(**arguments | {argument: wrong})


@given(data=st.data())
def test_a_cost_matrix_is_right_or_refused(data):
    """An entry of any size and sign, at any place, of any type."""
    size = data.draw(st.integers(2, 4))
    table = matrix(np.random.default_rng(size), size, size)
    place = tuple(data.draw(st.integers(0, size - 1)) for _ in range(2))
    entries = [np.nan, np.inf, -np.inf, -1.0, -0.25, 0.0, 0.5, 3.0, 1e38, 1e39, 1e300]
    table[place] = data.draw(st.sampled_from(entries))
    sound = 0 <= table[place] <= 1e38 and (place[0] != place[1] or table[place] == 0)
    if sound:
        np.testing.assert_array_equal(costs.check_cost_matrix(table), table)
    else:
        with pytest.raises(ValueError, match="Expected|missing|masked|not an array|diagonal"):
            costs.check_cost_matrix(table)
