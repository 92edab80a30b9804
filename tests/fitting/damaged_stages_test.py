"""Stages with a damaged file start again, warn once, and end as if nothing had happened."""

import shutil
import warnings

import pytest

import csdl_keras as csdl
from csdl_keras._utils.array_file import read_arrays, write_arrays
from csdl_keras.fitting import seeded_fit as _seeded_fit
from csdl_keras.fitting.stage_cache import StageResult
from tests.support.eager import eager_models
from tests.support.interruptions import Epochs, Stop
from tests.support.trainers import DATA, MATRICES, SETTINGS
from tests.support.weights import assert_same_weights

#: The algorithm and the call of its `fit` in which training is stopped, in the second epoch.
PLACES = {"second layer": ("csdnn", 1), "training": ("dnn_sosr", 0)}


@pytest.fixture(autouse=True)
def write_every_epoch(monkeypatch, run_eagerly):
    monkeypatch.setattr(_seeded_fit, "SECONDS", 0.0)


def trainer(folder, *callbacks, seed=0):
    cache = None if folder is None else csdl.StageCache(folder)
    settings = SETTINGS.replace({"mlp.hidden_units": (8, 6), "mlp.batch_size": 40})
    arguments = {"settings": settings, "seed": seed, "cache": cache, "callbacks": callbacks}
    return csdl.Trainer(DATA.x_train[:80], DATA.y_train[:80], **arguments)


def train(name, folder, *callbacks, seed=0):
    return trainer(folder, *callbacks, seed=seed).train(name, MATRICES[0]).model


def stop(folder, place, seed=0):
    """Stops training and returns the file of its state."""
    name, fit = PLACES[place]
    with pytest.raises(InterruptedError):
        train(name, folder, Stop(fit, 1), seed=seed)
    (state,) = folder.rglob("epochs.npz")
    return state


def truncate(path, folder):
    path.write_bytes(path.read_bytes()[:-100])


def other_fit(path, folder):
    shutil.copy(stop(folder, "training", seed=1), path)


def other_version(path, folder):
    record, arrays = read_arrays(path)
    write_arrays(path, {"identity": record["identity"]}, arrays)


def other_arrays(path, folder):
    record, arrays = read_arrays(path)
    write_arrays(path, record, arrays[1:])


@pytest.fixture(scope="module")
def undisturbed():
    """Models by name of the algorithm."""
    with eager_models():
        return {name: train(name, None) for name in ("csdnn", "dnn_sosr")}


@pytest.mark.parametrize(
    ("place", "damage"),
    [
        ("training", truncate),
        ("training", other_fit),
        ("training", other_version),
        ("training", other_arrays),
        ("second layer", truncate),
    ],
)
def test_an_unfinished_stage(place, damage, undisturbed, tmp_path):
    path, name = stop(tmp_path / "a", place), PLACES[place][0]
    damage(path, tmp_path / "b")
    epochs = Epochs()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = train(name, tmp_path / "a", epochs)
    (message,) = [text for one in caught if "is damaged" in (text := str(one.message))]
    assert str(path) in message
    assert epochs.begun[0] == [0, 1]
    assert_same_weights(found, undisturbed[name], atol=1e-6)
    assert not list((tmp_path / "a").rglob("*.unfinished"))


def test_a_file_in_place_of_the_folder(undisturbed, tmp_path):
    folder = stop(tmp_path, "training").parent
    shutil.rmtree(folder)
    folder.write_bytes(b"")
    with pytest.warns(UserWarning, match="it is a file and no folder"):
        found = train("dnn_sosr", tmp_path)
    assert_same_weights(found, undisturbed["dnn_sosr"], atol=1e-6)


def test_finished_stages(undisturbed, tmp_path):
    first = trainer(tmp_path)
    first.train("csdnn", MATRICES[0])
    for stage, fits in (("training", 1), ("pretraining", 2)):
        description, epochs = first.stages("csdnn", MATRICES[0])[stage], Epochs()
        truncate(first.cache.path(description), None)
        with pytest.warns(UserWarning, match="is damaged"):
            found = train("csdnn", tmp_path, epochs)
        assert len(epochs.begun) == fits
        assert_same_weights(found, undisturbed["csdnn"], atol=1e-6)
        assert description in first.cache


def test_another_stage_in_its_place(tmp_path):
    cache = csdl.StageCache(tmp_path)
    for number in (1, 2):
        cache.put({"a": number}, StageResult([], {}))
    shutil.copy(cache.path({"a": 1}), cache.path({"a": 2}))
    with pytest.warns(UserWarning, match="it holds another stage"):
        assert cache.find({"a": 2}) is None
