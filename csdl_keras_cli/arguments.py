"""Arguments that several commands share, and parsers of their values."""

import argparse
import pathlib

from csdl_keras_cli.choices import (
    ALIASES,
    OTHER_ALGORITHMS,
    OTHER_PACKAGES,
    PAPER_ALGORITHMS,
    SHARES,
)
from csdl_keras_cli.did_you_mean import did_you_mean
from csdl_keras_cli.optional import check_installed

_TABLES = (".csv", ".parquet", ".npz")
_LISTED = ".csv, .parquet or .npz"
#: The kinds of data to which options apply.
_NEEDS = {
    **dict.fromkeys(("label", "drop", "categories", "cost_columns"), _TABLES),
    **dict.fromkeys("split_by group today known_costs cost".split(), (".csv", ".parquet")),
    **dict.fromkeys(("missing", "date_format"), (".csv",)),
    **dict.fromkeys(("image_size", "skip_broken"), ("a folder of images",)),
    "train_size": ("--dataset",),
}


def whole_number(text: str, low: int = 0) -> int:
    """Parses a whole number, such as a seed, for argparse."""
    if not low <= int(text) < 2**32:
        raise argparse.ArgumentTypeError(f"must be {low} to 2**32 - 1; received {text!r}")
    return int(text)


def positive_integer(text: str) -> int:
    """Parses a whole number of at least 1, for argparse."""
    return whole_number(text, low=1)


def names(text: str) -> list[str]:
    """Parses a list of names such as `"a, b"` for argparse, without repetitions."""
    found = [name.strip() for name in text.split(",")]
    if not all(found):
        raise argparse.ArgumentTypeError(f"must be names separated by commas; received {text!r}")
    return list(dict.fromkeys(found))


def algorithms(text: str) -> tuple[str, ...]:
    """Parses names of algorithms for argparse; `paper` stands for the paper's fifteen."""
    known = ("paper", *PAPER_ALGORITHMS, *OTHER_ALGORITHMS, *ALIASES, *OTHER_PACKAGES)
    found: list[str] = []
    for name in names(text):
        if name not in known:
            raise argparse.ArgumentTypeError(
                f"invalid choice: {name!r} (choose from {', '.join(known)})."
                f"{did_you_mean(name, known)}"
            )
        found += PAPER_ALGORITHMS if name == "paper" else [name]
    return tuple(dict.fromkeys(found))


def add_model(parser: argparse.ArgumentParser) -> None:
    """Adds the argument that names a saved model."""
    parser.add_argument(
        "model",
        type=pathlib.Path,
        help="classifier saved by csdl-keras compare, model.save or csdl_keras.export (.keras, "
        ".joblib or .onnx). Loading a .joblib file runs the code in it: load only files you trust",
    )


