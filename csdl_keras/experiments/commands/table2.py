"""The command `csdl-keras table2`."""

import argparse
import contextlib
import dataclasses
import pathlib
import shlex
from collections.abc import Iterable

import keras

from csdl_keras import datasets
from csdl_keras._utils.checks import check_number
from csdl_keras._utils.files import check_writable
from csdl_keras._utils.optional import optional_module
from csdl_keras.experiments.asked_profile import AUTHORS_OPTIONS, build_profile
from csdl_keras.experiments.cell_runner import CellRunner
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.grid import Grid
from csdl_keras.experiments.run_folder import append_record, remove_record
from csdl_keras.experiments.time_budget import BudgetSpent, TimeBudget
from csdl_keras.fitting.stage_cache import StageCache
from csdl_keras.training.workers import workers

#: Options that may differ between runs in a folder: they add results and change none that are
#: there. All others make other results of the same algorithms.
HARMLESS = (
    *("datasets", "algorithms", "cost_seeds", "seeds", "budget", "double_epochs"),
    *("jobs", "scheduler", "out", "cache"),
)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    policy = keras.config.dtype_policy()
    try:
        if arguments.mixed_precision:
            keras.config.set_dtype_policy("mixed_bfloat16")
        return _run(arguments)
    finally:
        keras.config.set_dtype_policy(policy)


def _run(arguments: argparse.Namespace) -> int:
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
    for name, error in missing.items():
        console.print(f"Not run, its data are not at hand: {name}. {error}", soft_wrap=True)
    display, before = CellDisplay(console, runner), _results(folder)
    alarm: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    if arguments.budget is not None:
        budget = TimeBudget(arguments.budget)
        runner.callbacks, grid.check = [*runner.callbacks, budget], budget.check
        # Callbacks of this process are not called in others.
        alarm = budget.alarm() if jobs > 1 else alarm
    ending, number = "", len(profile.algorithms)
    # A run that finds no workers leaves no record of itself.
    with workers(arguments.jobs, arguments.scheduler):
        own_record = append_record(folder, arguments, record, HARMLESS)
        console.print(
            f"{number} algorithm{'s' * (number > 1)} on {', '.join(profile.datasets)}; "
            f"{profile.cost_seeds} cost matrices; results in {folder}, finished stages in "
            f"{cache.folder}. Stop it when you like: the same command goes on from there."
        )
        with display:
            try:
                with alarm:
                    grid.run(display)
            except BudgetSpent:
                ending = f" The {arguments.budget:g} hours are over; the same command goes on."
    if runner.failures and _results(folder) == before:
        remove_record(folder, own_record)
    after = "There are no results yet."
    if _results(folder) is not None:
        command = shlex.join(["csdl-keras", "report", str(folder)])
        after = f"Wrote {folder / 'results.csv'}. Render the table:\n\n    {command}"
    console.print(
        f"\nTrained {len(runner.trained)} stages; all others were there.{ending} {after}",
        soft_wrap=True,
    )
    return runner.failures.tell()


def _results(folder: pathlib.Path) -> bytes | None:
    """Returns what results.csv holds, `None` if there is none yet."""
    path = folder / "results.csv"
    return path.read_bytes() if path.exists() else None


def _unavailable(names: Iterable[str]) -> dict[str, datasets.DataUnavailableError]:
    """Returns the errors of data sets that cannot be loaded, before others are trained on."""
    errors = {}
    for name in dict.fromkeys(name.removesuffix("_imb") for name in names):
        try:
            DataSource(name).load()
        except datasets.DataUnavailableError as error:
            errors[name] = error
    return errors
