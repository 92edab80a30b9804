"""The command `csdl-keras table2`."""

import argparse
import dataclasses
import pathlib
import shlex
from collections.abc import Iterable

from csdl_keras import datasets
from csdl_keras._utils.checks import check_number
from csdl_keras._utils.files import check_writable
from csdl_keras._utils.optional import optional_module
from csdl_keras.experiments.asked_profile import AUTHORS_OPTIONS, AUTHORS_SETTINGS, build_profile
from csdl_keras.experiments.cell import FIRST_COST_SEED
from csdl_keras.experiments.cell_runner import CellRunner
from csdl_keras.experiments.commands.arguments import (
    add_cache,
    add_out,
    add_seed,
    add_train_size,
    positive_integer,
)
from csdl_keras.experiments.grid import Grid
from csdl_keras.experiments.profiles import PROFILES
from csdl_keras.experiments.run_folder import append_record
from csdl_keras.experiments.time_budget import BudgetSpent, TimeBudget
from csdl_keras.fitting.stage_cache import StageCache
from csdl_keras.training.algorithms import ALGORITHMS, PAPER_ALGORITHMS
from csdl_keras.training.workers import workers

HELP = "run the paper's Table 2: all algorithms on all data sets"
DESCRIPTION = (
    "Runs algorithms on data sets for several cost matrices, as in the paper's Table 2, "
    "with the same search of optimizers, learning rates and beta for each of them on validation "
    "examples. Stages that algorithms share are trained once, and what is finished is kept: "
    "stopped or killed at any moment, the same command goes on from there. Writes results.csv, "
    "choices.csv, curves.csv, beta_curve.csv, test_decisions/ and run.json; `csdl-keras report` "
    "makes tables and figures of them, also while it runs."
)

