"""Models that an earlier version saved, `tests/data/models`, answer as they did then."""

import pathlib

import keras
import numpy as np
import pytest

import csdl_keras  # noqa: F401
from tests.support.testing import to_numpy

FOLDER = pathlib.Path(__file__).parents[1] / "data" / "models"
NAMES = sorted(path.stem for path in FOLDER.glob("*.keras"))
# Backends and processors sum in other orders, and approximate exp and tanh in float32.
TOLERANCE = {"rtol": 1e-5, "atol": 1e-5}


@pytest.fixture(scope="module")
def expected() -> dict[str, dict[str, np.ndarray]]:
    """For each model its inputs `x`, targets `y/...`, `output/...` and `evaluate/...`."""
    found: dict[str, dict[str, np.ndarray]] = {}
    with np.load(FOLDER / "expected.npz") as arrays:
        for key, array in arrays.items():
            name, _, rest = key.partition("/")
            found.setdefault(name, {})[rest] = array
    return found


def part(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {key[len(prefix) :]: array for key, array in arrays.items() if key.startswith(prefix)}


def test_every_model_has_answers(expected):
    assert list(expected) and sorted(expected) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_answers_as_when_it_was_saved(expected, name):
    arrays = expected[name]
    model = keras.saving.load_model(FOLDER / f"{name}.keras")
    outputs = model(arrays["x"])
    outputs = outputs if isinstance(outputs, dict) else {"outputs": outputs}
    check(outputs, part(arrays, "output/"))
    y = part(arrays, "y/")
    assert model.compiled == bool(y)
    if y:
        # They were saved as eager ones, which takes longer on JAX.
        model.run_eagerly = keras.backend.backend() != "jax"
        values = model.evaluate(arrays["x"], y.get("", y), verbose=0, return_dict=True)
        check(values, part(arrays, "evaluate/"))


def check(found, expected) -> None:
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        np.testing.assert_allclose(to_numpy(found[key]), value, **TOLERANCE, err_msg=key)
