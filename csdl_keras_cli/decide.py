"""The command `csdl-keras decide`."""

import argparse
import pathlib
import sys
from typing import TYPE_CHECKING, Any

from csdl_keras_cli.arguments import add_model, names
from csdl_keras_cli.optional import check_installed

if TYPE_CHECKING:
    import pandas

    from csdl_keras_cli.saved_model import SavedModel

HELP = "make decisions for new rows or images with a saved model"
DESCRIPTION = (
    "Writes the decision of a saved classifier for each row of a table, or each image in a folder, "
    "with the expected cost of each decision."
)
#: Examples in a batch.
_BATCH = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    add_model(parser)
    text = "a .csv or .parquet file with the model's columns, or a folder of images, which "
    text += "are scaled to the model's input size and to pixels in [0, 1]"
    parser.add_argument("data", type=pathlib.Path, help=text)
    text = "the .csv file to write (default: standard output)"
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help=text)
    text = "columns to use in the model's cost expressions, in order, if they have other names here"
    parser.add_argument("--costs", type=names, metavar="A,B,...", help=text)
    text = "text that marks a missing value in a .csv file, such as '?'; may be repeated"
    parser.add_argument("--missing", action="append", default=[], metavar="TEXT", help=text)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    check_installed("pandas", "compare")
    import numpy as np
    import pandas

    from csdl_keras_cli.saved_model import load

    model = load(arguments.model)
    costs, images = None, arguments.data.is_dir()
    if images:
        from csdl_keras_cli.image_folder import SUFFIXES, read_image

        folder = arguments.data
        if len(model.input_shape) != 4 or arguments.costs:
            raise ValueError(f"{arguments.model} needs a table; received the folder {folder}.")
        files = [it for it in sorted(folder.rglob("*")) if it.suffix.lower() in SUFFIXES]
        if not files:
            raise ValueError(f"{folder} has no images ({', '.join(SUFFIXES)}).")
        paths = [str(it.relative_to(folder)) for it in files]
        table = written = pandas.DataFrame({"file": paths})
        _, *sides, channels = model.input_shape
        size: Any = sides if all(sides) else None
    else:
        table, amounts = _rows(model, arguments)
        written = table[list(amounts.values())].reset_index(drop=True)
        own = {name: table[column] for name, column in amounts.items()}
        costs = model.costs_of(table.assign(**own))
    found = []
    for start in range(0, len(table), _BATCH):
        part = slice(start, start + _BATCH)
        x: Any = table[part]
        if images:
            x = [read_image(file, size, gray=channels == 1) for file in files[part]]
        found.append(model.decide(x, None if costs is None else costs[part]))
    decisions, expected = map(np.concatenate, zip(*found, strict=True))
    written["decision"] = [model.labels[decision] for decision in decisions]
    written["expected_cost"] = expected[np.arange(len(expected)), decisions]
    for place, label in enumerate(model.labels):
        written[f"cost of {label}"] = expected[:, place]
    written.to_csv(sys.stdout if arguments.out is None else arguments.out, index=False)
    return 0


def _rows(
    model: "SavedModel", arguments: argparse.Namespace
) -> tuple["pandas.DataFrame", dict[str, str]]:
    """Returns the rows of a table, and its columns of amounts by their names in the model."""
    import pandas

    from csdl_keras_cli.did_you_mean import did_you_mean
    from csdl_keras_cli.own_table import read_rows

    path, columns, own = arguments.data, model.columns, arguments.costs
    if columns is None:
        raise ValueError(f"{arguments.model} needs a folder of images; received {path}.")
    if own is not None and model.known_costs is None:
        raise ValueError(
            f"{arguments.model} has fixed costs, so --costs cannot be used. Only models saved by "
            "csdl-keras compare with --known-costs or --cost accept it."
        )
    if own is not None and len(own) != len(model.amounts):
        needed = ", ".join(model.amounts)
        raise ValueError(f"--costs needs a column for each of {needed}; received {own}.")
    if path.suffix.lower() == ".parquet":
        table = pandas.read_parquet(path)
    else:
        options, _, _ = read_rows(path)
        # Categories such as 01, and dates such as 2026, must stay text.
        kinds = zip(columns.names, columns.categories, strict=True)
        texts = [name for name, known in kinds if known and all(type(it) is str for it in known)]
        texts += [name for name, _ in columns.dates]
        options |= {"dtype": dict.fromkeys(texts, "str"), "na_values": arguments.missing}
        table = pandas.read_csv(path, low_memory=False, **options)
    amounts = dict(zip(model.amounts, own or model.amounts, strict=True))
    have = list(map(str, table))
    for name in (*columns.names, *amounts.values()):
        if name not in have:
            raise ValueError(
                f"{path} has no column {name!r}, only {', '.join(have[:12])}"
                f"{' ...' * (len(have) > 12)}.{did_you_mean(name, have)}"
            )
    if table.empty:
        raise ValueError(f"{path} has no rows.")
    return table, amounts
