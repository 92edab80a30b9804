"""Arguments of several commands, and parsers of their values."""

import argparse
import pathlib
from typing import TYPE_CHECKING, Any

import numpy as np

from csdl_keras.costs import check_cost_matrix

if TYPE_CHECKING:
    from csdl_keras.tuning import Range

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
    "cost_scale": "largest cost in the SOSR loss",
    "alpha": "sharpness of the SOSR loss",
}
_WHOLE_NUMBERS = ("depth", "units", "pretraining_epochs")


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


def add_seed(parser: argparse.ArgumentParser, text: str) -> None:
    """Adds `--seed`, the seed of `text`."""
    parser.add_argument(
        "--seed", type=whole_number, default=0, metavar="N", help=f"seed of {text} (default 0)"
    )


def add_cache(parser: argparse.ArgumentParser, text: str, users: str) -> None:
    """Adds `--cache`, the folder of `text`, which several `users` may share."""
    parser.add_argument(
        "--cache",
        type=pathlib.Path,
        metavar="FOLDER",
        help=f"folder of {text} (default stages/ in --out); {users} may share one",
    )


def add_out(parser: argparse.ArgumentParser, text: str) -> None:
    """Adds `--out`, the folder for what a command writes, with more words about it."""
    parser.add_argument(
        "--out", type=pathlib.Path, metavar="FOLDER", help=f"folder for what it writes{text}"
    )


def parse_space(name: str, text: str) -> "list[Any] | Range":
    """Parses a space written as `"0.25"`, `"0,0.25,1"`, `"0.01:1"` or `"0.01:1:log"`.

    Args:
        name: the hyperparameter; some are whole numbers, the optimizer is a name.
        text: the text of the command line.

    Raises:
        ValueError: if the text is none of these.
    """
    if name == "optimizer":
        return [part.strip() for part in text.split(",")]
    number = int if name in _WHOLE_NUMBERS else float
    try:
        if ":" in text:
            from csdl_keras.tuning import Range  # needs KerasTuner

            low, high, *sampling = text.split(":")
            return Range(number(low), number(high), None, *sampling)
        return [number(part) for part in text.split(",")]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Expected --{name.replace('_', '-')} as {number.__name__} values such as a,b,c or a "
            f"range low:high or low:high:log; received {text!r} ({error})"
        ) from error
