"""The search of `csdl-keras tune`: its spaces, its tuner, and its trials in a file and a figure."""

import argparse
import pathlib
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pandas
from matplotlib.figure import Figure

from csdl_keras import Algorithm, StageCache, plots, tuning
from csdl_keras._utils.files import replacing
from csdl_keras.training.algorithms import get_algorithm
from csdl_keras_cli.data import Data
from csdl_keras_cli.tune import PATIENCE, SPACES

_WHOLE_NUMBERS = ("depth", "units", "pretraining_epochs")
#: Most trials that are shown.
_SHOWN = 6
#: Columns of `trials.csv` before those of hyperparameters.
_HEAD = ["trial", "status", "validation_cost", "best_epoch"]
#: Hyperparameters that are drawn ahead of the others.
_FIRST = ("beta", "depth")


class Search:
    """A search with KerasTuner in a folder, for data in the form that suits the algorithm.

    `announce` is called with each trial of KerasTuner that ends.
    """

    def __init__(
        self,
        arguments: argparse.Namespace,
        data: Data,
        matrix: np.ndarray,
        folder: pathlib.Path,
        cache: StageCache,
        announce: Callable[[Any], None],
    ):
        self._hyper_model = _hyper_model(arguments, data, matrix, cache)
        classes = {
            "random": tuning.RandomSearch,
            "bayesian": tuning.BayesianOptimization,
            "grid": tuning.GridSearch,
        }
        self._tuner = classes[arguments.tuner](
            self._hyper_model,
            max_trials=arguments.max_trials,
            executions_per_trial=arguments.executions,
            seed=arguments.seed,
            directory=str(folder),
            project_name="search",
            announce=announce,
        )
        # Targets of training are labels, or the examples' own costs.
        targets = data.y if data.costs is None else data.costs
        stopping = keras.callbacks.EarlyStopping("val_average_cost", mode="min", patience=PATIENCE)
        self._fit: dict[str, Any] = {
            "x": data.x["train"],
            "y": targets["train"],
            "validation_data": (data.x["val"], targets["val"]),
            "epochs": arguments.epochs,
            "batch_size": arguments.batch_size,
            "callbacks": [stopping],
            "verbose": 0,
        }

    def check(self) -> None:
        """Raises a ValueError if the folder holds another search."""
        self._tuner.check_search(**self._fit)

    def run(self) -> None:
        """Runs the trials that are missing."""
        self._tuner.search(**self._fit)

    def trials(self) -> pandas.DataFrame:
        """Returns all trials, lowest cost first and failed ones last, as in `trials.csv`."""
        rows = []
        for name, trial in sorted(self._tuner.oracle.trials.items()):
            done = trial.status == "COMPLETED"
            found = (float(trial.score), int(trial.best_step) + 1) if done else (None, None)
            head = dict(zip(_HEAD, (name, trial.status, *found), strict=True))
            rows.append(head | trial.hyperparameters.values)
        frame = pandas.DataFrame(rows, columns=None if rows else _HEAD)
        frame["best_epoch"] = frame["best_epoch"].astype("Int64")
        return frame.sort_values("validation_cost", kind="stable", ignore_index=True)

    def best_model(self) -> Any:
        """Returns the classifier of the best trial."""
        return self._hyper_model.classifier(self._tuner.get_best_models()[0])

    def why_none(self) -> str:
        """Returns what the last trial of a search said in which none succeeded."""
        messages = [it.message for it in self._tuner.oracle.trials.values() if it.message]
        last = messages[-1].strip().splitlines()[-1] if messages else "no trial was run"
        return f"Expected at least one trial to succeed; the last one said: {last}"


