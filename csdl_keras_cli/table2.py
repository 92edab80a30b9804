"""The command `csdl-keras table2`."""

import _thread
import argparse
import dataclasses
import functools
import math
import pathlib
import shlex
import signal
import threading
import time
from typing import Any

from csdl_keras_cli import arguments as shared
from csdl_keras_cli.choices import CNN_VARIANTS, FIRST_COST_SEED, OTHER_ALGORITHMS, PROFILES

HELP = "reproduce the paper's Table 2: all algorithms on all data sets"
DESCRIPTION = (
    "Runs algorithms on data sets for several cost matrices, as in the paper's Table 2. "
    "Optimizers, learning rates and beta are searched in the same way for all algorithms, on "
    "validation examples. After an interruption, run the same command again to continue. "
    "`csdl-keras report` makes a report from the results, even while the command runs."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    text = "size of the run: tiny (default) takes minutes, small hours, and paper days on a GPU"
    parser.add_argument("--profile", choices=PROFILES, default="tiny", help=text)
    text = "data sets instead of the profile's, such as mnist,mnist_imb,cifar10"
    parser.add_argument("--datasets", type=shared.names, metavar="A,B,...", help=text)
    parser.add_argument(
        "--algorithms",
        type=shared.algorithms,
        metavar="A,B,...",
        help="algorithms instead of the fifteen of `csdl-keras table1`; further ones are "
        f"{', '.join(OTHER_ALGORITHMS)}",
    )
    text = f"number of cost matrices (default: by profile); matrix i has seed {FIRST_COST_SEED} + i"
    shared.add_number(parser, "--cost-seeds", text)
    text = "number of training seeds for each matrix, beginning with --seed (default: by profile)"
    shared.add_number(parser, "--seeds", text)
    shared.add_number(parser, "--epochs", "train and pre-train for at most N epochs")
    shared.add_number(parser, "--jobs", "number of processes (default 1)", 1)
    text = "stop after HOURS, with what verdicts need first; run the same command again to continue"
    parser.add_argument("--budget", type=float, metavar="HOURS", help=text)
    text = "also train each algorithm once per data set with twice the epochs and patience"
    parser.add_argument("--double-epochs", action="store_true", help=text)
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="run on the workers of the Dask cluster with this scheduler, such as "
        "tcp://10.0.0.1:8786; --cache must have the same path on all of them",
    )
    shared.add_out(parser, ", new or with the same options (default csdl_runs/table2-PROFILE)")
    text = "folder for trained stages, which runs may share (default stages/ in --out)"
    parser.add_argument("--cache", type=pathlib.Path, metavar="FOLDER", help=text)
    shared.add_train_size(parser)
    shared.add_seed(parser, "training")
    text = "compute in bfloat16 with weights in float32 (the Keras policy mixed_bfloat16)"
    parser.add_argument("--mixed-precision", action="store_true", help=text)
    parser.add_argument(
        "--authors-choices",
        action="store_true",
        help="follow the authors' code where it differs from the paper's text: hinge, tied "
        "weights, gray images, larger costs, and 50 epochs without early stopping",
    )
    text = "variant of Caffe's CIFAR-10 network (default quick)"
    parser.add_argument("--cnn-variant", choices=CNN_VARIANTS, default="quick", help=text)


