"""Stages of which a file is damaged begin anew, say so once, and end where they would have."""

import shutil
import warnings

import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras._utils.array_file import DamagedFileError, read_arrays, write_arrays
from csdl_keras.fitting import seeded_fit as _seeded_fit
from tests.eager import eager_models
from tests.interruptions import Epochs, Stop
from tests.trainers import DATA, MATRICES
from tests.weights import assert_same_weights

SETTINGS = csdl.Settings().replace(
    {
        "mlp.hidden_units": (8, 6),
        "mlp.batch_size": 50,
        "mlp.epochs": 2,
        "pretraining.epochs": 2,
        "mlp.min_steps": 1,
        "cnn.min_steps": 1,
    }
)
#: Where training is stopped: the row, the call of its `fit`, and the epoch.
PLACES = {
    "first layer": ("csdnn", 0, 1),
    "second layer": ("csdnn", 1, 1),
    "training": ("dnn_sosr", 0, 1),
}


@pytest.fixture(autouse=True)
def write_every_epoch(monkeypatch, run_eagerly):
    monkeypatch.setattr(_seeded_fit, "SECONDS", 0.0)


def trainer(folder, *callbacks, seed=0):
    cache = None if folder is None else csdl.StageCache(folder)
    arguments = {"settings": SETTINGS, "seed": seed, "cache": cache, "callbacks": callbacks}
    return csdl.Trainer(DATA.x_train, DATA.y_train, **arguments)


def train(row, folder, *callbacks, seed=0):
    return trainer(folder, *callbacks, seed=seed).train(row, MATRICES[0]).model


def stop(folder, place, seed=0):
    """Stops training; returns the file of its state."""
    row, fit, epoch = PLACES[place]
    with pytest.raises(InterruptedError):
        train(row, folder, Stop(fit, epoch), seed=seed)
    (state,) = folder.rglob("epochs.npz")
    return state


def truncate(path, folder):
    path.write_bytes(path.read_bytes()[:-100])


def flip(path, folder):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(bytes(content))


def empty(path, folder):
    path.write_bytes(b"")


def garble(path, folder):
    path.write_bytes(b"not at all what it was")


def other_npz(path, folder):
    np.savez(path, a=np.arange(3))


def other_fit(path, folder):
    """The state of a network that was trained from another seed."""
    shutil.copy(stop(folder, "training", seed=1), path)


def other_version(path, folder):
    record, arrays = read_arrays(path)
    write_arrays(path, {"identity": record["identity"]}, arrays)


def other_arrays(path, folder):
    record, arrays = read_arrays(path)
    write_arrays(path, record, arrays[1:])


@pytest.fixture(scope="module")
def undisturbed():
    """Models by row."""
    with eager_models():
        return {row: train(row, None) for row in ("csdnn", "dnn_sosr")}


def damage_warnings(caught):
    return [str(one.message) for one in caught if "is damaged" in str(one.message)]


class TestUnfinished:
    @pytest.mark.parametrize(
        ("place", "damage"),
        [
            ("training", truncate),
            ("training", flip),
            ("training", empty),
            ("training", other_npz),
            ("training", other_fit),
            ("training", other_version),
            ("training", other_arrays),
            ("second layer", garble),
        ],
    )
    def test_the_state_of_epochs(self, place, damage, undisturbed, tmp_path):
        path, row = stop(tmp_path / "a", place), PLACES[place][0]
        damage(path, tmp_path / "b")
        epochs = Epochs()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = train(row, tmp_path / "a", epochs)
        (message,) = damage_warnings(caught)
        assert str(path) in message
        assert epochs.begun[0] == [0, 1]
        assert_same_weights(found, undisturbed[row], atol=1e-6)
        assert not list((tmp_path / "a").rglob("*.unfinished"))

    def test_a_finished_layer(self, undisturbed, tmp_path):
        state = stop(tmp_path, "second layer")
        (layer,) = [one for one in state.parents[2].rglob("*.npz") if one != state]
        truncate(layer, None)
        epochs = Epochs()
        with pytest.warns(UserWarning, match=f"{layer} is damaged"):
            found = train("csdnn", tmp_path, epochs)
        assert epochs.begun[0] == [0, 1]
        assert_same_weights(found, undisturbed["csdnn"], atol=1e-6)

    def test_a_file_in_place_of_the_folder(self, undisturbed, tmp_path):
        folder = stop(tmp_path, "training").parent
        shutil.rmtree(folder)
        folder.write_bytes(b"")
        with pytest.warns(UserWarning, match="it is a file and no folder"):
            found = train("dnn_sosr", tmp_path)
        assert_same_weights(found, undisturbed["dnn_sosr"], atol=1e-6)

    def test_a_file_of_ones_own_is_refused_and_stays(self, tmp_path):
        """Only what the package keeps for itself is replaced."""
        path = tmp_path / "fit.npz"
        path.write_bytes(b"mine")
        model = csdl.models.mlp((3,), 2, (2,))
        model.compile("sgd", "mse")
        batches = csdl.ShuffledBatches(np.zeros((4, 3)), np.zeros((4, 2)))
        with pytest.raises(DamagedFileError):
            model.fit(batches, callbacks=[csdl.Resume(path, batches)], verbose=0)
        assert path.read_bytes() == b"mine"


class TestFinished:
    @pytest.mark.parametrize("damage", [truncate, other_npz])
    def test_it_is_computed_anew(self, damage, undisturbed, tmp_path):
        first = trainer(tmp_path)
        first.train("csdnn", MATRICES[0])
        for stage, fits in (("training", 1), ("pretraining", 2)):
            description, epochs = first.stages("csdnn", MATRICES[0])[stage], Epochs()
            damage(first.cache.path(description), None)
            with pytest.warns(UserWarning, match=f"{first.cache.path(description)} is damaged"):
                assert description not in first.cache
            with pytest.warns(UserWarning, match="is damaged"):
                found = train("csdnn", tmp_path, epochs)
            assert len(epochs.begun) == fits
            assert_same_weights(found, undisturbed["csdnn"], atol=1e-6)
            assert description in first.cache

    def test_another_stage_in_its_place(self, tmp_path):
        cache = csdl.StageCache(tmp_path)
        for number in (1, 2):
            cache.get({"a": number}, lambda number=number: ([np.full(2, number)], {}))
        shutil.copy(cache.path({"a": 1}), cache.path({"a": 2}))
        with pytest.warns(UserWarning, match="it holds another stage"):
            assert cache.find({"a": 2}) is None
