"""The command `csdl-keras table2`."""

import argparse
import dataclasses
import pathlib
import shlex
from typing import Any

from csdl_keras._utils.checks import check_number
from csdl_keras._utils.files import check_writable
from csdl_keras._utils.optional import optional_module
from csdl_keras.experiments.cell_runner import CellRunner
from csdl_keras.experiments.comparison import check_algorithms
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.grid import Grid
from csdl_keras.experiments.profiles import PROFILES, Profile
from csdl_keras.experiments.run_folder import append_record, remove_last_record
from csdl_keras.fitting.stage_cache import StageCache
from csdl_keras.training.workers import workers

#: Options that may differ between runs in a folder: they add results and change none that are
#: there. All others make other results of the same algorithms.
HARMLESS = ("datasets", "algorithms", "cost_seeds", "jobs", "scheduler", "out", "cache")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    # All optional modules first: nothing may be missing once training has begun.
    for module in ("joblib", "matplotlib", "rich", "sklearn"):
        optional_module(module, "compare")
    from csdl_keras.experiments.display import CellDisplay, make_console

    console = make_console()
    profile = build_profile(arguments)
    check_number("cost_factor", arguments.cost_factor, 0, exclude_low=True)
    check_number("drop_rate", arguments.drop_rate, 0, 1)
    for name in dict.fromkeys(name.removesuffix("_imb") for name in profile.datasets):
        DataSource(name).load()  # or it would be missing once others have been trained on
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
    )
    display = CellDisplay(console, runner)
    # A run that finds no workers leaves no record of itself.
    with workers(arguments.jobs, arguments.scheduler):
        append_record(folder, arguments, dataclasses.asdict(profile), HARMLESS)
        console.print(
            f"{len(profile.algorithms)} algorithms on {', '.join(profile.datasets)}; "
            f"{profile.cost_seeds} cost matrices; results in {folder}, finished stages in "
            f"{cache.folder}. Stop it when you like: the same command goes on from there."
        )
        with display:
            failures = grid.run(display)
    if failures and not runner.trained:
        remove_last_record(folder)
    console.print(
        f"\nTrained {len(runner.trained)} stages; all others were there. Wrote "
        f"{folder / 'results.csv'}. Render the table:\n\n"
        f"    {shlex.join(['csdl-keras', 'report', str(folder)])}",
        soft_wrap=True,
    )
    return failures.tell()


def build_profile(arguments: argparse.Namespace) -> Profile:
    """Returns the profile of that name with the changes of the command line.

    Raises:
        ValueError: if a name is unknown or a value out of range.
    """
    profile = PROFILES[arguments.profile]
    settings = profile.settings.replace(
        {
            "hard_hinge": arguments.hard_hinge,
            "pretraining.tied_weights": arguments.tied_weights,
            "cnn.variant": arguments.cnn_variant,
        }
    )
    if arguments.epochs is not None:
        settings = settings.limit_epochs(arguments.epochs)
    changes: dict[str, Any] = {"settings": settings}
    if arguments.datasets is not None:
        changes["datasets"] = tuple(arguments.datasets)
        if not changes["datasets"]:
            raise ValueError(f"Expected at least one data set; received {arguments.datasets!r}.")
    if arguments.algorithms is not None:
        changes["algorithms"] = check_algorithms(arguments.algorithms)
    if arguments.cost_seeds is not None:
        changes["cost_seeds"] = changes["slow_cost_seeds"] = arguments.cost_seeds
    if arguments.train_size is not None:
        changes |= {"train_size": arguments.train_size, "cnn_train_size": arguments.train_size}
    return dataclasses.replace(profile, **changes)
