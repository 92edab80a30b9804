"""Checks of arguments that are no arrays, such as numbers, names and sizes."""

import math
import os

import keras
import numpy as np
import pytest

from csdl_keras._utils import arrays, checks
from csdl_keras.models.heads import check_input_shape, check_sizes
from tests.robustness.documented import are_sizes, is_integer, is_number
from tests.robustness.outcome import outcome
from tests.robustness.spoiled import JUNK, SCALARS


def is_callbacks(x):
    known = isinstance(x, (list, tuple))
    return known and all(isinstance(one, keras.callbacks.Callback) for one in x)


PLAIN = {
    "check_choice": (
        checks.check_choice,
        [("a", "2")],
        lambda x: isinstance(x, str) and x in ("a", "2"),
    ),
    "check_path": (checks.check_path, [], lambda x: isinstance(x, (str, os.PathLike))),
    "check_number": (checks.check_number, [0, 2, True], lambda x: is_number(x, 0, 2)),
    "check_number, any": (checks.check_number, [], lambda x: is_number(x, -math.inf, 1e308)),
    "check_number, low": (
        checks.check_number,
        [0.5, 2.5],
        lambda x: is_number(x, -1, 2.5) and x >= 0.5,
    ),
    "check_integer": (checks.check_integer, [0, 2], lambda x: is_integer(x, 0, 2)),
    "check_integer, any": (checks.check_integer, [], lambda x: is_integer(x, 1)),
    "check_bool": (checks.check_bool, [], lambda x: isinstance(x, bool)),
    "check_names": (
        arrays.check_names,
        [2],
        lambda x: np.iterable(x) and not isinstance(x, str) and len(list(x)) == 2,
    ),
    "check_sizes": (check_sizes, [], are_sizes),
    "check_callbacks": (checks.check_callbacks, None, is_callbacks),
    "check_optimizer": (
        checks.check_optimizer,
        None,
        lambda x: isinstance(x, keras.optimizers.Optimizer) or str(x) == "adam",
    ),
    "check_verbose": (
        checks.check_verbose,
        None,
        lambda x: isinstance(x, (str, int)) and x in ("auto", 0, 1, 2),
    ),
    "check_label": (arrays.check_label, None, lambda x: x is None or isinstance(x, str)),
    "check_input_shape": (check_input_shape, None, lambda x: are_sizes(x) and len(x) > 0),
}
VALUES = [*SCALARS, *JUNK, "adam", "auto", ["a", "b"], (4,), (8, 8, 3), (8, 0, 3)]
VALUES += [keras.callbacks.History(), [keras.callbacks.History()], keras.optimizers.SGD()]


@pytest.mark.parametrize("name", PLAIN)
def test_plain_arguments(name):
    function, more, documented = PLAIN[name]
    for value in VALUES:
        result = outcome(function, *([value] if more is None else ["x", value, *more]))
        assert bool(documented(value)) != isinstance(result, ValueError), (value, result)


def test_bounds_of_numbers():
    assert checks.check_number("x", np.float32(2.5), 0, 2.5) == 2.5
    assert type(checks.check_number("x", 2)) is float
    assert type(checks.check_integer("x", np.int64(2))) is int
    with pytest.raises(ValueError, match=r"in \(0, 1\]; received 0"):
        checks.check_number("x", 0, 0, 1, exclude_low=True)
    with pytest.raises(ValueError, match="at least 1 and at most 3; received 4"):
        checks.check_integer("x", 4, 1, 3)
