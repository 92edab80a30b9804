"""The arguments of `csdl-keras tune`."""

import pathlib
from typing import Any

from csdl_keras.experiments.whole_number import positive_integer, whole_number
from csdl_keras.training.algorithms import PAPER_ALGORITHMS, get_algorithm

#: Rows that can be searched: those of the paper trained by the negative log-likelihood or SOSR.
TUNABLE = tuple(name for name in PAPER_ALGORITHMS if get_algorithm(name).objective.searchable)

SPACE = "as one value, values (0,0.25,1) or a range (0.01:1, or 0.01:1:log)"


def add_tune(commands: Any) -> None:
    """Adds the command to the parser."""
    tune = commands.add_parser(
        "tune",
        help="search beta, depth and training of one algorithm with KerasTuner",
        description=(
            "Searches the choices of one algorithm for one cost matrix, with KerasTuner, for the "
            "lowest average cost of a validation example. Writes trials.csv, search.png, "
            "best_model.keras (with its decision rule) and run.json. Stopped or killed at any "
            "moment, the same command goes on from there. KERASTUNER_TUNER_ID, "
            "KERASTUNER_ORACLE_IP and KERASTUNER_ORACLE_PORT make it a chief or a worker of a "
            "search on many machines."
        ),
    )
    tune.add_argument(
        "--dataset",
        default="mnist_5k",
        metavar="NAME",
        help="mnist_5k (default) or digits, which need no download, or a TFDS name such as mnist",
    )
    tune.add_argument(
        "--imbalanced",
        action="store_true",
        help="remove 70%% of the examples of four random classes, in every split",
    )
    tune.add_argument(
        "--train-size",
        type=positive_integer,
        metavar="N",
        help="use only N examples for training and validation together, stratified",
    )
    tune.add_argument(
        "--algorithm",
        default="csdnn",
        choices=TUNABLE,
        metavar="NAME",
        help=f"csdnn (default), or one of {', '.join(TUNABLE)}",
    )
    costs = tune.add_mutually_exclusive_group()
    costs.add_argument(
        "--cost-matrix",
        type=pathlib.Path,
        metavar="FILE",
        help="matrix C[true, decision] in a .npy file, or a .csv file of numbers only",
    )
    costs.add_argument(
        "--cost-seed",
        type=whole_number,
        metavar="N",
        help="seed of a random matrix, U[0, 10 n_k / n_y], if there is no file (default 1000)",
    )
    tune.add_argument(
        "--tuner",
        default="random",
        choices=("random", "bayesian", "grid"),
        help="how trials are proposed (default random)",
    )
    tune.add_argument(
        "--max-trials",
        type=positive_integer,
        default=10,
        metavar="N",
        help="most trials, those of earlier runs in the folder included (default 10)",
    )
    tune.add_argument(
        "--executions",
        type=positive_integer,
        default=1,
        metavar="N",
        help="trainings for each trial, whose costs are averaged (default 1)",
    )
    tune.add_argument(
        "--epochs",
        type=positive_integer,
        default=20,
        metavar="N",
        help="most epochs of training (default 20); it stops after 5 without a lower cost",
    )
    tune.add_argument(
        "--batch-size", type=positive_integer, default=100, metavar="N", help="(default 100)"
    )
    tune.add_argument("--beta", metavar="SPACE", help=f"balance of pre-training, {SPACE}")
    tune.add_argument("--depth", metavar="SPACE", help="number of hidden layers")
    tune.add_argument("--units", metavar="SPACE", help="units of each hidden layer")
    tune.add_argument("--corruption", metavar="SPACE", help="share of inputs that are zeroed")
    tune.add_argument("--pretraining-epochs", metavar="SPACE", help="epochs for each layer")
    tune.add_argument("--optimizer", metavar="SPACE", help="sgd, adam, or sgd,adam")
    tune.add_argument("--learning-rate", metavar="SPACE", help="of training")
    tune.add_argument("--cost-scale", metavar="SPACE", help="largest cost in the SOSR loss")
    tune.add_argument("--alpha", metavar="SPACE", help="sharpness of the SOSR loss")
    tune.add_argument(
        "--seed",
        type=whole_number,
        default=0,
        metavar="N",
        help="seed of trials and proposals, of --imbalanced and of --train-size (default 0)",
    )
    tune.add_argument(
        "--out",
        type=pathlib.Path,
        metavar="FOLDER",
        help="folder for what it writes (default csdl_runs/tune-DATASET-ALGORITHM)",
    )
    tune.add_argument(
        "--cache",
        type=pathlib.Path,
        metavar="FOLDER",
        help="folder of pre-trained layers (default stages/ in --out); searches may share one",
    )
