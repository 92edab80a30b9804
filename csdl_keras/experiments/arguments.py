"""The arguments of the command `csdl-keras`."""

import argparse
import pathlib
from typing import Any

from csdl_keras._utils.version import __version__
from csdl_keras.experiments.compare import DEFAULT_ALGORITHMS, FIRST_COST_SEED
from csdl_keras.experiments.export_command import add_export
from csdl_keras.experiments.profiles import PROFILES
from csdl_keras.experiments.tune_arguments import add_tune
from csdl_keras.experiments.whole_number import positive_integer, whole_number
from csdl_keras.training.algorithms import ALGORITHMS, PAPER_ALGORITHMS
from csdl_keras.training.settings import Settings


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="csdl-keras", description="Multiclass cost-sensitive deep learning with Keras."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    _add_compare(commands)
    commands.add_parser(
        "table1",
        help="print the paper's Table 1, how each algorithm treats costs",
        description="Prints the paper's Table 1: how each stage of each algorithm treats costs.",
    )
    _add_table2(commands)
    _add_report(commands)
    add_tune(commands)
    add_export(commands)
    return parser


def _add_compare(commands: Any) -> None:
    settings = Settings()
    others = [name for name in ALGORITHMS if name not in DEFAULT_ALGORITHMS]
    compare = commands.add_parser(
        "compare",
        help="train algorithms on one data set and show what each one costs",
        description=(
            "Trains algorithms on one data set with random cost matrices, and shows what each "
            "one's decisions cost on the test set. Writes results.csv, costs.png, "
            "best_model.keras (lowest validation cost) and run.json to a new folder."
        ),
    )
    compare.add_argument(
        "--dataset",
        default="mnist_5k",
        metavar="NAME",
        help="mnist_5k (default) or digits, which need no download, or a TFDS name such as mnist",
    )
    compare.add_argument(
        "--algorithms",
        metavar="A,B,...",
        help="algorithms, separated by commas; by default "
        f"{', '.join(DEFAULT_ALGORITHMS)}; also {', '.join(others)}",
    )
    compare.add_argument(
        "--cost-seeds",
        type=positive_integer,
        default=2,
        metavar="N",
        help="number of cost matrices (default 2); matrix i is drawn with seed "
        f"{FIRST_COST_SEED} + i",
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
        help="train N epochs at most, and pre-train no longer than that; by default "
        f"{settings.mlp.epochs} for the paper's fully-connected and {settings.cnn.epochs} for its "
        f"convolutional network, {settings.pretraining.epochs} in pre-training and "
        f"{settings.auto.epochs} for ensemble_bayes, calibrated_bayes and cost_model, "
        f"{settings.auto.color_epochs} on images in color, more on small sets",
    )
    compare.add_argument(
        "--seed",
        type=whole_number,
        default=0,
        metavar="N",
        help="seed of training, of --imbalanced and of --train-size (default 0)",
    )
    compare.add_argument(
        "--jobs",
        type=positive_integer,
        metavar="N",
        help="processes that train; by default one for each core, or a single one on a GPU",
    )
    compare.add_argument(
        "--out",
        type=pathlib.Path,
        metavar="FOLDER",
        help="folder for what it writes, new or empty; by default csdl_runs/DATASET-DATE-TIME",
    )


