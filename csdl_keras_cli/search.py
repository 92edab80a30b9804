"""The search of `csdl-keras tune`: its spaces, its tuner, and its trials."""

import argparse
import pathlib
from collections.abc import Callable
from typing import Any

import keras
import keras_tuner
import numpy as np
import pandas
from matplotlib.figure import Figure

from csdl_keras import StageCache, plots, tuning
from csdl_keras._utils.files import replacing
from csdl_keras.training.algorithms import get_algorithm
from csdl_keras_cli.data import Data
from csdl_keras_cli.tune import PATIENCE, SPACES

_WHOLE_NUMBERS = ("depth", "units", "pretraining_epochs")
_TUNERS = {
    "random": tuning.RandomSearch,
    "bayesian": tuning.BayesianOptimization,
    "grid": tuning.GridSearch,
}
#: Columns of `trials.csv` before those of hyperparameters.
_HEAD = ["trial", "status", "validation_cost", "best_epoch"]
#: Most trials that are shown.
_SHOWN = 6


def make_tuner(
    arguments: argparse.Namespace,
    data: Data,
    matrix: np.ndarray,
    folder: pathlib.Path,
    announce: Callable[[Any], None],
) -> Any:
    """Returns the tuner for data in the form of the algorithm; it announces trials that end."""
    texts = {name: getattr(arguments, name) for name in SPACES}
    texts = {name: text for name, text in texts.items() if text is not None}
    algorithm = get_algorithm(arguments.algorithm)
    common: dict[str, Any] = {
        "algorithm": arguments.algorithm,
        "seed": arguments.seed,
        "num_classes": len(data.labels),
        **{name: parse_space(name, text) for name, text in texts.items()},
    }
    x, prices = data.x["train"], matrix if data.costs is None else None
    if data.costs is not None:
        common["max_cost"] = float(data.costs["train"].max())
    hyper_model: tuning.CSDNNHyperModel | tuning.CNNHyperModel
    if algorithm.body_kind.takes_images:
        hyper_model = tuning.CNNHyperModel(
            x.shape[1:], prices, mean=255.0 * x.mean(axis=0), **common
        )
    else:
        cache = StageCache(arguments.cache or folder / "stages")
        hyper_model = tuning.CSDNNHyperModel(x.shape[1:], prices, cache=cache, **common)
    values = keras_tuner.HyperParameters()
    hyper_model.build(values)
    known = {it.name.removeprefix("sgd_").removeprefix("adam_") for it in values.space}
    for name in texts.keys() - known:
        raise ValueError(
            f"Expected no --{name.replace('_', '-')} for {arguments.algorithm}, which has no such "
            f"value; received {texts[name]!r}."
        )
    return _TUNERS[arguments.tuner](
        hyper_model,
        max_trials=arguments.max_trials,
        executions_per_trial=arguments.executions,
        seed=arguments.seed,
        directory=str(folder),
        project_name="search",
        announce=announce,
    )


def fit_arguments(arguments: argparse.Namespace, data: Data) -> dict[str, Any]:
    """Returns the arguments of `fit` in each trial; targets are labels, or the examples' costs."""
    targets = data.y if data.costs is None else data.costs
    stopping = keras.callbacks.EarlyStopping("val_average_cost", mode="min", patience=PATIENCE)
    return {
        "x": data.x["train"],
        "y": targets["train"],
        "validation_data": (data.x["val"], targets["val"]),
        "epochs": arguments.epochs,
        "batch_size": arguments.batch_size,
        "callbacks": [stopping],
        "verbose": 0,
    }


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


def trials_of(tuner: Any) -> pandas.DataFrame:
    """Returns all trials, lowest cost first and failed ones last, as in `trials.csv`."""
    rows = []
    for name, trial in sorted(tuner.oracle.trials.items()):
        done = trial.status == "COMPLETED"
        found = (float(trial.score), int(trial.best_step) + 1) if done else (None, None)
        head = dict(zip(_HEAD, (name, trial.status, *found), strict=True))
        rows.append(head | trial.hyperparameters.values)
    frame = pandas.DataFrame(rows, columns=None if rows else _HEAD)
    frame["best_epoch"] = frame["best_epoch"].astype("Int64")
    return frame.sort_values("validation_cost", kind="stable", ignore_index=True)


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
    names = sorted(numeric, key=lambda name: name not in ("beta", "depth"))
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