#: Options that may differ between runs in a folder: they add results and change none that are
#: there. All others make other results of the same algorithms.
HARMLESS = (
    *("datasets", "algorithms", "cost_seeds", "seeds", "budget", "double_epochs"),
    *("jobs", "scheduler", "out", "cache"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    sizes = [
        f"{name}: {len(profile.datasets)} data set{'s' * (len(profile.datasets) > 1)}, hidden "
        f"layers {'x'.join(map(str, profile.settings.mlp.hidden_units))}, "
        f"{profile.cost_seeds} matrices"
        for name, profile in PROFILES.items()
    ]
    parser.add_argument(
        "--profile",
        choices=PROFILES,
        default="tiny",
        help=f"how much to run (default tiny, some minutes). {'; '.join(sizes)}",
    )
    parser.add_argument(
        "--datasets",
        metavar="A,B,...",
        help="data sets instead of the profile's, such as mnist,mnist_imb,cifar10; _imb is the "
        "imbalanced variant",
    )
    others = [name for name in ALGORITHMS if name not in PAPER_ALGORITHMS]
    parser.add_argument(
        "--algorithms",
        metavar="A,B,...",
        help="algorithms instead of all fifteen, see `csdl-keras table1`; also "
        f"{', '.join(others)}, which are not in the paper",
    )
    parser.add_argument(
        "--cost-seeds",
        type=positive_integer,
        metavar="N",
        help=f"number of cost matrices; matrix i is drawn with seed {FIRST_COST_SEED} + i",
    )
    parser.add_argument(
        "--seeds",
        type=positive_integer,
        metavar="N",
        help="number of training seeds for each cost matrix, --seed and those after it (default 1)",
    )
    parser.add_argument(
        "--budget",
        type=float,
        metavar="HOURS",
        help="stop after that time, what verdicts need most first; the same command goes on",
    )
    parser.add_argument(
        "--double-epochs",
        action="store_true",
        help="also train one cell of each algorithm with twice the epochs and patience",
    )
    parser.add_argument(
        "--jobs", type=positive_integer, default=1, metavar="N", help="processes (default 1)"
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="run on the workers of the Dask cluster with this scheduler, such as "
        "tcp://10.0.0.1:8786; they must see --cache under the same path",
    )
    add_out(
        parser,
        " (default csdl_runs/table2-PROFILE); results that are there of other data sets and "
        "algorithms stay",
    )
    add_cache(parser, "finished stages", "runs")
    add_train_size(parser)
    parser.add_argument(
        "--epochs",
        type=positive_integer,
        metavar="N",
        help="train N epochs at most, and pre-train no longer than that",
    )
    add_seed(parser, "training")
    parser.add_argument(
        "--hard-hinge",
        action="store_true",
        help="train SOSR algorithms with the hinge that SOSR smooths, as the authors' code does",
    )
    parser.add_argument(
        "--tied-weights",
        action="store_true",
        help="let decoders of pre-training use the transposed weights, as the authors' code does",
    )
    parser.add_argument(
        "--grayscale",
        action="store_true",
        help="turn RGB images gray, as the authors' code does",
    )
    parser.add_argument(
        "--drop-rate",
        type=float,
        default=0.7,
        metavar="SHARE",
        help="share that imbalanced variants lose of four classes (default 0.7, the paper's; "
        "0.9 in the authors' code for SVHN)",
    )
    parser.add_argument(
        "--cost-factor",
        type=float,
        default=10.0,
        metavar="X",
        help="costs are drawn from [0, X n_k / n_y] (default 10, the paper's; others use 2000)",
    )
    parser.add_argument(
        "--authors-choices",
        action="store_true",
        help="choose as the authors' code does: --hard-hinge --tied-weights --grayscale "
        f"--drop-rate {AUTHORS_OPTIONS['drop_rate']} --cost-factor "
        f"{AUTHORS_OPTIONS['cost_factor']:.0f}, the cost term of pre-training 100 times, and "
        f"{AUTHORS_SETTINGS['mlp.epochs']} epochs without early stopping",
    )
    parser.add_argument(
        "--cnn-variant",
        choices=("quick", "full"),
        default="quick",
        help="Caffe's CIFAR-10 network (default quick)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    # All optional modules first: nothing may be missing once training has begun.
    for module in ("joblib", "matplotlib", "rich", "sklearn"):
        optional_module(module, "compare")
    from csdl_keras.experiments.display import CellDisplay, make_console

    console = make_console()
    if arguments.authors_choices:
        vars(arguments).update(AUTHORS_OPTIONS)
    profile = build_profile(arguments)
    check_number("cost_factor", arguments.cost_factor, 0, exclude_low=True)
    check_number("drop_rate", arguments.drop_rate, 0, 1)
    if arguments.budget is not None:
        check_number("budget", arguments.budget, 0, exclude_low=True)
    missing = _unavailable(profile.datasets)
    if arguments.datasets is not None:
        for error in missing.values():
            raise error
    present = [it for it in profile.datasets if it.removesuffix("_imb") not in missing]
    profile = dataclasses.replace(profile, datasets=tuple(present))
    folder = arguments.out or pathlib.Path("csdl_runs") / f"table2-{arguments.profile}"
    check_writable("--out", folder)
    check_writable("--cache", arguments.cache or folder / "stages")
    cache = StageCache(arguments.cache or folder / "stages")
    # On a cluster the scheduler says how many processes there are; one is not enough for it.
    jobs = max(arguments.jobs, 2) if arguments.scheduler else arguments.jobs
    runner = CellRunner(cache, jobs)
    grid = Grid(
        profile,
        folder,
        runner,
        cost_scale=arguments.cost_factor,
        seed=arguments.seed,
        source_choices={"drop_rate": arguments.drop_rate, "grayscale": arguments.grayscale},
        doubled=arguments.double_epochs,
    )
    record = dataclasses.asdict(profile) | {
        "planned": grid.planned(),
        "unavailable": {name: str(error) for name, error in missing.items()},
    }
    append_record(folder, arguments, record, HARMLESS)
    for name, error in missing.items():
        console.print(f"Not run, its data are not at hand: {name}. {error}", soft_wrap=True)
    console.print(
        f"{len(profile.algorithms)} algorithms on {', '.join(profile.datasets)}; "
        f"{profile.cost_seeds} cost matrices; results in {folder}, finished stages in "
        f"{cache.folder}. Stop it when you like: the same command goes on from there."
    )
    display = CellDisplay(console, runner)
    if arguments.budget is not None:
        budget = TimeBudget(arguments.budget)
        runner.callbacks, grid.check = [*runner.callbacks, budget], budget.check
    ending = ""
    with workers(arguments.jobs, arguments.scheduler), display:
        try:
            grid.run(display)
        except BudgetSpent:
            ending = f" The {arguments.budget:g} hours are over; the same command goes on."
    console.print(
        f"\nTrained {len(runner.trained)} stages; all others were there.{ending} Wrote "
        f"{folder / 'results.csv'}. Render the table:\n\n"
        f"    {shlex.join(['csdl-keras', 'report', str(folder)])}",
        soft_wrap=True,
    )
    return runner.failures.tell()


def _unavailable(names: Iterable[str]) -> dict[str, datasets.DataUnavailableError]:
    """Returns the errors of data sets that cannot be loaded, before others are trained on."""
    errors = {}
    for name in dict.fromkeys(name.removesuffix("_imb") for name in names):
        try:
            datasets.load(name)
        except datasets.DataUnavailableError as error:
            errors[name] = error
    return errors
