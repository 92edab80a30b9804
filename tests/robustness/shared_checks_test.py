"""Checks of arrays that public functions share, with right and wrong arguments of every kind.

A check takes what its documentation says, whatever holds it, and nothing else.
"""

import contextlib
import dataclasses
import math
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csdl_keras import costs
from csdl_keras._utils import arrays, structure, tensors
from csdl_keras._utils import labels as labels_module
from csdl_keras._utils.example_axes import check_weights
from csdl_keras.baselines._kernel_map import check_features
from csdl_keras.costs._tensors import tensor_or_labels
from csdl_keras.costs.checks import one_for_each
from csdl_keras.evaluation.calibration_error import check_probabilities, probabilities_by_class
from csdl_keras.training.data import float32_inputs
from tests.robustness.containers import CONTAINERS, contained
from tests.robustness.documented import (
    array_of_numbers,
    is_amounts,
    is_example,
    is_features,
    is_finite,
    is_float32_inputs,
    is_indices,
    is_inputs,
    is_integer,
    is_matrix,
    is_numbers,
    is_probabilities,
    is_targets,
    is_vectors,
    is_weights,
    plain_labels,
)
from tests.robustness.outcome import assert_same, outcome
from tests.robustness.samples import amounts, matrix, probabilities, vectors
from tests.robustness.spoiled import spoil, spoilings
from tests.support.testing import to_numpy

MODEL = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])


@dataclasses.dataclass(frozen=True)
class Check:
    """A check, how to call it rightly, and what its documentation says.

    It is called with what `right` makes of a generator and a number of classes; where those
    arguments are `documented`, it returns `result` of them.
    """

    function: Callable[..., Any]
    right: Callable[[np.random.Generator, int], tuple[Any, ...]]
    documented: Callable[..., bool]
    result: Callable[..., Any]

    def test(self, *arguments: Any) -> None:
        """Calls the check: a result if and only if the documentation says so, and that one."""
        found = outcome(self.function, *arguments)
        assert self.documented(*arguments) != isinstance(found, ValueError), found
        if not isinstance(found, ValueError):
            assert_same(found, self.result(*arguments), 1e-6)


def numbers(x):
    return np.asarray(array_of_numbers(x), "f8")


def whole(x):
    """Booleans as the labels 0 and 1, all else as it is."""
    with contextlib.suppress(TypeError, ValueError):  # no array at all
        array = np.asarray(x)
        return array.astype("i8") if array.dtype.kind == "b" else x
    return x


def labels(x, *_):
    return np.asarray(x).astype("i8")


def alike(first, second):
    return is_numbers(first, 2, 2) and is_numbers(second) and np.shape(first) == np.shape(second)


def both_columns(p):
    p = numbers(p)
    return np.hstack([1 - p, p]) if p.shape[1] == 1 else p


def as_rows(p):
    return numbers(p)[:, None] if is_finite(p, 1) else p


def optional_size(x, low, size):
    return x is None or (is_integer(x, low) and x == size)


