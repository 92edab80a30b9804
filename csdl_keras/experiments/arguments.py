"""The arguments of the command `csdl-keras`."""

import argparse
import pathlib

from csdl_keras.algorithms import ALGORITHMS
from csdl_keras.experiments.compare import DEFAULT_ALGORITHMS, FIRST_COST_SEED
from csdl_keras.settings import Settings
from csdl_keras.version import __version__


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    settings = Settings()
    others = [name for name in ALGORITHMS if name not in DEFAULT_ALGORITHMS]
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
        help="rows of the paper's Table 1, separated by commas; by default "
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
        f"{settings.epochs} for fully-connected and {settings.cnn_epochs} for convolutional "
        f"networks and {settings.pretraining_epochs} in pre-training, more on small sets",
    )
    compare.add_argument(
        "--seed",
        type=whole_number,
        default=0,
        metavar="N",
        help="seed of training, of --imbalanced and of --train-size (default 0)",
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
    return whole_number(text, low=1)


def whole_number(text: str, low: int = 0) -> int:
    """A whole number of at least `low`, for argparse."""
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if value < low:
        raise argparse.ArgumentTypeError(
            f"expected a whole number of at least {low}; received {text!r}"
        )
    return value
