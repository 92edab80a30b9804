"""The command `csdl-keras tune`."""

import argparse

from csdl_keras_cli import arguments as shared
from csdl_keras_cli.choices import TUNABLE

HELP = "search beta, depth and training of one algorithm with KerasTuner"
DESCRIPTION = (
    "Searches the choices of one algorithm for one cost matrix, with KerasTuner, for the "
    "lowest average cost of a validation example. Writes trials.csv, search.png, "
    "best_model.keras (with its decision rule) and run.json. Stopped or killed at any "
    "moment, the same command goes on from there. KERASTUNER_TUNER_ID, "
    "KERASTUNER_ORACLE_IP and KERASTUNER_ORACLE_PORT make it a chief or a worker of a "
    "search on many machines."
)

#: Epochs without gain after which the training of a trial stops.
PATIENCE = 5

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
    "cost_scale": "largest cost after scaling",
    "alpha": "sharpness of the SOSR loss",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    shared.add_data(parser)
    parser.add_argument(
        "--algorithm",
        default="csdnn",
        choices=TUNABLE,
        metavar="NAME",
        help=f"csdnn (default), or one of {', '.join(TUNABLE)}",
    )
    shared.add_costs(parser)
    parser.add_argument(
        "--tuner",
        default="random",
        choices=("random", "bayesian", "grid"),
        help="the way in which trials are proposed (default random)",
    )
    for option, default, text in (
        ("--max-trials", 10, "most trials, those of earlier runs in the folder included"),
        ("--epochs", 20, f"most epochs of training, which stops after {PATIENCE} without gain"),
        ("--batch-size", 100, "examples in a batch"),
    ):
        shared.add_number(parser, option, f"{text} (default {default})", default)
    for name, text in SPACES.items():
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="SPACE", help=text)
    shared.add_seed(parser, "trials and proposals, of splits, of variants and of --train-size")
    shared.add_out(parser, " (default csdl_runs/tune-DATASET-ALGORITHM)")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    shared.check_data(arguments)
    from csdl_keras_cli.search import tune

    return tune(arguments)
