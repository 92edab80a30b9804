"""Writes what every algorithm answers on tiny data, once for each backend.

    KERAS_BACKEND=tensorflow python tests/data/golden/make.py

The files hold the answers of the version that `golden_test.py` names, so they are not made again
when code changes, only when a change of answers is meant.
"""

import pathlib
import sys
import warnings

import keras
import numpy as np

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[2]))


def write() -> None:
    """Writes the file of the current backend."""
    from tests.golden_cases import NAMES, answers

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dict(it for data, names in NAMES.items() for it in answers(data, names))
    arrays = {name: np.asarray(array, np.float32) for name, array in found.items()}
    path = FOLDER / f"{keras.backend.backend()}.npz"
    np.savez_compressed(path, **arrays)
    print(f"{path.name}: {len(arrays)} arrays, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    write()
