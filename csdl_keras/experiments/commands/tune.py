"""The command `csdl-keras tune`."""

import argparse
import contextlib
import pathlib
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from csdl_keras._utils.files import check_writable, save_model
from csdl_keras._utils.frames import rows_of
from csdl_keras._utils.optional import optional_module
from csdl_keras.costs._tensors import to_config
from csdl_keras.experiments.cell import FIRST_COST_SEED
from csdl_keras.experiments.commands.sources import (
    data_record,
    load_snippet,
    show_source,
    source_of,
)
from csdl_keras.experiments.commands.spaces import parse_space
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.failures import Failures
from csdl_keras.experiments.run_folder import add_findings, append_record, remove_record
from csdl_keras.experiments.saving import Saving, findings, report_decisions, warning
from csdl_keras.experiments.trials import (
    TrialRecord,
    plot_search,
    trial_records,
    trials_table,
    write_trials,
)
from csdl_keras.fitting.stage_cache import StageCache
from csdl_keras.prediction.decide import decide
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.algorithms import get_algorithm
from csdl_keras_cli.tune import PATIENCE, SPACES

if TYPE_CHECKING:
    from keras_tuner.engine.oracle import Oracle
    from rich.console import Console

    from csdl_keras.tuning import CNNHyperModel, CSDNNHyperModel


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    # All optional modules first: nothing may be missing once training has begun.
    for module in ("matplotlib", "rich", "sklearn"):
        optional_module(module, "compare")
    from csdl_keras.tuning.resumable import is_worker, search_lock

    name = arguments.dataset.replace("/", "_") if arguments.data is None else arguments.data.stem
    folder = arguments.out or pathlib.Path("csdl_runs") / f"tune-{name}-{arguments.algorithm}"
    check_writable("--out", folder)
    worker = is_worker()
    with contextlib.nullcontext() if worker else search_lock(folder / "tune.lock", folder):
        return _search(arguments, folder, worker)


def _search(arguments: argparse.Namespace, folder: pathlib.Path, worker: bool) -> int:
    from csdl_keras import tuning
    from csdl_keras.experiments.display import SearchDisplay, make_console, print_table

    console, failures = make_console(), Failures()
    source, costs = source_of(arguments)
    source = source.suiting(get_algorithm(arguments.algorithm))
    data: Any = source.load()
    matrix = source.matrix(FIRST_COST_SEED if arguments.cost_seed is None else arguments.cost_seed)
    # Targets of training are labels, or the examples' own costs.
    targets = {part: source.example_costs(part) for part in ("train", "val")}
    if targets["train"] is None:
        targets = {"train": data.y_train, "val": data.y_val}
    check_writable("--cache", arguments.cache or folder / "stages")
    cache = StageCache(arguments.cache or folder / "stages")
    hyper_model = _hyper_model(arguments, source, matrix, cache)
    classes = {
        "random": tuning.RandomSearch,
        "bayesian": tuning.BayesianOptimization,
        "grid": tuning.GridSearch,
    }
    tuner = classes[arguments.tuner](
        hyper_model,
        max_trials=arguments.max_trials,
        executions_per_trial=arguments.executions,
        seed=arguments.seed,
        directory=str(folder),
        project_name="search",
        announce=lambda trial: display.finished(trial),
    )
    done = [] if worker else trial_records(tuner.oracle)
    before = sum(record.status == "COMPLETED" for record in done)
    display = SearchDisplay(console, "trials", arguments.max_trials, before)
    fit = {
        "x": data.x_train,
        "y": targets["train"],
        "validation_data": (data.x_val, targets["val"]),
        "epochs": arguments.epochs,
        "batch_size": arguments.batch_size,
        "callbacks": [
            keras.callbacks.EarlyStopping("val_average_cost", mode="min", patience=PATIENCE)
        ],
        "verbose": 0,
    }
    if not worker:
        tuner.check_search(**fit)
        raw: Any = source.raw().load()
        choices = {"cost_matrix": to_config(matrix)}
        record = append_record(folder, arguments, choices, data=data_record(arguments, raw))
        show_source(console, arguments, raw, costs)
        console.print(
            f"{get_algorithm(arguments.algorithm).title} on {data.name}, "
            f"{arguments.tuner} search of at most {arguments.max_trials} trials in {folder}. "
            "Stop it when you like: the same command goes on from there."
        )
    with failures.step("the search"), display:
        tuner.search(**fit)
    if worker:
        return failures.tell()  # the chief reports
    records = trial_records(tuner.oracle)
    with failures.step("trials.csv"):
        write_trials(records, folder / "trials.csv")
    if not records or records[0].validation_cost is None:
        remove_record(folder, record)
        if not failures:
            raise ValueError(_why_none(tuner.oracle))
        return failures.tell()
    with failures.step("search.png"):
        plot_search(records, folder / "search.png")
    with failures.step("the table"):
        print_table(console, trials_table(records, console.width))
    with failures.step("best_model.keras"):
        model = source.finished(hyper_model.classifier(tuner.get_best_models()[0]))
        path = folder / "best_model.keras"
        save_model(model, path)
        names = getattr(data, "decisions", None) if costs is None else costs.decisions
        decided = {arguments.algorithm: decide(model, rows_of(raw.x_test))}
        report = report_decisions(decided, source, matrix, names)
        savings = {arguments.algorithm: Saving.of(report.rows[0], report)}
        add_findings(folder, findings(savings))
        _print_best(console, records[0], savings[arguments.algorithm], folder)
        print(load_snippet(data, path, arguments.dataset))
        if told := warning(savings):
            print(f"\n# {told}")
    return failures.tell()


