"""Small runs of grids and of `table2`."""

import dataclasses

import numpy as np

import csdl_keras as csdl
from csdl_keras.paper.cells import Outcome
from csdl_keras.paper.folder import Folder
from csdl_keras.paper.grid import Grid
from csdl_keras.paper.profiles import Profile, Search
from tests.paper.made_up_folder import read_rows

TABLE2 = "table2 --datasets digits --train-size 343 --epochs 1 --cost-seeds 2".split()
TABLE2 += ["--algorithms", "dnn_bayes,scae_sosr"]
PROFILE = Profile(
    datasets=("digits_imb",),
    settings=csdl.Settings().replace(
        {"mlp.hidden_units": (8,), "mlp.epochs": 2, "pretraining.epochs": 1, "cnn.epochs": 1}
        | {"mlp.min_steps": 1, "cnn.min_steps": 1}
    ),
    searches=(Search("pretraining.beta", (0.0, 0.5)), Search("svm.penalty", (0.1, 1.0))),
    cost_seeds=2,
    train_size=343,
    algorithms=("csosr", "dnn_bayes", "csdnn"),
)
#: Fewer stages, for tests that need no more.
SHORT = dataclasses.replace(
    PROFILE,
    datasets=("digits",),
    algorithms=("dnn_bayes", "csdnn"),
    searches=(Search("pretraining.beta", (0.0, 0.5)),),
    cost_seeds=1,
)


def failing(function, when, error):
    """The function, but for calls whose arguments are such that it fails."""

    def call(*arguments, **kwargs):
        if when(*arguments, **kwargs):
            raise error
        return function(*arguments, **kwargs)

    return call


def make_grid(folder, profile=PROFILE, cache=None, **kwargs):
    cache = csdl.StageCache(cache or folder / "stages")
    return Grid(profile, Folder(folder), cache, **kwargs)


def run(folder, profile=PROFILE, cache=None, **kwargs):
    """Runs a grid; returns the cells that were not in its folder, and what it told."""
    ran, told = [], []
    grid = make_grid(folder, profile, cache, tell=told.append, **kwargs)
    outcomes = grid._outcomes

    def recorded(cells):
        for outcome in outcomes(cells):
            ran.append(outcome.cell)
            yield outcome

    grid._outcomes = recorded
    assert grid.run().lines == []
    return ran, told


def made_up(share):
    """In place of `run_cells`: decides a share of examples rightly, without a training."""

    def run(cells, *_):
        for cell in cells:
            data, right = cell.source.load(), share(cell)
            decisions = {
                part: np.where(np.linspace(0, 1, len(labels)) < right, labels, (labels + 1) % 10)
                for part, labels in (("val", data.y_val), ("test", data.y_test))
            }
            yield Outcome(cell, decisions, cell.settings.mlp.epochs, 0.0)

    return run


def read(folder, name="results.csv"):
    return read_rows(folder / name)


def algorithms(folder):
    return [row["algorithm"] for row in read(folder)]
