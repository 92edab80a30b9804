"""Every public Keras object, saved here and loaded in a process that imported the package."""

import json
import pathlib
import re
import zipfile
from typing import Any

import keras
import numpy as np
import pytest

from csdl_keras import layers, losses, metrics, models
from tests.support.fresh_process import run_python
from tests.support.saved_objects import CASES, Case, answers

# Loads every model of a folder; writes its outputs, what `evaluate` says, and the weights that
# it has after it lost them and read them from the weights file.
LOADER = """
import pathlib
import csdl_keras
import keras
import numpy as np

for path in sorted(pathlib.Path({folder!r}).glob("*.keras")):
    data = np.load(path.with_suffix(".npz"))
    targets = {{name[2:]: data[name] for name in data.files if name.startswith("y_")}}
    try:
        model = keras.saving.load_model(path)
        outputs = model(data["x"])
        outputs = outputs if isinstance(outputs, dict) else {{"outputs": outputs}}
        results = {{"output/" + it: keras.ops.convert_to_numpy(outputs[it]) for it in outputs}}
        if targets:
            y = targets.get("only", targets)
            values = model.evaluate(data["x"], y, verbose=0, return_dict=True)
            results |= {{"evaluate/" + name: value for name, value in values.items()}}
        for weight in model.weights:
            weight.assign(keras.ops.full(weight.shape, 7.0, dtype=weight.dtype))
        model.load_weights(path.with_suffix(".weights.h5"))
        for index, weight in enumerate(model.get_weights()):
            results[f"weight {{index}}"] = weight
    except Exception as error:
        results = {{"error": np.array(repr(error))}}
    np.savez(path.with_suffix(".loaded.npz"), **results)
"""


def file_name(name: str) -> str:
    return re.sub(r"\W+", "_", name)


def results(case: Case) -> dict[str, np.ndarray]:
    """What the loader writes, from the model before it is saved."""
    weights = enumerate(case.model.get_weights())
    return answers(case) | {f"weight {index}": np.array(weight) for index, weight in weights}


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> tuple[pathlib.Path, dict[str, dict[str, Any]]]:
    """The folder in which a fresh process loaded all models, and their results before that."""
    folder = tmp_path_factory.mktemp("saved")
    expected = {}
    for name, make in CASES.items():
        case = make()
        targets = case.y if isinstance(case.y, dict) else {"only": case.y}
        arrays = {f"y_{key}": y for key, y in targets.items() if y is not None}
        np.savez(folder / f"{file_name(name)}.npz", x=case.x, **arrays)
        case.model.save(folder / f"{file_name(name)}.keras")
        case.model.save_weights(folder / f"{file_name(name)}.weights.h5")
        expected[name] = results(case)
    run_python(LOADER.format(folder=str(folder)))
    return folder, expected


def registered_names(config: Any) -> set[str]:
    """Every `registered_name` of the package within a saved configuration."""
    found = set()
    if isinstance(config, dict):
        name = config.get("registered_name")
        if isinstance(name, str) and name.startswith("csdl_keras>"):
            found.add(name.removeprefix("csdl_keras>"))
        config = list(config.values())
    if isinstance(config, list):
        found.update(*(registered_names(value) for value in config))
    return found


@pytest.mark.parametrize("name", CASES)
def test_same_in_a_fresh_process(saved, name):
    folder, expected = saved[0], saved[1][name]
    loaded = dict(np.load(folder / f"{file_name(name)}.loaded.npz"))
    assert "error" not in loaded, str(loaded["error"])
    assert [*loaded] == [*expected]
    assert any(key.startswith("weight") for key in expected)
    for key, value in expected.items():
        tolerance = 0.0 if key.startswith("weight") else 1e-6
        assert tolerance == 0.0 or np.all(np.isfinite(value))
        np.testing.assert_allclose(loaded[key], value, rtol=tolerance, atol=tolerance, err_msg=key)


def test_every_registered_class_is_saved_under_the_name_of_the_package(saved):
    covered = set()
    for path in saved[0].glob("*.keras"):
        with zipfile.ZipFile(path) as archive:
            covered |= registered_names(json.loads(archive.read("config.json")))
    public = {
        keras.saving.get_registered_name(getattr(module, name)).removeprefix("csdl_keras>")
        for module in (losses, layers, metrics, models)
        for name in module.__all__
        if isinstance(getattr(module, name), type)
    }
    assert {"SOSRLoss", "CAE", "AverageCost", "BayesClassifier"} <= public
    assert covered == public