#: Options that may differ between runs in a folder, since they do not change existing results.
_HARMLESS = (
    "datasets algorithms cost_seeds seeds budget double_epochs jobs scheduler out cache".split()
)
#: The values that `--authors-choices` stands for, and their defaults, in records of runs.
_SOURCES = ("hard_hinge", "tied_weights", "grayscale")
_AUTHORS = {"drop_rate": 0.9, "cost_factor": 2000.0, **dict.fromkeys(_SOURCES, True)}
_PAPER = {"drop_rate": 0.7, "cost_factor": 10.0, **dict.fromkeys(_SOURCES, False)}


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    shared.check_packages()
    import keras

    from csdl_keras import StageCache
    from csdl_keras.datasets import DataUnavailableError
    from csdl_keras.paper.cells import DataSource, processes
    from csdl_keras.paper.folder import Folder
    from csdl_keras.paper.grid import Grid
    from csdl_keras_cli.run_folder import RunRecord
    from csdl_keras_cli.writable import check_writable

    tell, profile = functools.partial(print, flush=True), _profile(arguments)
    missing: dict[str, str] = {}
    for name in dict.fromkeys(it.removesuffix("_imb") for it in profile.datasets):
        try:
            DataSource(name).load()
        except DataUnavailableError as error:
            if arguments.datasets is not None:
                raise
            missing[name] = str(error)
    present = [it for it in profile.datasets if it.removesuffix("_imb") not in missing]
    profile = dataclasses.replace(profile, datasets=tuple(present))
    path = arguments.out or pathlib.Path("csdl_runs") / f"table2-{arguments.profile}"
    cache = arguments.cache or path / "stages"
    check_writable("--out", path)
    chosen = _AUTHORS if arguments.authors_choices else _PAPER
    vars(arguments).update(chosen)
    _check_same(path, arguments)
    if arguments.mixed_precision:
        keras.config.set_dtype_policy("mixed_bfloat16")
    grid = Grid(
        profile,
        Folder(path),
        StageCache(cache),
        cost_scale=chosen["cost_factor"],
        seed=arguments.seed,
        source_choices={name: chosen[name] for name in ("drop_rate", "grayscale")},
        doubled=arguments.double_epochs,
        tell=tell,
    )
    for name, why in missing.items():
        tell(f"Skipping {name}: its data are not available. {why}")
    # A run without workers should not leave a record.
    with processes(arguments.jobs, arguments.scheduler):
        planned = dict.fromkeys(profile.algorithms, profile.cost_seeds * profile.seeds)
        asked = {"planned": planned, "unavailable": missing}
        RunRecord(path, arguments, dataclasses.asdict(profile) | asked, {})
        tell(f"Results are in {path}. After an interruption, run the same command again.")
        seconds = 3600 * (arguments.budget or math.inf)
        end = time.monotonic() + seconds
        timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), _thread.interrupt_main)
        if arguments.budget is not None:  # Shell scripts start `command &` with SIGINT ignored.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        timer.start()
        try:
            grid.run()
        except KeyboardInterrupt:
            if time.monotonic() < end:
                raise
            tell(f"The {arguments.budget:g} hours are over. Run the same command to continue.")
        finally:
            timer.cancel()
    command = shlex.join(["csdl-keras", "report", str(path)])
    tell(f"\nMake tables and figures from the results:\n\n    {command}")
    return grid.failures.tell()


def _profile(arguments: argparse.Namespace) -> Any:
    from csdl_keras.paper.profiles import AUTHORS_SETTINGS, PROFILES
    from csdl_keras.training.algorithms import get_algorithm

    profile = PROFILES[arguments.profile]
    settings = profile.settings.replace({"cnn.variant": arguments.cnn_variant})
    searches = profile.searches
    if arguments.authors_choices:
        settings = settings.replace(AUTHORS_SETTINGS)
        searches = tuple(it for it in searches if it.field not in AUTHORS_SETTINGS)
    if arguments.epochs is not None:
        settings = settings.limit_epochs(arguments.epochs)
    names = [get_algorithm(name).name for name in arguments.algorithms or ()]
    changes = {
        "datasets": tuple(arguments.datasets or ()),
        "algorithms": tuple(dict.fromkeys(names)),
        "cost_seeds": arguments.cost_seeds,
        **dict.fromkeys(("train_size", "cnn_train_size"), arguments.train_size),
        "seeds": arguments.seeds,
    }
    given = {name: value for name, value in changes.items() if value}
    return dataclasses.replace(profile, settings=settings, searches=searches, **given)


def _check_same(folder: pathlib.Path, arguments: argparse.Namespace) -> None:
    """Raises a ValueError if the folder has results of different options or another backend."""
    import keras

    from csdl_keras.paper.results import read_runs

    now = {"backend": keras.backend.backend(), **vars(arguments)}
    for run in read_runs(folder):
        before = {"backend": run.get("backend"), **run.get("arguments", {})}
        for name in sorted({*now, *before} - {*_HARMLESS}):
            values = {str(each.get(name)) for each in (before, now)}  # Until 0.2, all were text.
            # An option that is missing in a record was added later, and was off.
            if len(values) > 1 and values != {"None", "False"}:
                raise ValueError(
                    f"--out {folder} has a run with {name} {before.get(name)}, not "
                    f"{now.get(name)}. Choose a new folder, or the same options."
                )
