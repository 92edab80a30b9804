"""Small runs of commands and grids."""

import csv
import dataclasses

import csdl_keras as csdl
from csdl_keras.experiments.cell_runner import CellRunner
from csdl_keras.experiments.grid import Grid
from csdl_keras.experiments.profiles import Profile
from csdl_keras.experiments.search import Search
from csdl_keras.training.trained import Trained

TABLE2 = "table2 --datasets digits --train-size 343 --epochs 1 --cost-seeds 2".split()
TABLE2 += ["--algorithms", "dnn_bayes,scae_sosr"]
PROFILE = Profile(
    datasets=("digits_imb",),
    settings=csdl.Settings().replace(
        {"mlp.hidden_units": (8,), "mlp.epochs": 2, "pretraining.epochs": 1, "cnn.epochs": 1}
        | {"mlp.min_steps": 1, "cnn.min_steps": 1}
    ),
    searches=(
        Search("mlp.learning_rate", (0.01, 0.3)),
        Search("pretraining.beta", (0.0, 0.5)),
        Search("svm.penalty", (0.1, 1.0)),
    ),
    cost_seeds=2,
    slow_cost_seeds=1,
    train_size=343,
    algorithms=("dnn_blind", "csosr", "dnn_bayes", "sdae_sosr", "csdnn"),
)
#: Fewer stages, for tests that need no more.
SHORT = dataclasses.replace(
    PROFILE,
    datasets=("digits",),
    algorithms=("dnn_bayes", "csdnn"),
    searches=(Search("pretraining.beta", (0.0, 0.5)),),
    cost_seeds=1,
)


class Recorder:
    """Keeps what a grid tells."""

    def __init__(self):
        self.ran, self.found, self.choices, self.completed, self.expected = [], [], [], [], []

    def expect(self, stages):
        self.expected.append(stages)

    def finished(self, outcome, found=False):
        (self.found if found else self.ran).append(outcome.cell)

    def chosen(self, dataset, choice):
        self.choices.append(choice)

    def complete(self, dataset, algorithm, costs):
        self.completed.append((dataset, algorithm, len(costs)))


def failing(function, when, error):
    """The function, but for calls whose arguments are such that it fails."""

    def call(*arguments, **kwargs):
        if when(*arguments, **kwargs):
            raise error
        return function(*arguments, **kwargs)

    return call


def train_all_with(make):
    """A `Trainer.train_all` that asks `make` for the model of an algorithm; `None` trains it."""
    train = csdl.Trainer.train

    def train_all(self, requests, on_error):
        for index, (algorithm, matrix, settings) in enumerate(requests):
            try:
                model = make(algorithm.name)
                trained = Trained(model, seconds=1.0, epochs=1)
                if model is None:
                    trained = train(self, algorithm, matrix, settings)
            except Exception as error:
                on_error(index, error)
            else:
                yield index, trained

    return train_all


def make_grid(folder, profile=PROFILE, cache=None, jobs=1, **kwargs):
    runner = CellRunner(csdl.StageCache(cache or folder / "stages"), jobs)
    return Grid(profile, folder, runner, **kwargs)


def run(folder, profile=PROFILE, cache=None, jobs=1, **kwargs):
    """Runs a grid; returns what it told, with the number of stages that it trained."""
    grid, watcher = make_grid(folder, profile, cache, jobs, **kwargs), Recorder()
    assert grid.run(watcher).lines() == []
    watcher.trained = len(grid.runner.trained)
    return watcher


def read(folder, name="results.csv", without=("train_seconds",)):
    with (folder / name).open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [{key: row[key] for key in row if key not in without} for row in rows]


def algorithms(folder):
    return [row["algorithm"] for row in read(folder)]
