"""The command `csdl-keras table2`."""

import argparse
import dataclasses
import pathlib
import shlex

from csdl_keras import datasets
from csdl_keras._utils.checks import check_number
from csdl_keras._utils.files import check_writable
from csdl_keras._utils.optional import optional_module
from csdl_keras.experiments.compare import check_algorithms
from csdl_keras.experiments.grid import Grid
from csdl_keras.experiments.profiles import PROFILES, Profile
from csdl_keras.experiments.run_folder import append_record
from csdl_keras.training.workers import workers

#: Options that may change from run to run in a folder: what they add stands beside what is there,
#: and what is there stays. All others make other results of the same rows.
HARMLESS = ("datasets", "algorithms", "cost_seeds", "jobs", "scheduler", "out", "cache")


def table2(arguments: argparse.Namespace) -> int:
    """Runs `csdl-keras table2`; returns the exit status."""
    # All optional modules first: nothing may be missing once training has begun.
    for module in ("joblib", "matplotlib", "rich", "sklearn"):
        optional_module(module, "compare")
    from csdl_keras.experiments.console import make_console
    from csdl_keras.experiments.grid_progress import GridProgress

    console = make_console()
    profile = build_profile(arguments)
    check_number("cost_factor", arguments.cost_factor, 0, exclude_low=True)
    check_number("drop_rate", arguments.drop_rate, 0, 1)
    for name in dict.fromkeys(name.removesuffix("_imb") for name in profile.datasets):
        datasets.load(name)  # or it would be missing once others have been trained on
    folder = arguments.out or pathlib.Path("csdl_runs") / f"table2-{arguments.profile}"
    check_writable("--out", folder)
    cache = (arguments.cache or folder / "stages").absolute()
    check_writable("--cache", cache)
    grid = Grid(
        profile,
        folder,
        cache,
        cost_scale=arguments.cost_factor,
        seed=arguments.seed,
        source_choices={"drop_rate": arguments.drop_rate, "grayscale": arguments.grayscale},
    )
    append_record(folder, arguments, dataclasses.asdict(profile), HARMLESS)
    console.print(
        f"{len(profile.algorithms)} algorithms on {', '.join(profile.datasets)}; "
        f"{profile.cost_seeds} cost matrices; results in {folder}, finished stages in {cache}. "
        "Stop it when you like: the same command goes on from there."
    )
    progress = GridProgress(console, grid, arguments.jobs)
    with workers(arguments.jobs, arguments.scheduler), progress:
        failures = grid.run(progress)
    console.print(
        f"\nTrained {progress.trained} stages; all others were there. Wrote "
        f"{folder / 'results.csv'}. Render the table:\n\n"
        f"    {shlex.join(['csdl-keras', 'report', str(folder)])}",
        soft_wrap=True,
    )
    return failures.tell()


def build_profile(arguments: argparse.Namespace) -> Profile:
    """The profile of that name with what the command line changes.

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
    changes: dict = {"settings": settings}
    if arguments.datasets is not None:
        changes["datasets"] = tuple(dict.fromkeys(names(arguments.datasets)))
        if not changes["datasets"]:
            raise ValueError(f"Expected at least one data set; received {arguments.datasets!r}.")
    if arguments.algorithms is not None:
        changes["algorithms"] = check_algorithms(names(arguments.algorithms))
    if arguments.cost_seeds is not None:
        changes["cost_seeds"] = arguments.cost_seeds
        changes["dear_cost_seeds"] = arguments.cost_seeds
    if arguments.train_size is not None:
        changes |= {"train_size": arguments.train_size, "cnn_train_size": arguments.train_size}
    return dataclasses.replace(profile, **changes)


def names(text: str) -> list[str]:
    """The names in `"a, b"`."""
    return [name.strip() for name in text.split(",") if name.strip()]
