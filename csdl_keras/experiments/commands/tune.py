"""The command `csdl-keras tune`."""

import argparse
import contextlib
import pathlib
from typing import TYPE_CHECKING

import keras
import numpy as np

from csdl_keras import costs, datasets
from csdl_keras._utils.files import check_writable, save_model
from csdl_keras._utils.optional import optional_module
from csdl_keras.costs._tensors import to_config
from csdl_keras.datasets import DataSet
from csdl_keras.experiments.cell import FIRST_COST_SEED
from csdl_keras.experiments.commands.arguments import (
    SPACES,
    add_cache,
    add_data,
    add_out,
    add_seed,
    parse_space,
    positive_integer,
    read_cost_matrix,
    whole_number,
)
from csdl_keras.experiments.failures import Failures
from csdl_keras.experiments.run_folder import append_record, load_snippet
from csdl_keras.experiments.trials import (
    TrialRecord,
    plot_search,
    trial_records,
    trials_table,
    write_trials,
)
from csdl_keras.fitting.stage_cache import StageCache
from csdl_keras.prediction.decide import decide
from csdl_keras.training.algorithms import PAPER_ALGORITHMS, get_algorithm

if TYPE_CHECKING:
    from keras_tuner.engine.oracle import Oracle
    from rich.console import Console

    from csdl_keras.tuning import DecisionHyperModel

HELP = "search beta, depth and training of one algorithm with KerasTuner"
DESCRIPTION = (
    "Searches the choices of one algorithm for one cost matrix, with KerasTuner, for the "
    "lowest average cost of a validation example. Writes trials.csv, search.png, "
    "best_model.keras (with its decision rule) and run.json. Stopped or killed at any "
    "moment, the same command goes on from there. KERASTUNER_TUNER_ID, "
    "KERASTUNER_ORACLE_IP and KERASTUNER_ORACLE_PORT make it a chief or a worker of a "
    "search on many machines."
)

#: Algorithms that can be searched: those of the paper that train networks by NLL or SOSR.
TUNABLE = tuple(name for name in PAPER_ALGORITHMS if get_algorithm(name).objective.searchable)
PATIENCE = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    add_data(parser)
    parser.add_argument(
        "--algorithm",
        default="csdnn",
        choices=TUNABLE,
        metavar="NAME",
        help=f"csdnn (default), or one of {', '.join(TUNABLE)}",
    )
    matrix = parser.add_mutually_exclusive_group()
    matrix.add_argument(
        "--cost-matrix",
        type=pathlib.Path,
        metavar="FILE",
        help="matrix C[true, decision] in a .npy file, or a .csv file of numbers only",
    )
    matrix.add_argument(
        "--cost-seed",
        type=whole_number,
        metavar="N",
        help="seed of a random matrix, U[0, 10 n_k / n_y], if there is no file (default 1000)",
    )
    parser.add_argument(
        "--tuner",
        default="random",
        choices=("random", "bayesian", "grid"),
        help="the way in which trials are proposed (default random)",
    )
    numbers = {
        "--max-trials": (10, "most trials, those of earlier runs in the folder included"),
        "--executions": (1, "trainings for each trial, whose costs are averaged"),
        "--epochs": (20, f"most epochs of training, which stops after {PATIENCE} without gain"),
        "--batch-size": (100, "examples in a batch"),
    }
    for option, (default, text) in numbers.items():
        parser.add_argument(
            option,
            type=positive_integer,
            default=default,
            metavar="N",
            help=f"{text} (default {default})",
        )
    for name, text in SPACES.items():
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="SPACE", help=text)
    add_seed(parser, "trials and proposals, of --imbalanced and of --train-size")
    add_out(parser, " (default csdl_runs/tune-DATASET-ALGORITHM)")
    add_cache(parser, "pre-trained layers", "searches")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    # All optional modules first: nothing may be missing once training has begun.
    for module in ("matplotlib", "rich", "sklearn"):
        optional_module(module, "compare")
    from csdl_keras.tuning._search_record import is_worker
    from csdl_keras.tuning.resumable import search_lock

    name = arguments.dataset.replace("/", "_")
    folder = arguments.out or pathlib.Path("csdl_runs") / f"tune-{name}-{arguments.algorithm}"
    check_writable("--out", folder)
    worker = is_worker()
    with contextlib.nullcontext() if worker else search_lock(folder / "tune.lock", folder):
        return _search(arguments, folder, worker)


