"""Processes that train end with the one that started them, whatever signal ends that."""

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

COMMAND = "import sys; from csdl_keras.experiments.cli import main; sys.exit(main({arguments!r}))"
LIBRARY = """
import csdl_keras as csdl

data = csdl.datasets.load("digits")
matrices = [csdl.costs.randomized_proportional(data.y_train, seed=seed) for seed in range(4)]
trainer = csdl.Trainer(
    data.x_train,
    data.y_train,
    settings=csdl.Settings(hidden_units=(8,), epochs=100_000),
    seed=0,
    cache=csdl.StageCache({folder!r}),
    jobs=2,
)
list(trainer.train_all([("dnn_sosr", matrix) for matrix in matrices]))
"""
ROWS = ["--algorithms", "dnn_sosr", "--cost-seeds", "4", "--jobs", "2"]


def program(kind, folder, epochs="100000"):
    """Python code that trains in two processes for longer than any test lasts."""
    if kind == "train_all":
        return LIBRARY.format(folder=str(folder))
    arguments = {
        "compare": ["compare", "--dataset", "digits"],
        "table2": ["table2", "--datasets", "digits"],
    }[kind]
    arguments = [*arguments, *ROWS, "--epochs", epochs, "--out", str(folder)]
    return COMMAND.format(arguments=arguments)


def start(code):
    variables = {
        "KERAS_BACKEND": keras.backend.backend(),
        "PYTHONPATH": str(REPOSITORY),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


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


def is_alive(process):
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def left(processes, seconds=15):
    """Those that are still there after some seconds."""
    deadline = time.monotonic() + seconds
    while any(map(is_alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return [it for it in processes if is_alive(it)]


@pytest.mark.parametrize("kind", ["compare", "table2", "train_all"])
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGKILL", "SIGHUP"])
def test_nothing_is_left(kind, name, tmp_path):
    process = start(program(kind, tmp_path / "run"))
    found = []
    try:
        found = training_workers(process)
        assert len(found) >= 2
        process.send_signal(getattr(signal, name))
        process.communicate(timeout=60)
        # A command says that it was interrupted; Python itself ends by the signal.
        interrupted = 130 if kind != "train_all" else -signal.SIGINT
        expected = interrupted if name == "SIGINT" else -getattr(signal, name)
        assert process.returncode == expected
        assert left(found) == []
    finally:
        for each in [process, *found]:
            if not isinstance(each, subprocess.Popen) or each.poll() is None:
                kill(each)


def kill(process):
    try:
        process.kill()
    except psutil.NoSuchProcess:
        pass


def test_the_same_command_goes_on(tmp_path):
    """After SIGTERM, from the epoch that was written, to the end of an undisturbed run."""
    undisturbed = start(program("table2", tmp_path / "undisturbed", epochs="60"))
    assert undisturbed.communicate(timeout=300) and undisturbed.returncode == 0
    folder = tmp_path / "run"
    process = start(program("table2", folder, epochs="60"))
    deadline = time.monotonic() + 240
    while not list(folder.glob("stages/*/*.unfinished/*.npz")) and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.05)
    found = psutil.Process(process.pid).children(recursive=True)
    process.terminate()
    process.communicate(timeout=60)
    assert left(found) == []
    assert list(folder.glob("stages/*/*.unfinished/*.npz"))
    again = start(program("table2", folder, epochs="60"))
    assert again.communicate(timeout=300) and again.returncode == 0
    assert read(folder) == read(tmp_path / "undisturbed")
