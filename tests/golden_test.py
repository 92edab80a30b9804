"""Models that are trained today answer as those of version 0.2.0 did, on each backend."""

import pathlib

import keras
import numpy as np
import pytest

from tests.golden_cases import answers

FOLDER = pathlib.Path(__file__).parent / "data" / "golden"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("data", ["images", "table", "folds"])
def test_every_algorithm_answers_as_before(data):
    wrong = []
    with np.load(FOLDER / f"{keras.backend.backend()}.npz") as expected:
        found = dict(answers(data))
        assert sorted(found) == sorted(it for it in expected.files if it.startswith(data))
        for name, array in found.items():
            # Other processors round in other ways, which training enlarges.
            scale = np.abs(expected[name]).max()
            distance = np.abs(np.asarray(array, "float64") - expected[name]).max() / scale
            same = np.argmin(array, axis=-1) == np.argmin(expected[name], axis=-1)
            if distance > 1e-2 or same.mean() < 0.97:
                wrong.append(
                    f"{name}: off by {distance:.2g} of the largest, {same.mean():.0%} alike"
                )
    assert not wrong, "\n".join(wrong)
