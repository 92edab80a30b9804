"""The command `csdl-keras tune`."""

import argparse

from csdl_keras_cli import arguments as shared
from csdl_keras_cli.choices import ALIASES, OTHER_ALGORITHMS, PAPER_ALGORITHMS

HELP = "tune one algorithm with KerasTuner, and report whether tuning pays off"
DESCRIPTION = (
    "Trains one algorithm untuned, then searches its settings with KerasTuner for the lowest "
    "average validation cost under one cost matrix, and reports on test examples whether "
    "that paid off. Writes trials.csv, search.png, best_model.keras (or .joblib for csosr), which "
    "includes the decision rule, and run.json. After an interruption, run the same command again "
    "to continue. To search on many machines, set KERASTUNER_TUNER_ID, KERASTUNER_ORACLE_IP and "
    "KERASTUNER_ORACLE_PORT for a chief and its workers."
)

#: Hyperparameters and their help texts.
SPACES = {
    "learning_rate": "learning rate; a SPACE is one value, several (0.001,0.003) or a range "
    "(0.001:0.01, or 0.001:0.01:log)",
    "batch_size": "batch size",
    "filters": "filters in the first block of the default algorithms' network for images",
    "label_smoothing": "label smoothing: share of each label that is spread over all classes",
    "optimizer": "optimizer of the paper's networks: sgd, adam, or sgd,adam to search both",
    "depth": "number of hidden layers",
    "units": "units of each hidden layer",
    "beta": "weight of costs in pre-training",
    "corruption": "share of inputs set to zero in pre-training",
    "pretraining_epochs": "epochs of pre-training for each layer",
    "penalty": "penalty of csosr for violations",
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
        help=f"algorithm to tune (default calibrated_bayes): one of {', '.join(algorithms)}",
    )
    shared.add_costs(parser)
    parser.add_argument(
        "--tuner",
        default="random",
        choices=("random", "bayesian", "grid"),
        help="search strategy (default random)",
    )
    text = "maximum number of trials after the untuned default, including earlier ones (default 6)"
    shared.add_number(parser, "--max-trials", text, 6)
    text = "train and pre-train for at most N epochs, also for the untuned default"
    shared.add_number(parser, "--epochs", text)
    for name, text in SPACES.items():
        choices = ("sgd", "adam", "sgd,adam") if name == "optimizer" else None
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, metavar="SPACE", choices=choices, help=text)
    shared.add_seed(parser, "training, the search, splits, _imb and --train-size")
    shared.add_out(parser, " (default csdl_runs/tune-DATASET-ALGORITHM)")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    shared.check_data(arguments)
    from csdl_keras_cli.search import tune

    return tune(arguments)
