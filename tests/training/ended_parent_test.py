"""Processes that train end with the one that started them, whatever signal ends that."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import keras
import pytest

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
sys.exit(main([*arguments.split(), "--epochs", "100000", "--out", {folder!r}]))
"""
LIBRARY = """
import csdl_keras as csdl

data = csdl.datasets.load("digits")
matrices = [csdl.costs.randomized_proportional(data.y_train, seed=seed) for seed in range(4)]
settings = csdl.Settings().limit_epochs(100_000)
cache = csdl.StageCache({folder!r})
trainer = csdl.Trainer(data.x_train, data.y_train, None, settings, 0, cache=cache, jobs=2)
list(trainer.train_all([("dnn_sosr", matrix) for matrix in matrices]))
"""


def start(code, folder):
    variables = {
        "KERAS_BACKEND": keras.backend.backend(),
        "PYTHONPATH": str(REPOSITORY),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    return subprocess.Popen(
        [sys.executable, "-c", code.format(folder=str(folder))],
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
    process = start(code, tmp_path / "run")
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