def parse_space(name: str, text: str) -> "list[Any] | tuning.Range":
    """Parses a space written as `"0.25"`, `"0,0.25,1"`, `"0.01:1"` or `"0.01:1:log"`."""
    if name == "optimizer":
        return [part.strip() for part in text.split(",")]
    number = int if name in _WHOLE_NUMBERS else float
    try:
        if ":" in text:
            low, high, *sampling = text.split(":")
            return tuning.Range(number(low), number(high), None, *sampling)
        return [number(part) for part in text.split(",")]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Expected --{name.replace('_', '-')} as {number.__name__} values such as a,b,c or a "
            f"range low:high or low:high:log; received {text!r} ({error})"
        ) from error


def searched_names(algorithm: Algorithm) -> set[str]:
    """Returns the names in `SPACES` of the values that an algorithm has."""
    names = {"optimizer", "learning_rate", *algorithm.objective.searched}
    if not algorithm.body_kind.takes_images:
        names |= {"depth", "units"}
    if algorithm.pretrains:
        names |= {"corruption", "pretraining_epochs"}
        if algorithm.pretraining_sees != "inputs":
            names.add("beta")
    return names


def _hyper_model(
    arguments: argparse.Namespace, data: Data, matrix: np.ndarray, cache: StageCache
) -> "tuning.CSDNNHyperModel | tuning.CNNHyperModel":
    texts = {name: getattr(arguments, name) for name in SPACES}
    spaces = {name: parse_space(name, text) for name, text in texts.items() if text is not None}
    algorithm = get_algorithm(arguments.algorithm)
    foreign = sorted(spaces.keys() - searched_names(algorithm))
    if foreign:
        raise ValueError(
            f"Expected no --{foreign[0].replace('_', '-')} for {arguments.algorithm}, which has "
            f"no such value; received {texts[foreign[0]]!r}."
        )
    common: dict[str, Any] = {
        "algorithm": arguments.algorithm,
        "seed": arguments.seed,
        "num_classes": len(data.labels),
        **spaces,
    }
    if data.costs is not None:
        common["max_cost"] = float(data.costs["train"].max())
    x, prices = data.x["train"], matrix if data.costs is None else None
    if algorithm.body_kind.takes_images:
        common["mean"] = 255.0 * x.mean(axis=0)
        return tuning.CNNHyperModel(x.shape[1:], prices, **common)
    return tuning.CSDNNHyperModel(x.shape[1:], prices, cache=cache, **common)


def varied(trials: pandas.DataFrame) -> list[str]:
    """Returns the hyperparameters that differ between trials, in order of appearance."""
    values = trials.drop(columns=_HEAD)
    return [name for name in values if len({str(it) for it in values[name]}) > 1]


def trials_text(trials: pandas.DataFrame) -> str:
    """Returns a table of the best trials, a column each.

    It has the hyperparameters that vary, or all of them where none does, as of a single trial.
    """
    done = trials[trials["validation_cost"].notna()]
    names = varied(trials) or list(done.dropna(axis="columns").columns.drop(_HEAD))
    shown = done.head(_SHOWN)[["trial", "validation_cost", "best_epoch", *names]].set_index("trial")
    shown = shown.map(lambda it: f"{it:.4g}" if isinstance(it, float) else str(it)).T
    more = "" if len(done) == len(trials) <= _SHOWN else "\nall trials: trials.csv"
    return f"The best of {len(trials)} trials\n{shown.to_string()}{more}"


def plot_search(trials: pandas.DataFrame, path: pathlib.Path) -> None:
    """Draws the cost of trials against beta, depth and all else that varies, and writes a PNG."""
    done = trials[trials["validation_cost"].notna()]
    numeric = done[varied(done)].select_dtypes("number").columns
    names = sorted(numeric, key=lambda name: name not in _FIRST)
    columns = min(max(len(names), 1), 3)
    rows = -(-max(len(names), 1) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.2 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    for name, axes in zip(names, grid.flat, strict=False):
        chosen = done[done[name].notna()]
        values, costs = chosen[name].tolist(), chosen["validation_cost"].to_numpy(float)
        plots.cost_against(values, costs, name, ax=axes, log=name.endswith("learning_rate"))
    with replacing(path) as unfinished:
        figure.savefig(unfinished, dpi=150)
