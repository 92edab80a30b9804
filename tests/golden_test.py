"""Models that are trained today answer as earlier ones did, on each backend.

The paper's algorithms: as those of version 0.2.0. The default algorithms: as those of 2026-11-30,
when their networks changed.
"""

import pathlib

import keras
import numpy as np
import pytest

from tests.golden_cases import NAMES, answers

FOLDER = pathlib.Path(__file__).parent / "data" / "golden"
#: Some of each series of the paper, and the default algorithm: all take a minute.
SOME = ("sdae_blind", "min", "cnn_sosr", "csosr", "scae_bayes", "csdnn", "calibrated_bayes")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("data", "names"),
    [
        pytest.param("images", NAMES["images"], marks=pytest.mark.slow, id="images"),
        pytest.param("images", SOME, id="some on images"),
        pytest.param("table", NAMES["table"], id="table"),
        pytest.param("folds", NAMES["folds"], marks=pytest.mark.slow, id="folds"),
    ],
)
def test_every_algorithm_answers_as_before(data, names):
    wrong = []
    with np.load(FOLDER / f"{keras.backend.backend()}.npz") as expected:
        found = dict(answers(data, names))
        assert sorted(found) == sorted(f"{data}/{name}" for name in names)
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
