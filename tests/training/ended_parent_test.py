"""Processes that train end with the one that started them, whatever signal ends that."""

import contextlib
import os
import signal
import time

import pytest

from tests.paper.grid_runs import read
from tests.support.fresh_process import run_python, start_python

psutil = pytest.importorskip("psutil")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="elsewhere a parent that has ended stays"),
]

COMMAND = """
import sys
from csdl_keras_cli.main import main

arguments = "table2 --datasets digits --algorithms dnn_sosr --cost-seeds 4 --jobs 2"
sys.exit(main([*arguments.split(), "--epochs", "{epochs}", "--out", {folder!r}]))
"""
# Makes the processes of the command save their state after each epoch. Otherwise they save it every
# 30 s at most, and these trainings end before that.
SAVING_OFTEN = """
from csdl_keras.training import workers

def saving_often(*task):
    from csdl_keras.fitting import seeded_fit
    from csdl_keras.training.workers import _attempt

    seeded_fit.SECONDS = 0.0
    return _attempt(*task)

workers._attempt = saving_often
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
    if signal.getsignal(getattr(signal, name)) == signal.SIG_IGN:
        pytest.skip("ignored, as below nohup, and so by the processes below")
    process = start_python(code.format(folder=str(tmp_path), epochs=100_000))
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
    folders = tmp_path / "run", tmp_path / "undisturbed"
    code, undisturbed = (
        SAVING_OFTEN + COMMAND.format(folder=str(folder), epochs=60) for folder in folders
    )
    run_python(undisturbed)
    with start_python(code) as process:
        deadline = time.monotonic() + 240
        while not list(folders[0].glob("stages/*/*.unfinished/*.npz")):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        found = psutil.Process(process.pid).children(recursive=True)
        process.terminate()
        process.communicate(timeout=60)
    assert left(found) == []
    assert list(folders[0].glob("stages/*/*.unfinished/*.npz"))
    run_python(code)
    assert read(folders[0]) == read(folders[1])
