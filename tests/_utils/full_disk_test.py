"""Folders that cannot be written to, and disks that fill up."""

import errno
import pathlib
import re
import shutil
import subprocess
import sys
import types

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras._utils.files import check_writable, replace_file
from csdl_keras.fitting import fit as _fit
from csdl_keras_cli import main as cli
from tests.support.eager import eager_models
from tests.support.interruptions import Epochs
from tests.support.trainers import DATA, MATRICES, SETTINGS, Counter

DIGITS = ["--dataset", "digits", "--train-size", "229", "--epochs", "1"]


@pytest.fixture
def unwritable(tmp_path):
    """A folder below a file, where not even root can write."""
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "folder"


@pytest.fixture
def full(monkeypatch):
    """A disk on which nothing is left."""
    usage = types.SimpleNamespace(free=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)


class TestBefore:
    def test_a_stage_cache(self, unwritable):
        with pytest.raises(ValueError, match="Expected `folder` to be a folder that can be writ"):
            csdl.StageCache(unwritable)

    def test_a_full_disk(self, full, tmp_path):
        with pytest.raises(ValueError, match="`folder` to have room for .* MB; received"):
            csdl.StageCache(tmp_path)
        assert not list(tmp_path.iterdir())

    def test_no_space_to_write(self, tmp_path, monkeypatch):
        monkeypatch.setattr("os.fsync", no_space)
        with pytest.raises(ValueError, match="can be written to; received .*No space left"):
            check_writable("`folder`", tmp_path)
        assert not list(tmp_path.iterdir())

    def test_resume(self, unwritable, tmp_path, monkeypatch):
        counter = Counter()
        batches = csdl.ShuffledBatches(np.ones((9, 2)), np.ones(9))
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        with pytest.raises(ValueError, match="folder of `path` to be a folder that can be writ"):
            model.fit(batches, callbacks=[csdl.Resume(unwritable / "a.npz", batches), counter])
        monkeypatch.setattr(shutil, "disk_usage", lambda path: types.SimpleNamespace(free=20))
        with pytest.raises(ValueError, match="have room for"):
            model.fit(batches, callbacks=[csdl.Resume(tmp_path / "a.npz", batches), counter])
        assert counter.fits == 0

    @pytest.mark.parametrize(
        "arguments",
        [
            ["compare", *DIGITS, "--out"],
            ["tune", *DIGITS, "--out"],
            ["tune", *DIGITS, "--cache"],
            ["table2", "--datasets", "digits", "--out"],
            ["table2", "--datasets", "digits", "--cache"],
        ],
        ids=lambda arguments: f"{arguments[0]} {arguments[-1]}",
    )
    def test_commands(self, arguments, unwritable, tmp_path, capsys, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(keras.Model, "fit", None)  # nothing may be trained
        assert cli.main([*arguments, str(unwritable)]) == 2
        error = capsys.readouterr().err
        assert re.search("Expected .* to be a folder(| that can be written to); received", error)
        assert len(error.splitlines()) == 1


class TestLater:
    def test_what_was_there_stays(self, tmp_path, monkeypatch):
        path = tmp_path / "a.json"
        replace_file(path, b"old")

        def fail(self, content):
            with self.open("wb") as file:
                file.write(content[:2])
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(pathlib.Path, "write_bytes", fail)
        with pytest.raises(OSError, match="stays as it was; No space") as caught:
            replace_file(path, b"new one")
        assert caught.value.errno == errno.ENOSPC
        monkeypatch.undo()
        assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]

    def test_results(self, tmp_path, monkeypatch):
        path = tmp_path / "results.csv"
        replace_file(path, b"a\n1\n")
        monkeypatch.setattr("os.fsync", no_space)
        with pytest.raises(OSError, match="results.csv, which stays as it was; No space left"):
            replace_file(path, b"a\n1\n2\n")
        assert path.read_text() == "a\n1\n" and len(list(tmp_path.iterdir())) == 1

    def test_stages_that_were_done_stay(self, tmp_path, monkeypatch):
        """The disk fills up behind the first epoch of training, which follows pre-training."""
        monkeypatch.setattr(_fit, "_SECONDS", 0.0)
        cache = csdl.StageCache(tmp_path)
        epochs = Epochs()
        arguments = {"settings": SETTINGS, "seed": 0, "callbacks": [epochs], "cache": cache}
        trainer = csdl.Trainer(DATA.x_train, DATA.y_train, **arguments)
        with eager_models():
            trainer.run_stage("pretraining", "csdnn", MATRICES[0])
            there = {path: path.read_bytes() for path in tmp_path.rglob("*.npz")}
            with monkeypatch.context() as patch:
                patch.setattr("os.fsync", only(no_space, lambda: epochs.begun[1:] == [[0]]))
                with pytest.raises(OSError, match="No space left on device") as caught:
                    trainer.train("csdnn", MATRICES[0])
            assert caught.value.errno == errno.ENOSPC
            assert {path: path.read_bytes() for path in tmp_path.rglob("*.npz")} == there
            trainer.train("csdnn", MATRICES[0])
        assert epochs.begun == [[0, 1], [0], [0, 1]]


def no_space(descriptor):
    raise OSError(errno.ENOSPC, "No space left on device")


def only(function, when):
    """The function where it is time, nothing elsewhere."""
    return lambda *arguments: function(*arguments) if when() else None


LIMITED = """
import resource, sys
import numpy as np
from csdl_keras.fitting.cache import StageCache

cache = StageCache(sys.argv[1])
cache.get({"a": 1}, lambda: ([np.ones(100)], {}))
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    cache.get({"a": 2}, lambda: ([np.ones(100_000)], {}))
except OSError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_limit_of_the_system(tmp_path):
    """No file above 100 kB: a write that fails half-way, as on a disk that fills up."""
    output = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert "which stays as it was; File too large" in output.stdout, output.stderr
    cache = csdl.StageCache(tmp_path)
    assert cache.find({"a": 1}) is not None and cache.find({"a": 2}) is None
    assert not [path for path in tmp_path.rglob("unfinished*")]
