"""Small grids, run in this process or in one of their own."""

import csv
import dataclasses
import os
import subprocess
import sys

import keras

import csdl_keras as csdl
from csdl_keras.experiments.grid import Grid
from csdl_keras.experiments.profiles import Profile
from tests.fresh_process import REPOSITORY

PROFILE = Profile(
    datasets=("digits_imb",),
    settings=csdl.Settings().replace(
        {
            "mlp.hidden_units": (8,),
            "mlp.epochs": 2,
            "pretraining.epochs": 1,
            "cnn.epochs": 1,
            "mlp.min_steps": 1,
            "cnn.min_steps": 1,
        }
    ),
    grids={
        "mlp.learning_rate": (0.01, 0.3),
        "pretraining.beta": (0.0, 0.5),
        "svm.penalty": (0.1, 1.0),
    },
    cost_seeds=2,
    dear_cost_seeds=1,
    train_size=343,
    algorithms=("dnn_blind", "csosr", "dnn_bayes", "sdae_sosr", "csdnn"),
)
#: For processes of their own, which take their time to start.
SHORT = dataclasses.replace(
    PROFILE,
    datasets=("digits",),
    algorithms=("dnn_bayes", "csdnn"),
    grids={"pretraining.beta": (0.0, 0.5)},
    cost_seeds=1,
)
RUN = """
import pathlib
from csdl_keras import Settings
from csdl_keras.experiments.grid import Grid
from csdl_keras.experiments.profiles import Profile
from tests.experiments.grid_runs import Recorder

print("started", flush=True)
watcher = Recorder()
assert not Grid({profile!r}, pathlib.Path({folder!r}), pathlib.Path({cache!r})).run(watcher)
print("finished", len(watcher.stages), flush=True)
"""


class Recorder:
    """Keeps what a grid tells."""

    def __init__(self):
        self.stages, self.choices, self.completed, self.left = [], [], [], []

    def finished(self, cell, stage, seconds, left):
        self.stages.append((cell.source.label, cell.algorithm, cell.cost_seed, stage))
        self.left.append(len(left))

    def chosen(self, dataset, choices):
        self.choices += choices

    def complete(self, dataset, outcomes):
        self.completed.append(dataset)


def run(folder, profile=PROFILE, cache=None, **kwargs):
    watcher = Recorder()
    failures = Grid(profile, folder, cache or folder / "stages", **kwargs).run(watcher)
    assert failures.lines() == []
    return watcher


def read(folder, name="results.csv", without=("train_seconds",)):
    with (folder / name).open() as file:
        rows = list(csv.DictReader(file))
    return [{key: row[key] for key in row if key not in without} for row in rows]


def start(folder, cache=None, profile=SHORT):
    code = RUN.format(profile=profile, folder=str(folder), cache=str(cache or folder / "stages"))
    environment = {
        **os.environ,
        "KERAS_BACKEND": keras.backend.backend(),
        "PYTHONPATH": str(REPOSITORY),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )


def stage_names(folder):
    """The files of stages, by which of them are there one knows what has been run."""
    return sorted(str(path.relative_to(folder)) for path in folder.glob("stages/*/[0-9a-f]*.npz"))
