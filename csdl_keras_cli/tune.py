"""The command `csdl-keras tune`."""

import argparse
import contextlib
import pathlib
from typing import Any

from csdl_keras_cli import arguments as shared
from csdl_keras_cli.choices import FIRST_COST_SEED, TUNABLE

HELP = "search beta, depth and training of one algorithm with KerasTuner"
DESCRIPTION = (
    "Searches the choices of one algorithm for one cost matrix, with KerasTuner, for the "
    "lowest average cost of a validation example. Writes trials.csv, search.png, "
    "best_model.keras (with its decision rule) and run.json. Stopped or killed at any "
    "moment, the same command goes on from there. KERASTUNER_TUNER_ID, "
    "KERASTUNER_ORACLE_IP and KERASTUNER_ORACLE_PORT make it a chief or a worker of a "
    "search on many machines."
)

#: Epochs without gain after which the training of a trial stops.
PATIENCE = 5

#: Hyperparameters by name, and what the command line says of them.
SPACES = {
    "beta": "balance of pre-training, as one value, values (0,0.25,1) or a range (0.01:1, or "
    "0.01:1:log)",
    "depth": "number of hidden layers",
    "units": "units of each hidden layer",
    "corruption": "share of inputs that are zeroed",
    "pretraining_epochs": "epochs of pre-training for each layer",
    "optimizer": "sgd, adam, or sgd,adam",
    "learning_rate": "learning rate of training",
    "cost_scale": "largest cost after scaling",
    "alpha": "sharpness of the SOSR loss",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    shared.add_data(parser)
    parser.add_argument(
        "--algorithm",
        default="csdnn",
        choices=TUNABLE,
        metavar="NAME",
        help=f"csdnn (default), or one of {', '.join(TUNABLE)}",
    )
    shared.add_costs(parser).add_argument(
        "--cost-seed",
        type=shared.whole_number,
        metavar="N",
        help="seed of a random matrix, U[0, 10 n_k / n_y], if you give no costs (default "
        f"{FIRST_COST_SEED})",
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
            type=shared.positive_integer,
            default=default,
            metavar="N",
            help=f"{text} (default {default})",
        )
    for name, text in SPACES.items():
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="SPACE", help=text)
    shared.add_seed(parser, "trials and proposals, of splits, of --imbalanced and of --train-size")
    shared.add_out(parser, " (default csdl_runs/tune-DATASET-ALGORITHM)")
    shared.add_cache(parser, "pre-trained layers", "searches")


def check(arguments: argparse.Namespace) -> None:
    """Raises a ValueError for arguments that do not go together, and missing files."""
    shared.check_data(arguments)
    shared.check_out(arguments.out)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    from csdl_keras._utils.optional import optional_module

    # All optional modules first: nothing may be missing once training has begun.
    for module in ("matplotlib", "pandas"):
        optional_module(module, "compare")
    from csdl_keras._utils.files import check_writable
    from csdl_keras.tuning.resumable import is_worker, search_lock

    name = arguments.dataset.replace("/", "_") if arguments.data is None else arguments.data.stem
    folder = arguments.out or pathlib.Path("csdl_runs") / f"tune-{name}-{arguments.algorithm}"
    check_writable("--out", folder)
    check_writable("--cache", arguments.cache or folder / "stages")
    worker = is_worker()
    with contextlib.nullcontext() if worker else search_lock(folder / "tune.lock", folder):
        return _run(arguments, folder, worker)


def _run(arguments: argparse.Namespace, folder: pathlib.Path, worker: bool) -> int:
    """Searches in a folder; a worker of a chief leaves the report to it."""
    from csdl_keras._utils.files import replacing, save_model
    from csdl_keras.evaluation._report_text import saving_sentence, warning
    from csdl_keras.paper.failures import Failures
    from csdl_keras.training.algorithms import get_algorithm
    from csdl_keras_cli import search
    from csdl_keras_cli.data import data_record, findings, load_snippet, read_data, show_data
    from csdl_keras_cli.output import Progress
    from csdl_keras_cli.run_folder import RunRecord

    failures = Failures()
    data, algorithm = read_data(arguments), get_algorithm(arguments.algorithm)
    form = data.suiting(algorithm)
    matrix = data.matrix_of(FIRST_COST_SEED if arguments.cost_seed is None else arguments.cost_seed)

    def announce(trial: Any) -> None:
        reason = (trial.message or "").strip().splitlines()[-1:]
        told = f"{trial.status.lower()} {' '.join(reason)}"
        if trial.status == "COMPLETED":
            told = f"validation cost {trial.score:.4f}"
        progress.tell(f"trial {trial.trial_id}: {told}")

    tuner = search.make_tuner(arguments, form, matrix, folder, announce)
    fit_arguments = search.fit_arguments(arguments, form)
    done = 0 if worker else int((search.trials_of(tuner)["status"] == "COMPLETED").sum())
    progress = Progress("trials", arguments.max_trials, done)
    if not worker:
        tuner.check_search(**fit_arguments)
        settings, described = {"cost_matrix": matrix.tolist()}, data_record(arguments, data)
        record = RunRecord(folder, arguments, settings, described, continued=True)
        show_data(arguments, data)
        print(
            f"{algorithm.title} on {data.name}, {arguments.tuner} search of at most "
            f"{arguments.max_trials} trials in {folder}. Stop it when you like: the same command "
            "goes on from there."
        )
    with failures.step("the search"):
        tuner.search(**fit_arguments)
    if worker:
        return failures.tell()
    trials, path = search.trials_of(tuner), folder / "best_model.keras"
    with failures.step("trials.csv"), replacing(folder / "trials.csv") as unfinished:
        trials.to_csv(unfinished, index=False)
    if not trials["validation_cost"].notna().any():
        record.remove()
        messages = [it.message.strip() for it in tuner.oracle.trials.values() if it.message]
        if not failures:
            last = messages[-1].splitlines()[-1] if messages else "no trial was run"
            raise ValueError(f"Expected at least one trial to succeed; the last one said: {last}")
        return failures.tell()
    with failures.step("search.png"):
        search.plot_search(trials, folder / "search.png")
    with failures.step("the table"):
        print(search.trials_text(trials))
    with failures.step("best_model.keras"):
        model = form.finished(tuner.hypermodel.classifier(tuner.get_best_models()[0]))
        save_model(model, path)
        savings = data.savings({arguments.algorithm: data.decided(model, "test")}, matrix)
        record.add_findings(findings(savings))
        written = [folder / name for name in ("trials.csv", "search.png", "best_model.keras")]
        print(
            f"\nThe best trial, {trials['trial'][0]}, pays {trials['validation_cost'][0]:.4f} a "
            f"validation example. {saving_sentence(savings[arguments.algorithm])} Wrote "
            f"{', '.join(str(it) for it in written if it.exists())}; the model decides by itself. "
            f"Load it:\n\n{load_snippet(data, path)}"
        )
        if told := warning(savings):
            print(f"\n# {told}")
    return failures.tell()