def add_data(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that choose the data set of a command."""
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--dataset",
        default="mnist_5k",
        metavar="NAME",
        help="mnist_5k (default) or digits, which need no download, or a TFDS data set such as "
        "mnist; the suffix _imb, as in digits_imb, drops 70%% of the examples of 4 random classes",
    )
    source.add_argument(
        "--data",
        type=pathlib.Path,
        metavar="PATH",
        help="your own data: a table in a .csv or .parquet file (numbers, text, missing values), "
        "arrays in an .npz file, or a folder with one subfolder of images per class. Examples of "
        "each label are split at random: {:.0%}% training, {:.0%}% validation, {:.0%}% test".format(
            *SHARES.values()
        ),
    )
    text = "column or array of --data that contains the labels"
    parser.add_argument("--label", metavar="COLUMN", help=text)
    add_names(parser, "--drop", "columns of --data that are not inputs, such as identifiers")
    text = "columns of --data to treat as categories, even if they look like numbers or dates"
    add_names(parser, "--categories", text)
    text = "text that marks a missing value in a .csv file, such as '?'"
    add_names(parser, "--missing", text, "TEXT")
    text = "format of the dates in a column, such as 'when=%%d/%%m/%%Y', if several formats fit"
    add_names(parser, "--date-format", text, "COLUMN=FORMAT")
    text = "column of dates or numbers to split by: the latest examples become the test set"
    add_names(parser, "--split-by", text, "COLUMN")
    text = "columns that define groups, such as a customer number: all rows of a group stay in one "
    text += "part of the split, and the columns are not inputs"
    add_names(parser, "--group", text)
    text = "scale the images of a folder to N x N pixels; required if their sizes differ"
    add_number(parser, "--image-size", text)
    parser.add_argument(
        "--skip-broken", action="store_true", help="skip images that are damaged or too large"
    )
    add_train_size(parser)
    # Only `compare` has these options, but all commands read their data in the same way.
    parser.set_defaults(today=[], known_costs=[], cost=[])


def add_costs(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    """Adds the arguments of costs; returns their group, to which `compare` adds more."""
    costs = parser.add_mutually_exclusive_group()
    costs.add_argument(
        "--cost-matrix",
        type=pathlib.Path,
        metavar="FILE",
        help="costs in a .csv file: one row per true label and one column per decision, both in "
        "the order of the sorted labels or both with names",
    )
    text = "columns of --data with the cost of each decision, named after labels or in their order"
    add_names(costs, "--cost-columns", text)
    return costs


def add_names(
    parser: argparse._ActionsContainer, option: str, text: str, metavar: str = "A,B,..."
) -> None:
    """Adds an option for names, which may contain commas if the option is repeated."""
    text += "; may be repeated" * (metavar != "COLUMN")
    parser.add_argument(option, action="append", default=[], metavar=metavar, help=text)


def check_data(arguments: argparse.Namespace) -> None:
    """Raises an error for contradictory arguments, and for missing data or packages."""
    data, kind = arguments.data, "--dataset"
    if data is not None and data.is_dir():
        kind = "a folder of images"
    elif data is not None:
        kind = data.suffix.lower()
        if not data.is_file():
            raise ValueError(f"--data: there is no file or folder {data}.")
        if kind not in _TABLES:
            raise ValueError(f"--data must be a {_LISTED} file or a folder of images, not {data}.")
    for option, kinds in _NEEDS.items():
        if getattr(arguments, option, None) and kind not in kinds:
            option, listed = option.replace("_", "-"), " or ".join(kinds)
            raise ValueError(f"--{option} applies to {listed} only; received {kind}.")
    for cell in arguments.date_format:
        if "=" not in cell:
            raise ValueError(f"--date-format must be COLUMN=FORMAT; received {cell!r}.")
    if arguments.cost and arguments.cost_columns:
        raise ValueError("--cost cannot be combined with --cost-columns.")
    if len(arguments.split_by) > 1 or len(arguments.today) > 1:
        raise ValueError("--split-by and --today name one column each; received several.")
    if kind in _TABLES and arguments.label is None:
        raise ValueError(f"--label is missing. Name the column or array of labels in {data}.")
    check_packages()


def check_packages() -> None:
    """Raises an error with the command that installs a missing package of the extra `compare`."""
    for package in ("matplotlib", "pandas"):
        check_installed(package, "compare")


def add_number(
    parser: argparse._ActionsContainer, option: str, text: str, default: int | None = None
) -> None:
    """Adds an option whose value is a whole number of at least 1."""
    parser.add_argument(option, type=positive_integer, default=default, metavar="N", help=text)


def add_train_size(parser: argparse.ArgumentParser) -> None:
    """Adds `--train-size`."""
    text = "use only N stratified examples of a named data set, for training plus validation"
    add_number(parser, "--train-size", text)


def add_seed(parser: argparse.ArgumentParser, text: str) -> None:
    """Adds the option `--seed`; `text` says what it seeds."""
    parser.add_argument(
        "--seed", type=whole_number, default=0, metavar="N", help=f"seed for {text} (default 0)"
    )


def add_out(parser: argparse.ArgumentParser, text: str) -> None:
    """Adds the option `--out`, the output folder; `text` says more about it."""
    parser.add_argument("--out", type=pathlib.Path, metavar="FOLDER", help=f"output folder{text}")
