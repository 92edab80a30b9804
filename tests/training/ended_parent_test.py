"""Processes that train end with the one that started them, whatever signal ends that."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import keras
import pytest

from tests.experiments.grid_runs import read
from tests.support.fresh_process import REPOSITORY

psutil = pytest.importorskip("psutil")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="elsewhere a parent that has ended stays"),
]

COMMAND = """
import sys
from csdl_keras.experiments.cli import main

arguments = "table2 --datasets digits --algorithms dnn_sosr --cost-seeds 4 --jobs 2"
sys.exit(main([*arguments.split(), "--epochs", "{epochs}", "--out", {folder!r}]))
"""
LIBRARY = """
import csdl_keras as csdl

data = csdl.datasets.load("digits")
matrices = [csdl.costs.randomized_proportional(data.y_train, seed=seed) for seed in range(4)]
settings = csdl.Settings().limit_epochs({epochs})
cache = csdl.StageCache({folder!r})
trainer = csdl.Trainer(data.x_train, data.y_train, None, settings, 0, cache=cache, jobs=2)
list(trainer.train_all([("dnn_sosr", matrix) for matrix in matrices]))
"""
FOREVER = 100_000  # epochs: longer than any test lasts


def start(code, folder, epochs):
    variables = {
        "KERAS_BACKEND": keras.backend.backend(),
        "PYTHONPATH": str(REPOSITORY),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    return subprocess.Popen(
        [sys.executable, "-c", code.format(folder=str(folder), epochs=epochs)],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def is_alive(process):
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def training_workers(process):
    """The processes below it, once two of them have computed for some seconds."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        assert process.poll() is None, process.stdout.read()
        below = psutil.Process(process.pid).children(recursive=True)
        busy = [it for it in below if is_alive(it) and sum(it.cpu_times()[:2]) > 5]
        if len(busy) >= 2:
            return below
        time.sleep(0.5)
    raise AssertionError("no two processes trained")


def left(processes, seconds=15):
    """Those that are still there after some seconds."""
    deadline = time.monotonic() + seconds
    while any(map(is_alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return [it for it in processes if is_alive(it)]


@pytest.mark.parametrize("code", [COMMAND, LIBRARY], ids=["command", "library"])
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGKILL", "SIGHUP"])
def test_nothing_is_left(code, name, tmp_path):
    process = start(code, tmp_path / "run", FOREVER)
    found = []
    try:
        found = training_workers(process)
        process.send_signal(getattr(signal, name))
        process.communicate(timeout=60)
        # A command says that it was interrupted; Python itself ends by the signal.
        interrupted = code == COMMAND and name == "SIGINT"
        assert process.returncode == (130 if interrupted else -getattr(signal, name))
        assert left(found) == []
    finally:
        for each in [process, *found]:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()


def test_the_same_command_goes_on(tmp_path):
    """After SIGTERM, from the epoch that was written, to the end of an undisturbed run."""
    undisturbed = start(COMMAND, tmp_path / "undisturbed", 60)
    assert undisturbed.communicate(timeout=300) and undisturbed.returncode == 0
    folder = tmp_path / "run"
    process = start(COMMAND, folder, 60)
    deadline = time.monotonic() + 240
    while not list(folder.glob("stages/*/*.unfinished/*.npz")) and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.05)
    found = psutil.Process(process.pid).children(recursive=True)
    process.terminate()
    process.communicate(timeout=60)
    assert left(found) == []
    assert list(folder.glob("stages/*/*.unfinished/*.npz"))
    again = start(COMMAND, folder, 60)
    assert again.communicate(timeout=300) and again.returncode == 0
    assert read(folder) == read(tmp_path / "undisturbed")
