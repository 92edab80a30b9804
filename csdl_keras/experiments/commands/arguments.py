"""Values and arguments of the command line that several commands take."""

import argparse
import pathlib

import numpy as np

from csdl_keras.costs import check_cost_matrix


def positive_integer(text: str) -> int:
    """Parses a whole number of at least 1, for argparse."""
    return whole_number(text, low=1)


def whole_number(text: str, low: int = 0) -> int:
    """Parses a whole number of at least `low`, for argparse."""
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if value < low:
        raise argparse.ArgumentTypeError(
            f"expected a whole number of at least {low}; received {text!r}"
        )
    return value


def names(text: str) -> list[str]:
    """Returns the names in `"a, b"`."""
    return [name.strip() for name in text.split(",") if name.strip()]


def read_cost_matrix(path: pathlib.Path, num_classes: int) -> np.ndarray:
    """Reads a `(K, K)` cost matrix, `C[true, decision]`, from a .npy or .csv file.

    Args:
        path: the file; a .csv file holds numbers separated by commas, and no names.
        num_classes: `K`.

    Returns:
        A checked matrix.

    Raises:
        ValueError: if the file is missing, cannot be read, or holds something else.
    """
    if path.suffix not in (".npy", ".csv"):
        raise ValueError(f"Expected a cost matrix in a .npy or .csv file; received {path}.")
    try:
        if path.suffix == ".npy":
            matrix = np.load(path, allow_pickle=False)
        else:
            matrix = np.loadtxt(path, delimiter=",", ndmin=2)
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(
            f"Expected {path} to hold a cost matrix of {num_classes} x {num_classes} numbers; "
            f"{error}"
        ) from error
    return check_cost_matrix(matrix, num_classes)


def add_data(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that name the data set of a command with one data set."""
    parser.add_argument(
        "--dataset",
        default="mnist_5k",
        metavar="NAME",
        help="mnist_5k (default) or digits, which need no download, or a TFDS name such as mnist",
    )
    parser.add_argument(
        "--imbalanced",
        action="store_true",
        help="remove 70%% of the examples of four random classes, in every split",
    )
    add_train_size(parser)


def add_train_size(parser: argparse.ArgumentParser) -> None:
    """Adds `--train-size`."""
    parser.add_argument(
        "--train-size",
        type=positive_integer,
        metavar="N",
        help="use only N examples for training and validation together, stratified; "
        "the test set stays whole",
    )


def add_out(parser: argparse.ArgumentParser, text: str) -> None:
    """Adds `--out`, the folder for what a command writes, with more words about it."""
    parser.add_argument(
        "--out", type=pathlib.Path, metavar="FOLDER", help=f"folder for what it writes{text}"
    )
