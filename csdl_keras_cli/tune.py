"""The command `csdl-keras tune`."""

import argparse

from csdl_keras_cli import arguments as shared
from csdl_keras_cli.choices import ALIASES, OTHER_ALGORITHMS, PAPER_ALGORITHMS

HELP = "search the training of one algorithm with KerasTuner, and say whether that pays"
DESCRIPTION = (
    "Trains one algorithm untuned, and then searches its choices for one cost matrix, with "
    "KerasTuner, for the lowest average cost of a validation example. Says on test examples "
    "whether that paid. Writes trials.csv, search.png, best_model.keras (with its decision rule; "
    "best_model.joblib of csosr) and run.json. Stopped or killed at any moment, the same command "
    "goes on from there. KERASTUNER_TUNER_ID, KERASTUNER_ORACLE_IP and KERASTUNER_ORACLE_PORT "
    "make it a chief or a worker of a search on many machines."
)

#: Hyperparameters by name, and what the command line says of them.
SPACES = {
    "learning_rate": "learning rate of training, as one value, values (0.001,0.003) or a range "
    "(0.001:0.01, or 0.001:0.01:log)",
    "batch_size": "examples in a batch",
    "filters": "filters of the first block of the default algorithms' network for images",
    "label_smoothing": "share of a label that is spread over all classes",
    "optimizer": "sgd, adam, or sgd,adam, of the paper's networks",
    "depth": "number of hidden layers",
    "units": "units of each hidden layer",
    "beta": "balance of pre-training",
    "corruption": "share of inputs that pre-training zeroes",
    "pretraining_epochs": "epochs of pre-training for each layer",
    "penalty": "penalty of violations of csosr",
    "gamma_factor": "gamma of csosr's kernel, relative to the spread of the inputs",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    shared.add_data(parser)
    algorithms = (*PAPER_ALGORITHMS, *OTHER_ALGORITHMS, *ALIASES)
    parser.add_argument(
        "--algorithm",
        default="calibrated_bayes",
        choices=algorithms,
        metavar="NAME",
        help=f"calibrated_bayes (default), or one of {', '.join(algorithms)}",
    )
    shared.add_costs(parser)
    parser.add_argument(
        "--tuner",
        default="random",
        choices=("random", "bayesian", "grid"),
        help="the way in which trials are proposed (default random)",
    )
    text = "most trials, without the untuned default and with those of earlier runs in the folder"
    shared.add_number(parser, "--max-trials", f"{text} (default 6)", 6)
    text = "most epochs of training, and of pre-training, for the untuned default too"
    shared.add_number(parser, "--epochs", text)
    for name, text in SPACES.items():
        choices = ("sgd", "adam", "sgd,adam") if name == "optimizer" else None
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, metavar="SPACE", choices=choices, help=text)
    shared.add_seed(parser, "trials and proposals, of splits, of variants and of --train-size")
    shared.add_out(parser, " (default csdl_runs/tune-DATASET-ALGORITHM)")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    shared.check_data(arguments)
    from csdl_keras_cli.search import tune

    return tune(arguments)