def _search(arguments: argparse.Namespace, folder: pathlib.Path, worker: bool) -> int:
    from csdl_keras import tuning
    from csdl_keras.experiments.display import SearchDisplay, make_console, print_table

    console, failures = make_console(), Failures()
    data = datasets.load(
        arguments.dataset, arguments.imbalanced, arguments.train_size, seed=arguments.seed
    )
    matrix = _matrix(arguments, data)
    cache = StageCache(arguments.cache or folder / "stages")
    hyper_model = _hyper_model(arguments, data, matrix, cache)
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
        "y": data.y_train,
        "validation_data": (data.x_val, data.y_val),
        "epochs": arguments.epochs,
        "batch_size": arguments.batch_size,
        "callbacks": [
            keras.callbacks.EarlyStopping("val_average_cost", mode="min", patience=PATIENCE)
        ],
        "verbose": 0,
    }
    if not worker:
        tuner.check_search(**fit)
        append_record(folder, arguments, {"cost_matrix": to_config(matrix)})
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
    if not failures:
        _check_completed(records, tuner.oracle)
    if records and records[0].validation_cost is not None:
        with failures.step("search.png"):
            plot_search(records, folder / "search.png")
        with failures.step("the table"):
            print_table(console, trials_table(records))
        with failures.step("best_model.keras"):
            model = hyper_model.classifier(tuner.get_best_models()[0])
            save_model(model, folder / "best_model.keras")
            paid = matrix[data.y_test, decide(model, data.x_test)].mean()
            _print_best(console, records[0], paid, folder)
            print(load_snippet(folder / "best_model.keras", arguments.dataset))
    return failures.tell()


def _print_best(console: "Console", best: TrialRecord, paid: float, folder: pathlib.Path) -> None:
    written = [folder / name for name in ("trials.csv", "search.png", "best_model.keras")]
    found = [str(path) for path in written if path.exists()]
    console.print(
        f"\nThe best trial, {best.trial}, pays {best.validation_cost:.4f} a validation example "
        f"and {paid:.4f} a test example. Wrote {', '.join(found)}; the model decides by itself. "
        "Load it:\n",
        soft_wrap=True,
    )


def _matrix(arguments: argparse.Namespace, data: DataSet) -> np.ndarray:
    labels = np.concatenate([data.y_train, data.y_val])
    if arguments.cost_matrix is not None:
        return read_cost_matrix(arguments.cost_matrix, int(labels.max()) + 1)
    seed = FIRST_COST_SEED if arguments.cost_seed is None else arguments.cost_seed
    return costs.randomized_proportional(labels, seed=seed)


def _hyper_model(
    arguments: argparse.Namespace, data: DataSet, matrix: np.ndarray, cache: StageCache
) -> "DecisionHyperModel":
    from csdl_keras import tuning

    texts = {name: getattr(arguments, name) for name in SPACES}
    spaces = {name: parse_space(name, text) for name, text in texts.items() if text is not None}
    common = {"algorithm": arguments.algorithm, "seed": arguments.seed, **spaces}
    if get_algorithm(arguments.algorithm).body_kind.takes_images:
        foreign = sorted(set(spaces) - {"optimizer", "learning_rate", "cost_scale", "alpha"})
        if foreign:
            raise ValueError(
                f"Expected no --{foreign[0].replace('_', '-')} for {arguments.algorithm}, whose "
                f"network is convolutional; received {texts[foreign[0]]!r}."
            )
        common["mean"] = 255.0 * data.x_train.mean(axis=0)
        return tuning.CNNHyperModel(data.x_train.shape[1:], matrix, **common)
    return tuning.CSDNNHyperModel(data.x_train.shape[1:], matrix, cache=cache, **common)


def _check_completed(records: list[TrialRecord], oracle: "Oracle") -> None:
    if records and records[0].validation_cost is not None:
        return
    messages = [trial.message for trial in oracle.trials.values() if trial.message]
    last = messages[-1].strip().splitlines()[-1] if messages else "no trial was run"
    raise ValueError(f"Expected at least one trial to succeed; the last one said: {last}")