def _print_best(
    console: "Console", best: TrialRecord, saving: Saving, folder: pathlib.Path
) -> None:
    written = [folder / name for name in ("trials.csv", "search.png", "best_model.keras")]
    found = [str(path) for path in written if path.exists()]
    console.print(
        f"\nThe best trial, {best.trial}, pays {best.validation_cost:.4f} a validation example. "
        f"{saving.sentence} Wrote {', '.join(found)}; the model decides by itself. Load it:\n",
        soft_wrap=True,
    )


def _hyper_model(
    arguments: argparse.Namespace,
    source: DataSource,
    matrix: np.ndarray,
    cache: StageCache,
) -> "CSDNNHyperModel | CNNHyperModel":
    from csdl_keras import tuning

    data: Any = source.load()
    texts = {name: getattr(arguments, name) for name in SPACES}
    spaces = {name: parse_space(name, text) for name, text in texts.items() if text is not None}
    common: dict[str, Any] = {
        "algorithm": arguments.algorithm,
        "seed": arguments.seed,
        "num_classes": data.num_classes,
        **spaces,
    }
    algorithm = get_algorithm(arguments.algorithm)
    foreign = sorted(spaces.keys() - _searched(algorithm))
    if foreign:
        raise ValueError(
            f"Expected no --{foreign[0].replace('_', '-')} for {arguments.algorithm}, which has "
            f"no such value; received {texts[foreign[0]]!r}."
        )
    own = source.example_costs("train")
    if own is not None:
        common["max_cost"] = float(own.max())
    prices = matrix if own is None else None
    if algorithm.body_kind.takes_images:
        common["mean"] = 255.0 * data.x_train.mean(axis=0)
        return tuning.CNNHyperModel(data.x_train.shape[1:], prices, **common)
    return tuning.CSDNNHyperModel(data.x_train.shape[1:], prices, cache=cache, **common)


def _searched(algorithm: Algorithm) -> set[str]:
    """Returns the names in `SPACES` of the values that an algorithm has."""
    names = {"optimizer", "learning_rate", *algorithm.objective.searched}
    if not algorithm.body_kind.takes_images:
        names |= {"depth", "units"}
    if algorithm.pretrains:
        names |= {"corruption", "pretraining_epochs"}
        if algorithm.pretraining_sees != "inputs":
            names.add("beta")
    return names


def _why_none(oracle: "Oracle") -> str:
    """Returns what the last trial of a search said in which none succeeded."""
    messages = [trial.message for trial in oracle.trials.values() if trial.message]
    last = messages[-1].strip().splitlines()[-1] if messages else "no trial was run"
    return f"Expected at least one trial to succeed; the last one said: {last}"