CHECKS = {
    "real_array": Check(
        lambda x: arrays.real_array("x", x, 2, "(N, 3)", columns=3, low=-8.0),
        lambda rng, k: (amounts(rng, k, 3),),
        lambda x: is_finite(x, 2) and numbers(x).min() >= -8 and np.shape(x)[1] == 3,
        numbers,
    ),
    "input_array": Check(
        lambda x: arrays.input_array("x", x),
        lambda rng, k: (amounts(rng, 2, k),),
        is_inputs,
        numbers,
    ),
    "check_decisions": Check(
        lambda d: labels_module.check_decisions(d, 5, 3),
        lambda rng, k: (rng.integers(3, size=5),),
        lambda d: is_indices(d, 3) and len(d) == 5,
        labels,
    ),
    "check_cost_matrix": Check(
        costs.check_cost_matrix,
        lambda rng, k: (matrix(rng, k, k), k, True),
        lambda m, k, square: (
            isinstance(square, bool) and is_matrix(m, square) and optional_size(k, 2, len(m))
        ),
        lambda m, k, square: numbers(m),
    ),
    "check_cost_matrix, wide": Check(
        lambda m: costs.check_cost_matrix(m, square=False),
        lambda rng, k: (matrix(rng, k, k + 2),),
        is_matrix,
        numbers,
    ),
    "check_cost_vectors": Check(
        costs.check_cost_vectors,
        lambda rng, k: (vectors(rng, 4, k), k),
        lambda v, d: is_vectors(v) and optional_size(d, 1, np.shape(v)[1]),
        lambda v, d: numbers(v),
    ),
    "check_mean_costs": Check(
        costs.check_mean_costs,
        lambda rng, k: (vectors(rng, k, k + 1), k),
        lambda v, k: is_vectors(v) and len(v) >= 2 and optional_size(k, 2, len(v)),
        lambda v, k: numbers(v),
    ),
    "check_labels": Check(
        costs.check_labels,
        lambda rng, k: (rng.integers(k, size=5), k),
        lambda y, k: (
            (k is None or is_integer(k, 1)) and is_indices(whole(y), math.inf if k is None else k)
        ),
        labels,
    ),
    "one_for_each": Check(
        lambda x: one_for_each("x", x, 4, "labels"),
        lambda rng, k: (amounts(rng, 4),),
        lambda x: is_amounts(x, 0) or (is_amounts(x, 1) and len(x) == 4),
        lambda x: np.broadcast_to(numbers(x), 4),
    ),
    "check_probabilities": Check(
        check_probabilities,
        lambda rng, k: (probabilities(rng, 4, k),),
        is_probabilities,
        both_columns,
    ),
    "probabilities_by_class": Check(
        probabilities_by_class,
        lambda rng, k: (rng.uniform(size=4),),
        lambda p: is_probabilities(as_rows(p)),
        lambda p: both_columns(as_rows(p)),
    ),
    "tensor_or_array": Check(
        lambda x: tensors.tensor_or_array("x", x),
        lambda rng, k: (amounts(rng, 2, k),),
        is_numbers,
        numbers,
    ),
    "same_shape": Check(
        lambda c, r: [to_numpy(one) for one in tensors.same_shape("(N, D)", costs=c, r=r)],
        lambda rng, k: (vectors(rng, 4, 2 + k % 2), amounts(rng, 4, 2 + k % 2)),
        alike,
        lambda c, r: [numbers(c), numbers(r)],
    ),
    "check_weights": Check(
        lambda w: check_weights(w, np.ones((4, 3))),
        lambda rng, k: (amounts(rng, 4),),
        lambda w: is_weights(w, 4),
        lambda w: None if w is None else numbers(w),
    ),
    "tensor_or_labels": Check(
        lambda y: tensor_or_labels(y, 3),
        lambda rng, k: (rng.integers(3, size=4),),
        lambda y: is_targets(whole(y), 3),
        lambda y: numbers(plain_labels(whole(y))).reshape(-1),
    ),
    "check_inputs": Check(
        lambda x: structure.check_inputs(MODEL, x),
        lambda rng, k: (amounts(rng, 4, 3),),
        is_example,
        lambda x: np.reshape(np.asarray(x, "f8"), (-1, 3)),
    ),
    "float32_inputs": Check(
        lambda x: float32_inputs("x", x, 4),
        lambda rng, k: (amounts(rng, 4, k),),
        is_float32_inputs,
        numbers,
    ),
    "check_features": Check(
        check_features, lambda rng, k: (amounts(rng, 4, k),), is_features, numbers
    ),
}
# A list of arrays is a list of inputs.
HELD = {"check_inputs": {*CONTAINERS} - {"list of rows"}}
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("name", CHECKS)
class TestArrays:
    @settings(max_examples=50)
    @given(data=st.data())
    def test_anything(self, name, data):
        """One argument of any kind: the documented result or the documented refusal."""
        rng = np.random.default_rng(data.draw(seeds))
        arguments = list(CHECKS[name].right(rng, data.draw(st.integers(2, 5))))
        which = data.draw(st.integers(0, len(arguments) - 1))
        arguments[which] = data.draw(spoil(arguments[which]))
        CHECKS[name].test(*arguments)

    def test_each_spoiling(self, name):
        arguments = CHECKS[name].right(np.random.default_rng(0), 3)
        for which, right in enumerate(arguments):
            for one in spoilings(right):
                CHECKS[name].test(*arguments[:which], one, *arguments[which + 1 :])

    def test_containers(self, name):
        """Right arguments give the same result from whatever holds them."""
        for size in (2, 5):
            arguments = CHECKS[name].right(np.random.default_rng(size), size)
            expected = outcome(CHECKS[name].function, *arguments)
            for kind in sorted(HELD.get(name, CONTAINERS)):
                held = [contained(one, kind) for one in arguments]
                assert_same(outcome(CHECKS[name].function, *held), expected, 1e-6)
