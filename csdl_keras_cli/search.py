"""The search of `csdl-keras tune`: its spaces, its tuner, and its trials."""

import argparse
import datetime
import pathlib
from typing import Any

import keras
import keras_tuner
import numpy as np
import pandas
from matplotlib.figure import Figure

from csdl_keras import StageCache, plots, tuning
from csdl_keras._utils.files import check_writable, replacing, save_model
from csdl_keras.evaluation._report_text import saving_sentence, warning
from csdl_keras.paper.failures import Failures
from csdl_keras.training.algorithms import get_algorithm
from csdl_keras.tuning.resumable import is_worker
from csdl_keras_cli.choices import FIRST_COST_SEED
from csdl_keras_cli.data import Data, data_record, load_snippet, read_data, show_data
from csdl_keras_cli.run_folder import RunRecord
from csdl_keras_cli.tune import PATIENCE, SPACES

_TUNERS = {
    "random": tuning.RandomSearch,
    "bayesian": tuning.BayesianOptimization,
    "grid": tuning.GridSearch,
}
#: Columns of `trials.csv` before those of hyperparameters.
_HEAD = ["trial", "status", "validation_cost", "best_epoch"]
#: Most trials that are shown.
_SHOWN = 6


def tune(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    name = arguments.dataset.replace("/", "_") if arguments.data is None else arguments.data.stem
    folder = arguments.out or pathlib.Path("csdl_runs") / f"tune-{name}-{arguments.algorithm}"
    check_writable("--out", folder)
    data, algorithm = read_data(arguments), get_algorithm(arguments.algorithm)
    form = data.suiting(algorithm)
    matrix = data.matrix_of(FIRST_COST_SEED)
    tuner = _make_tuner(arguments, form, matrix, folder)
    # Targets of training are labels, or the examples' own costs.
    targets = form.y if form.costs is None else form.costs
    stopping = keras.callbacks.EarlyStopping("val_average_cost", mode="min", patience=PATIENCE)
    fit_arguments: dict[str, Any] = {
        "x": form.x["train"],
        "y": targets["train"],
        "validation_data": (form.x["val"], targets["val"]),
        "epochs": arguments.epochs,
        "batch_size": arguments.batch_size,
        "callbacks": [stopping],
        "verbose": 0,
    }
    failures, worker = Failures(), is_worker()
    with tuner.lock:
        if not worker:
            tuner.check_search(**fit_arguments)
            settings, described = {"cost_matrix": matrix.tolist()}, data_record(data)
            record = RunRecord(folder, arguments, settings, described)
            show_data(data)
            print(
                f"{algorithm.title} on {data.name}, {arguments.tuner} search of at most "
                f"{arguments.max_trials} trials in {folder}. Stop it when you like: the same "
                "command goes on from there."
            )
        with failures.step("the search"):
            tuner.search(**fit_arguments)
    if worker:  # It leaves the report to its chief.
        return failures.tell()
    trials, path = trials_of(tuner), folder / "best_model.keras"
    with failures.step("trials.csv"), replacing(folder / "trials.csv") as unfinished:
        trials.to_csv(unfinished, index=False)
    if not trials["validation_cost"].notna().any():
        if not failures:
            raise ValueError("Expected at least one trial to succeed; received none that did.")
        return failures.tell()
    with failures.step("search.png"):
        plot_search(trials, folder / "search.png")
    with failures.step("the table"):
        print(trials_text(trials))
    with failures.step("best_model.keras"):
        model = form.finished(tuner.hypermodel.classifier(tuner.get_best_models()[0]))
        save_model(model, path)
        savings = data.savings({arguments.algorithm: data.decided(model, "test")}, matrix)
        warned = warning(savings)
        record.add(findings={"warning": warned, "savings": savings})
        print(
            f"\nThe best trial, {trials['trial'][0]}, pays {trials['validation_cost'][0]:.4f} a "
            f"validation example. {saving_sentence(savings[arguments.algorithm])} Wrote "
            f"{path}, trials.csv and search.png; the model decides by itself. Load it:\n\n"
            f"{load_snippet(data, path)}"
        )
        if warned:
            print(f"\n# {warned}")
    return failures.tell()


def _announce(trial: Any) -> None:
    """Prints what came of a trial."""
    reason = (trial.message or "").strip().splitlines()[-1:]
    told = f"{trial.status.lower()} {' '.join(reason)}"
    if trial.status == "COMPLETED":
        told = f"validation cost {trial.score:.4f}"
    print(f"{datetime.datetime.now():%H:%M:%S} trial {trial.trial_id}: {told}", flush=True)


def _make_tuner(
    arguments: argparse.Namespace, data: Data, matrix: np.ndarray, folder: pathlib.Path
) -> Any:
    """Returns the tuner for data in the form of the algorithm."""
    given = {name: getattr(arguments, name) for name in SPACES}
    spaces = {name: parse_space(name, text) for name, text in given.items() if text is not None}
    x, common = data.x["train"], dict[str, Any]()
    kind: type[tuning.CSDNNHyperModel | tuning.CNNHyperModel] = tuning.CSDNNHyperModel
    if get_algorithm(arguments.algorithm).body_kind.takes_images:
        kind, common["mean"] = tuning.CNNHyperModel, 255.0 * x.mean(axis=0)
    else:
        common["cache"] = StageCache(folder / "stages")
    if data.costs is not None:
        common["max_cost"] = float(data.costs["train"].max())
    common |= {name: space for name, space in spaces.items() if name in kind.choices}
    hyper_model = kind(
        x.shape[1:],
        matrix if data.costs is None else None,
        algorithm=arguments.algorithm,
        seed=arguments.seed,
        num_classes=len(data.labels),
        **common,
    )
    values = keras_tuner.HyperParameters()
    hyper_model.build(values)
    known = {it.name.removeprefix("sgd_").removeprefix("adam_") for it in values.space}
    if unknown := [name for name in spaces if name not in known]:
        raise ValueError(
            f"Expected no space of {unknown[0]} for {arguments.algorithm}, which has no such "
            f"value; received {given[unknown[0]]!r}."
        )
    return _TUNERS[arguments.tuner](
        hyper_model,
        max_trials=arguments.max_trials,
        seed=arguments.seed,
        directory=str(folder),
        project_name="search",
        announce=_announce,
    )


def parse_space(name: str, text: str) -> "list[Any] | tuning.Range":
    """Parses a space written as `"0.25"`, `"0,0.25,1"`, `"0.01:1"` or `"0.01:1:log"`."""
    if name == "optimizer":
        return [part.strip() for part in text.split(",")]
    number = int if name in ("depth", "units", "pretraining_epochs") else float
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


def trials_text(trials: pandas.DataFrame) -> str:
    """Returns a table of the best trials, a column each."""
    done = trials[trials["validation_cost"].notna()].head(_SHOWN)
    shown = done.drop(columns="status").set_index("trial").T
    table = shown.to_string(float_format="{:.4g}".format)
    return f"The best of {len(trials)} trials, which are in trials.csv\n{table}"


def plot_search(trials: pandas.DataFrame, path: pathlib.Path) -> None:
    """Draws the cost of trials against each number that varies, and writes a PNG."""
    done = trials[trials["validation_cost"].notna()]
    numeric = done.drop(columns=_HEAD).select_dtypes("number")
    names = numeric.columns[numeric.nunique() > 1]
    figure = Figure(figsize=(4.2 * max(len(names), 1), 3.2), layout="constrained")
    for place, name in enumerate(names, start=1):
        axes, chosen = figure.add_subplot(1, len(names), place), done[done[name].notna()]
        values, costs = chosen[name].tolist(), chosen["validation_cost"].to_numpy(float)
        plots.cost_against(values, costs, name, ax=axes, log=name.endswith("learning_rate"))
    with replacing(path) as unfinished:
        figure.savefig(unfinished, dpi=150)
