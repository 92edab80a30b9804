"""Arguments of `csdl-keras table2`."""

import argparse

from csdl_keras_cli import arguments as shared
from csdl_keras_cli.choices import CNN_VARIANTS, FIRST_COST_SEED, OTHER_ALGORITHMS, PROFILES

HELP = "run the paper's Table 2: all algorithms on all data sets"
DESCRIPTION = (
    "Runs algorithms on data sets for several cost matrices, as in the paper's Table 2, "
    "with the same search of optimizers, learning rates and beta for each of them on validation "
    "examples. Stages that algorithms share are trained once, and what is finished is kept: "
    "stopped or killed at any moment, the same command goes on from there. Writes results.csv, "
    "choices.csv, curves.csv, beta_curve.csv, test_decisions/ and run.json; `csdl-keras report` "
    "makes tables and figures of them, also while it runs."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    sizes = [f"{name}: {text}" for name, text in PROFILES.items()]
    parser.add_argument(
        "--profile",
        choices=tuple(PROFILES),
        default="tiny",
        help=f"how much to run (default tiny, some minutes). {'; '.join(sizes)}",
    )
    parser.add_argument(
        "--datasets",
        type=shared.names,
        metavar="A,B,...",
        help="data sets instead of the profile's, such as mnist,mnist_imb,cifar10; _imb is the "
        "imbalanced variant",
    )
    parser.add_argument(
        "--algorithms",
        type=shared.algorithms,
        metavar="A,B,...",
        help="algorithms instead of all fifteen, see `csdl-keras table1`; also "
        f"{', '.join(OTHER_ALGORITHMS)}, which are not in the paper",
    )
    parser.add_argument(
        "--cost-seeds",
        type=shared.positive_integer,
        metavar="N",
        help=f"number of cost matrices; matrix i is drawn with seed {FIRST_COST_SEED} + i",
    )
    parser.add_argument(
        "--seeds",
        type=shared.positive_integer,
        metavar="N",
        help="number of training seeds for each cost matrix, --seed and those after it (default 1)",
    )
    parser.add_argument(
        "--budget",
        type=float,
        metavar="HOURS",
        help="stop after that time, what verdicts need most first; the same command goes on",
    )
    parser.add_argument(
        "--double-epochs",
        action="store_true",
        help="also train one cell of each algorithm with twice the epochs and patience",
    )
    parser.add_argument(
        "--jobs", type=shared.positive_integer, default=1, metavar="N", help="processes (default 1)"
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="run on the workers of the Dask cluster with this scheduler, such as "
        "tcp://10.0.0.1:8786; they must see --cache under the same path",
    )
    shared.add_out(
        parser,
        " (default csdl_runs/table2-PROFILE); results that are there of other data sets and "
        "algorithms stay",
    )
    shared.add_cache(parser, "finished stages", "runs")
    shared.add_train_size(parser)
    parser.add_argument(
        "--epochs",
        type=shared.positive_integer,
        metavar="N",
        help="train N epochs at most, and pre-train no longer than that",
    )
    shared.add_seed(parser, "training")
    parser.add_argument(
        "--mixed-precision",
        action="store_true",
        help="compute in bfloat16 and keep weights in float32, Keras' policy mixed_bfloat16; "
        "with 3000 units an epoch took five seconds in place of eight on a processor that knows it",
    )
    parser.add_argument(
        "--hard-hinge",
        action="store_true",
        help="train SOSR algorithms with the hinge that SOSR smooths, as the authors' code does",
    )
    parser.add_argument(
        "--tied-weights",
        action="store_true",
        help="let decoders of pre-training use the transposed weights, as the authors' code does",
    )
    parser.add_argument(
        "--grayscale",
        action="store_true",
        help="turn RGB images gray, as the authors' code does",
    )
    parser.add_argument(
        "--drop-rate",
        type=float,
        default=0.7,
        metavar="SHARE",
        help="share that imbalanced variants lose of four classes (default 0.7, the paper's; "
        "0.9 in the authors' code for SVHN)",
    )
    parser.add_argument(
        "--cost-factor",
        type=float,
        default=10.0,
        metavar="X",
        help="costs are drawn from [0, X n_k / n_y] (default 10, the paper's; others use 2000)",
    )
    parser.add_argument(
        "--authors-choices",
        action="store_true",
        help="choose as the authors' code does: --hard-hinge --tied-weights --grayscale "
        "--drop-rate 0.9 --cost-factor 2000, the cost term of pre-training 100 times, and 50 "
        "epochs without early stopping",
    )
    parser.add_argument(
        "--cnn-variant",
        choices=CNN_VARIANTS,
        default="quick",
        help="Caffe's CIFAR-10 network (default quick)",
    )


def check(arguments: argparse.Namespace) -> None:
    """Raises a ValueError if `--out` is no folder."""
    shared.check_out(arguments.out)
