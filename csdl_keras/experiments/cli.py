"""The command `csdl-keras`."""

import argparse
import dataclasses
import datetime
import json
import logging
import os
import pathlib
import platform
import shlex
import sys
import time
from collections.abc import Sequence
from importlib import metadata

from csdl_keras.version import __version__


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="csdl-keras", description="Multiclass cost-sensitive deep learning with Keras."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    compare = commands.add_parser(
        "compare",
        help="train algorithms on one data set and show what each one costs",
        description=(
            "Trains algorithms on one data set with random cost matrices, and shows what each "
            "one's decisions cost on the test set. Writes results.csv, costs.png, "
            "best_model.keras (lowest validation cost) and run.json to a new folder."
        ),
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    compare.add_argument(
        "--dataset",
        default="mnist_5k",
        metavar="NAME",
        help="mnist_5k or digits, which need no download, or a TFDS name such as mnist",
    )
    compare.add_argument(
        "--algorithms",
        metavar="A,B,...",
        help="rows of the paper's Table 1, separated by commas; by default dnn_blind, dnn_bayes, "
        "sdae_bayes, dnn_sosr, sdae_sosr, csdnn, cnn_blind, cnn_bayes and cnn_sosr",
    )
    compare.add_argument(
        "--cost-seeds",
        type=positive_integer,
        default=2,
        metavar="N",
        help="number of cost matrices; matrix i is drawn with seed 1000 + i",
    )
    compare.add_argument(
        "--imbalanced",
        action="store_true",
        help="remove 70%% of the examples of four random classes, in every split",
    )
    compare.add_argument(
        "--train-size",
        type=positive_integer,
        metavar="N",
        help="use only N examples for training and validation together, stratified; "
        "the test set stays whole",
    )
    compare.add_argument(
        "--epochs",
        type=positive_integer,
        metavar="N",
        help="train N epochs at most, and pre-train no longer than that; by default 30 for "
        "fully-connected and 8 for convolutional networks, and 15 in pre-training",
    )
    compare.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of training and of subsets"
    )
    compare.add_argument(
        "--out",
        type=pathlib.Path,
        metavar="FOLDER",
        help="folder for what it writes, new or empty; by default csdl_runs/DATASET-DATE-TIME",
    )
    return parser


def positive_integer(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(
            f"expected a whole number of at least 1; received {text!r}"
        )
    return value


def prepare_folder(folder: pathlib.Path | None, dataset: str) -> pathlib.Path:
    """Makes the folder of a run; raises a ValueError unless it is writable and empty."""
    if folder is None:
        stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
        folder = pathlib.Path("csdl_runs") / f"{dataset.replace('/', '_')}-{stamp}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError as error:
        raise ValueError(f"Expected --out to be a folder that can be written; {error}.") from error
    if any(folder.iterdir()):
        raise ValueError(
            f"Expected --out to be a new or empty folder, so that nothing is overwritten; "
            f"{folder} holds {len(list(folder.iterdir()))} entries."
        )
    return folder


def write_record(folder: pathlib.Path, arguments: argparse.Namespace, settings: object) -> None:
    """Writes run.json: the command, versions and choices behind the results."""
    packages = ("csdl_keras", "keras", "tensorflow", "jax", "torch", "numpy", "scikit-learn")
    versions = {"python": platform.python_version()}
    for package in packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    record = {
        "command": shlex.join(["csdl-keras", *sys.argv[1:]]),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "arguments": {name: str(value) for name, value in vars(arguments).items()},
        "settings": dataclasses.asdict(settings),  # type: ignore[call-overload]
        "versions": versions,
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
    }
    (folder / "run.json").write_text(json.dumps(record, indent=2) + "\n")


def compare(arguments: argparse.Namespace) -> int:
    """Runs `csdl-keras compare`; returns the exit status."""
    # Keras and TensorFlow take seconds to import; --help and wrong options need neither.
    from rich.console import Console

    from csdl_keras import datasets
    from csdl_keras.algorithms import ALGORITHMS
    from csdl_keras.experiments.compare import DEFAULT_ALGORITHMS, Comparison, check_algorithms
    from csdl_keras.experiments.display import Display, summary_table
    from csdl_keras.experiments.figure import plot_costs
    from csdl_keras.experiments.results import summarise
    from csdl_keras.settings import Settings

    console = Console()
    names: Sequence[str] = DEFAULT_ALGORITHMS
    if arguments.algorithms is not None:
        names = check_algorithms([n.strip() for n in arguments.algorithms.split(",") if n.strip()])
    settings = Settings()
    if arguments.epochs is not None:
        settings = settings.limit_epochs(arguments.epochs)
    data = datasets.load(
        arguments.dataset, arguments.imbalanced, arguments.train_size, seed=arguments.seed
    )
    folder = prepare_folder(arguments.out, arguments.dataset)
    write_record(folder, arguments, settings)
    title = f"{data.name}{', imbalanced' if data.imbalanced else ''}"
    console.print(
        f"[bold]{title}[/bold]: {len(data.y_train)} training, {len(data.y_val)} validation and "
        f"{len(data.y_test)} test images of {data.num_classes} classes; {len(names)} algorithms, "
        f"{arguments.cost_seeds} cost matrices; results in {folder}",
        highlight=False,
    )
    total = len(names) * arguments.cost_seeds
    display = Display(console, total, arguments.cost_seeds)
    comparison = Comparison(
        data,
        names,
        arguments.cost_seeds,
        folder,
        settings,
        seed=arguments.seed,
        callbacks=[display.callback()],
        announce=display.announce,
    )
    start = time.perf_counter()
    results = []
    status = 0
    try:
        with display:
            for result in comparison.run():
                results.append(result)
                display.finished(result)
    except KeyboardInterrupt:
        status = 130
        console.print(f"\nInterrupted after {len(results)} of {total} rows.", highlight=False)
    if not results:
        return status
    summaries = summarise(results)
    plot_costs(summaries, results, f"What decisions cost on {title}", folder / "costs.png")
    console.print(summary_table(summaries, f"{title}, {time.perf_counter() - start:.0f} s in all"))
    best = min(results, key=lambda result: result.validation_cost)
    console.print(
        f"\nWrote {folder / 'results.csv'}, {folder / 'costs.png'} and {comparison.model_path}, "
        f"the model of the lowest validation cost: {best.algorithm} "
        f"({ALGORITHMS[best.algorithm].title}) for the cost matrix of seed {best.cost_seed}. "
        "Load it and decide:\n",
        highlight=False,
        soft_wrap=True,
    )
    print(load_snippet(comparison.model_path, arguments))
    return status


def load_snippet(model_path: pathlib.Path, arguments: argparse.Namespace) -> str:
    """The lines of Python that load the best model and decide."""
    return "\n".join(
        [
            "import keras",
            "import csdl_keras as csdl  # before loading: it registers the model's layers",
            f"model = keras.saving.load_model({str(model_path)!r})",
            f"data = csdl.datasets.load({arguments.dataset!r})",
            "print(csdl.decide(model, data.x_test[:10]), data.y_test[:10])",
        ]
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of `csdl-keras`.

    Args:
        argv: arguments; `None` (default) takes those of the process.

    Returns:
        The exit status: 0, 2 for wrong arguments, 130 after Ctrl-C.
    """
    # A comparison builds many models, of which TensorFlow warns as of a mistake in a loop.
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    arguments = build_parser().parse_args(argv)
    try:
        return compare(arguments)
    except KeyboardInterrupt:
        return 130
    except (ValueError, ModuleNotFoundError) as error:
        print(f"csdl-keras: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