def _add_table2(commands: Any) -> None:
    table2 = commands.add_parser(
        "table2",
        help="run the paper's Table 2: all algorithms on all data sets",
        description=(
            "Runs algorithms on data sets for several cost matrices, as in the paper's Table 2, "
            "with beta and learning rates chosen on validation examples. What rows share is "
            "trained once, and what is finished is kept: stopped or killed at any moment, the "
            "same command goes on from there. Writes results.csv, choices.csv, beta_curve.csv, "
            "test_decisions/ and run.json; `csdl-keras report` makes tables and figures of them."
        ),
    )
    sizes = [
        f"{name}: {len(profile.datasets)} data set{'s' * (len(profile.datasets) > 1)}, hidden "
        f"layers {'x'.join(map(str, profile.settings.mlp.hidden_units))}, "
        f"{profile.cost_seeds} matrices"
        for name, profile in PROFILES.items()
    ]
    table2.add_argument(
        "--profile",
        choices=PROFILES,
        default="tiny",
        help=f"how much to run (default tiny, some minutes). {'; '.join(sizes)}",
    )
    table2.add_argument(
        "--datasets",
        metavar="A,B,...",
        help="data sets instead of the profile's, such as mnist,mnist_imb,cifar10; _imb is the "
        "imbalanced variant",
    )
    others = [name for name in ALGORITHMS if name not in PAPER_ALGORITHMS]
    table2.add_argument(
        "--algorithms",
        metavar="A,B,...",
        help="rows instead of all fifteen, see `csdl-keras table1`; also "
        f"{', '.join(others)}, which are not in the paper",
    )
    table2.add_argument(
        "--cost-seeds",
        type=positive_integer,
        metavar="N",
        help=f"number of cost matrices; matrix i is drawn with seed {FIRST_COST_SEED} + i",
    )
    table2.add_argument(
        "--jobs", type=positive_integer, default=1, metavar="N", help="processes (default 1)"
    )
    table2.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="run on the workers of the Dask cluster with this scheduler, such as "
        "tcp://10.0.0.1:8786; they must see data, --out and --cache under the same paths",
    )
    table2.add_argument(
        "--out",
        type=pathlib.Path,
        metavar="FOLDER",
        help="folder for what it writes (default csdl_runs/table2-PROFILE); results that are "
        "there of other data sets and algorithms stay",
    )
    table2.add_argument(
        "--cache",
        type=pathlib.Path,
        metavar="FOLDER",
        help="folder of finished stages (default stages/ in --out); runs may share one",
    )
    table2.add_argument(
        "--train-size",
        type=positive_integer,
        metavar="N",
        help="use only N examples for training and validation together, stratified",
    )
    table2.add_argument(
        "--epochs",
        type=positive_integer,
        metavar="N",
        help="train N epochs at most, and pre-train no longer than that",
    )
    table2.add_argument(
        "--seed", type=whole_number, default=0, metavar="N", help="seed of training (default 0)"
    )
    table2.add_argument(
        "--hard-hinge",
        action="store_true",
        help="train SOSR rows with the hinge that SOSR smooths, as the authors' code does",
    )
    table2.add_argument(
        "--tied-weights",
        action="store_true",
        help="decoders of pre-training use the transposed weights, as in the authors' code",
    )
    table2.add_argument(
        "--grayscale",
        action="store_true",
        help="turn RGB images to gray, as the authors' code does",
    )
    table2.add_argument(
        "--drop-rate",
        type=float,
        default=0.7,
        metavar="SHARE",
        help="share that imbalanced variants lose of four classes (default 0.7, the paper's; "
        "0.9 in the authors' code for SVHN)",
    )
    table2.add_argument(
        "--cost-factor",
        type=float,
        default=10.0,
        metavar="X",
        help="costs are drawn from [0, X n_k / n_y] (default 10, the paper's; others use 2000)",
    )
    table2.add_argument(
        "--cnn-variant",
        choices=("quick", "full"),
        default="quick",
        help="Caffe's CIFAR-10 network (default quick)",
    )


def _add_report(commands: Any) -> None:
    report = commands.add_parser(
        "report",
        help="make tables and figures of results",
        description=(
            "Makes the paper's Table 2 of a folder of results, the paper's figures beside ours, "
            "as a page (report.html, all in one file), Markdown and LaTeX, with the curve of beta "
            "and what the figures say of the paper's claims."
        ),
    )
    report.add_argument("folder", type=pathlib.Path, help="folder of csdl-keras table2")
    report.add_argument(
        "--out",
        type=pathlib.Path,
        metavar="FOLDER",
        help="folder for what it writes (default: the same folder)",
    )
