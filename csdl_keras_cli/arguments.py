"""Arguments of several commands, and parsers of their values."""

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
#: The kinds of data that options are for.
_NEEDS = {
    **dict.fromkeys(("label", "drop", "categories", "cost_columns"), _TABLES),
    **dict.fromkeys("split_by group today known_costs cost".split(), (".csv", ".parquet")),
    **dict.fromkeys(("missing", "date_format"), (".csv",)),
    **dict.fromkeys(("image_size", "skip_broken"), ("a folder of images",)),
    "train_size": ("--dataset",),
}


def whole_number(text: str, low: int = 0) -> int:
    """Parses a whole number, which may be a seed, for argparse."""
    if not low <= int(text) < 2**32:
        raise argparse.ArgumentTypeError(f"expected {low} to 2**32 - 1; received {text!r}")
    return int(text)


def positive_integer(text: str) -> int:
    """Parses a whole number of at least 1, for argparse."""
    return whole_number(text, low=1)


def names(text: str) -> list[str]:
    """Parses `"a, b"`, at least one name, each once, for argparse."""
    found = [name.strip() for name in text.split(",")]
    if not all(found):
        raise argparse.ArgumentTypeError(f"expected names between commas; received {text!r}")
    return list(dict.fromkeys(found))


def algorithms(text: str) -> tuple[str, ...]:
    """Parses names of algorithms, of which paper is the fifteen of the paper, for argparse."""
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
        help="a classifier in a .keras, .joblib or .onnx file that csdl-keras compare, model.save "
        "or csdl_keras.export wrote. Loading a .joblib file runs the code in it: load only files "
        "that you trust",
    )


def add_data(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that name the data of a command with one data set."""
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--dataset",
        default="mnist_5k",
        metavar="NAME",
        help="mnist_5k (default) or digits, which need no download, or a TFDS name such as mnist; "
        "digits_imb is the variant without 70%% of the examples of four random classes",
    )
    source.add_argument(
        "--data",
        type=pathlib.Path,
        metavar="PATH",
        help="your own data: a table of numbers and texts, with missing values, in a .csv or "
        ".parquet file, arrays in an .npz file, or a folder with a folder of images for each "
        "class. Of each label {:.0%}% are for training, {:.0%}% for validation and {:.0%}% for "
        "the test, drawn by --seed".format(*SHARES.values()),
    )
    parser.add_argument(
        "--label", metavar="COLUMN", help="column of a table, or array, with the labels of --data"
    )
    add_names(parser, "--drop", "columns of --data that are not inputs, such as identifiers")
    add_names(
        parser, "--categories", "columns of --data to take as categories, whatever they look like"
    )
    add_names(parser, "--missing", "text for a missing value in a .csv file, such as '?'")
    text = "format of the dates in a column, such as 'when=%%d/%%m/%%Y', where several would fit"
    add_names(parser, "--date-format", text, "COLUMN=FORMAT")
    text = "column of dates or numbers; the latest examples are the test"
    add_names(parser, "--split-by", text)
    text = "columns such as the customer, each of whom is in one part only; they are not inputs"
    add_names(parser, "--group", text)
    text = "scale images in a folder to N x N pixels; needed if they differ in size"
    add_number(parser, "--image-size", text)
    parser.add_argument(
        "--skip-broken", action="store_true", help="leave out images that are broken or too large"
    )
    add_train_size(parser)
    # Options of `compare` alone, which reads the same data as other commands.
    parser.set_defaults(today=[], known_costs=[], cost=[])


def add_costs(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    """Adds the arguments of costs; returns their group, for that of random costs."""
    costs = parser.add_mutually_exclusive_group()
    costs.add_argument(
        "--cost-matrix",
        type=pathlib.Path,
        metavar="FILE",
        help="costs in a .csv file: a row for each true label, a column for each decision, in the "
        "order of sorted labels or with the names of both",
    )
    text = "columns of --data with what each decision costs, named like labels or in their order"
    add_names(costs, "--cost-columns", text)
    return costs


def add_names(
    parser: argparse._ActionsContainer, option: str, text: str, metavar: str = "A,B,..."
) -> None:
    """Adds an option that may be repeated, as a name with a comma needs."""
    text += "; may be repeated"
    parser.add_argument(option, action="append", default=[], metavar=metavar, help=text)


def check_data(arguments: argparse.Namespace) -> None:
    """Raises for arguments that do not go together, and for missing data and packages."""
    data, kind = arguments.data, "--dataset"
    if data is not None and data.is_dir():
        kind = "a folder of images"
    elif data is not None:
        kind = data.suffix.lower()
        if not data.is_file() or kind not in _TABLES:
            what = data if data.is_file() else f"{data}, and there is no such file"
            raise ValueError(
                f"Expected --data to be a {' or '.join(_TABLES)} file or a folder of images; "
                f"received {what}."
            )
    for option, kinds in _NEEDS.items():
        if getattr(arguments, option, None) and kind not in kinds:
            option = option.replace("_", "-")
            raise ValueError(f"Expected --{option} with {' or '.join(kinds)}; received {kind}.")
    for cell in arguments.date_format:
        if "=" not in cell:
            raise ValueError(f"Expected --date-format as COLUMN=FORMAT; received {cell!r}.")
    if arguments.cost and arguments.cost_columns:
        raise ValueError("Expected --cost or --cost-columns; received both.")
    if len(arguments.split_by) > 1 or len(arguments.today) > 1:
        raise ValueError("Expected one column for --split-by, and one for --today.")
    if kind in _TABLES and arguments.label is None:
        raise ValueError(f"Expected --label, the column or array of labels in {data}.")
    check_packages()


def check_packages() -> None:
    """Raises if a package of the extra `compare` is missing; names the command that installs it."""
    for package in ("matplotlib", "pandas"):
        check_installed(package, "compare")


def add_number(
    parser: argparse._ActionsContainer, option: str, text: str, default: int | None = None
) -> None:
    """Adds an option that takes a whole number of at least 1."""
    parser.add_argument(option, type=positive_integer, default=default, metavar="N", help=text)


def add_train_size(parser: argparse.ArgumentParser) -> None:
    """Adds `--train-size`."""
    text = "use only N examples of --dataset for training and validation together, stratified"
    add_number(parser, "--train-size", text)


def add_seed(parser: argparse.ArgumentParser, text: str) -> None:
    """Adds `--seed`, the seed of `text`."""
    parser.add_argument(
        "--seed", type=whole_number, default=0, metavar="N", help=f"seed of {text} (default 0)"
    )


def add_out(parser: argparse.ArgumentParser, text: str) -> None:
    """Adds `--out`, the folder for what a command writes, with more words about it."""
    parser.add_argument(
        "--out", type=pathlib.Path, metavar="FOLDER", help=f"folder for what it writes{text}"
    )
