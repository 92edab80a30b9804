"""Reads a folder of results: tables, test decisions and records of runs."""

import functools
import importlib.resources
import json
import math
import pathlib
import tomllib
from typing import Any

import numpy as np
import pandas

from csdl_keras._utils.files import read_npz
from csdl_keras.costs.generators import zero_one
from csdl_keras.training.algorithms import get_algorithm

#: Values of empty cells, and of columns that tables of earlier versions lack.
_DEFAULTS = {"seed": 0, "collapsed": False, "tried_again": 0, "hidden_units": "", "epochs": 0}
_DEFAULTS |= {"beta": math.nan, "validation": math.nan, "train_seconds": math.nan}
_DEFAULTS |= {"value": "", "given": "", "cell": ""}
#: The columns that identify a result.
PLACE = ["dataset", "imbalanced", "algorithm", "cost_seed", "seed"]


def data_label(dataset: str, imbalanced: bool) -> str:
    """Returns the name of a data set in files, such as `"mnist_imb"` for an imbalanced variant."""
    return f"{dataset}_imb" if imbalanced else dataset


def read_table(folder: pathlib.Path, name: str) -> pandas.DataFrame:
    """Reads a CSV file, if there is one, and adds the column `label`, see `data_label`."""
    if not (folder / name).is_file():
        return pandas.DataFrame(columns=["label", "algorithm", "parameter", *_DEFAULTS])
    texts = {column: str for column, value in _DEFAULTS.items() if value == ""}
    frame = pandas.read_csv(folder / name, dtype=texts)
    for column, value in _DEFAULTS.items():
        known = frame[column] if column in frame else pandas.Series(value, frame.index)
        frame[column] = known.fillna(value).astype(type(value))
    labels = map(data_label, frame["dataset"], frame["imbalanced"])
    return frame.assign(label=list(labels))


def read_runs(folder: pathlib.Path) -> list[dict[str, Any]]:
    """Reads `run.json`, if it exists: `{"runs": [records]}`, or the record of a comparison."""
    path = folder / "run.json"
    try:
        content = json.loads(path.read_text("utf-8")) if path.exists() else {"runs": []}
    except ValueError as error:
        raise ValueError(f"{path} is not valid JSON: {error}.") from error
    return content.get("runs", [content])


def collapsed(
    decisions: np.ndarray, labels: np.ndarray, matrix: np.ndarray, in_errors: bool
) -> bool:
    """Returns whether one decision for all is at least as good, in costs or `in_errors`."""
    costs = zero_one(len(matrix)) if in_errors else matrix.astype("float64")
    same = bool((decisions == decisions[0]).all())
    return same or bool(costs[labels, decisions].mean() >= costs[labels].mean(axis=0).min())


def decisions_name(algorithm: str, cost_seed: int, seed: int) -> str:
    """Returns the name of an array of decisions, for an algorithm, a matrix and a seed."""
    return f"{algorithm}_{cost_seed}" + (f"_seed_{seed}" if seed else "")


def beta_name(algorithm: str, cost_seed: int, beta: float) -> str:
    """Returns the name of an array of decisions at a point of the curve of beta."""
    return f"{algorithm}_{cost_seed}_beta_{str(float(beta)).removesuffix('.0')}"


class Decisions:
    """The arrays of `test_decisions/LABEL.npz`: test decisions, labels and cost matrices."""

    def __init__(self, folder: pathlib.Path, label: str):
        self.label = label
        self.path = folder / "test_decisions" / f"{label.replace('/', '_')}.npz"
        self.arrays = read_npz(self.path) if self.path.is_file() else {}

    def priced(self, name: str, cost_seed: int) -> np.ndarray:
        return self.matrix(cost_seed)[self.labels, self.arrays[name]]

    @property
    def labels(self) -> np.ndarray:
        return self.arrays["labels"]

    def matrix(self, cost_seed: int) -> np.ndarray:
        return self.arrays[f"matrix_{cost_seed}"].astype("float64")

    def collapsed(self, name: str, cost_seed: int, algorithm: str) -> bool:
        blind = get_algorithm(algorithm).series == "blind"
        return collapsed(self.arrays[name], self.labels, self.matrix(cost_seed), blind)


@functools.cache
def words() -> dict[str, Any]:
    """Returns the prose of the report, and the paper's claims."""
    text = importlib.resources.files(__package__).joinpath("report.toml").read_text("utf-8")
    return tomllib.loads(text)
