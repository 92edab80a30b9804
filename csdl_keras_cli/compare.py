"""The command `csdl-keras compare`."""

import argparse

from csdl_keras_cli import arguments as shared
from csdl_keras_cli.choices import (
    DEFAULT_ALGORITHMS,
    EFFORTS,
    FIRST_COST_SEED,
    OTHER_ALGORITHMS,
    PAPER_ALGORITHMS,
)

HELP = "train algorithms on one data set and show what each one costs"
DESCRIPTION = (
    "Trains algorithms on one data set, or on your own data, and shows what each one's decisions "
    "cost on the test set, by your costs or random cost matrices, and what they save relative to "
    "the best constant decision. Writes results.csv, costs.png, best_model.keras (lowest "
    "validation cost, relative to the best constant decision for its matrix) and run.json to a new "
    "folder."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    known = (*PAPER_ALGORITHMS, *OTHER_ALGORITHMS)
    others = [name for name in known if name not in DEFAULT_ALGORITHMS]
    shared.add_data(parser)
    parser.add_argument(
        "--algorithms",
        type=shared.algorithms,
        metavar="A,B,...",
        help="algorithms, separated by commas; by default "
        f"{', '.join(DEFAULT_ALGORITHMS)}, of which a table leaves out the last three, which need "
        f"images; also {', '.join(others)}",
    )
    shared.add_number(
        shared.add_costs(parser),
        "--cost-seeds",
        "number of random cost matrices (default 2), if you give no costs; matrix i "
        f"is drawn with seed {FIRST_COST_SEED} + i, from U[0, 10 n_k / n_y]",
    )
    shared.add_number(
        parser,
        "--epochs",
        "train N epochs at most, and pre-train no longer than that; by default those of "
        "Settings for the paper's networks, and else those of the effort",
    )
    parser.add_argument(
        "--effort",
        choices=EFFORTS,
        help="how much training all algorithms get, in networks and, of the default algorithms, "
        "their width and epochs; by default balanced for ensemble_bayes and quick for others",
    )
    shared.add_seed(parser, "training, of splits, of variants and of --train-size")
    text = "processes that train; by default one for each core, or a single one on a GPU"
    shared.add_number(parser, "--jobs", text)
    shared.add_out(parser, ", new or empty; by default csdl_runs/DATASET-DATE-TIME")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    shared.check_data(arguments)
    from csdl_keras_cli.comparison import compare

    return compare(arguments)
