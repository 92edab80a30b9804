"""The command `csdl-keras compare`."""

import argparse
import dataclasses
import time

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
    shared.add_costs(parser).add_argument(
        "--cost-seeds",
        type=shared.positive_integer,
        metavar="N",
        help="number of random cost matrices (default 2), if you give no costs; matrix i "
        f"is drawn with seed {FIRST_COST_SEED} + i, from U[0, 10 n_k / n_y]",
    )
    parser.add_argument(
        "--epochs",
        type=shared.positive_integer,
        metavar="N",
        help="train N epochs at most, and pre-train no longer than that; by default those of "
        "Settings for the paper's networks, and else those of the effort",
    )
    parser.add_argument(
        "--effort",
        choices=EFFORTS,
        help="how much training all algorithms get, in networks and, of the default algorithms, "
        "their width and epochs; by default balanced for ensemble_bayes and quick for others",
    )
    shared.add_seed(parser, "training, of splits, of --imbalanced and of --train-size")
    parser.add_argument(
        "--jobs",
        type=shared.positive_integer,
        metavar="N",
        help="processes that train; by default one for each core, or a single one on a GPU",
    )
    shared.add_out(parser, ", new or empty; by default csdl_runs/DATASET-DATE-TIME")


def check(arguments: argparse.Namespace) -> None:
    """Raises a ValueError for arguments that do not go together, and missing files."""
    shared.check_data(arguments)
    shared.check_out(arguments.out)


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    from csdl_keras._utils.optional import optional_module

    # All optional modules first: nothing may be missing once training has begun.
    for module in ("matplotlib", "pandas"):
        optional_module(module, "compare")
    from csdl_keras import ALGORITHMS, Settings
    from csdl_keras.evaluation._report_text import saving_sentence, warning
    from csdl_keras_cli.comparison import Comparison, plot_costs, summarise, summary_text
    from csdl_keras_cli.data import data_record, findings, load_snippet, read_data, show_data
    from csdl_keras_cli.output import Progress
    from csdl_keras_cli.run_folder import RunRecord, prepare_folder

    start = time.perf_counter()
    names = dict.fromkeys(ALGORITHMS[it].name for it in arguments.algorithms or DEFAULT_ALGORITHMS)
    compared = [ALGORITHMS[name] for name in names]
    if arguments.effort is not None:  # A kernel machine has none.
        effort = {"effort": arguments.effort}
        compared = [
            dataclasses.replace(it, **effort if it.body != "svm" else {}) for it in compared
        ]
    settings = Settings()
    if arguments.epochs is not None:
        settings = settings.limit_epochs(arguments.epochs)
    data = read_data(arguments)
    matrices = None if data.table is not None else arguments.cost_seeds or 2
    comparison = Comparison(data, matrices, settings, arguments.seed, arguments.jobs)
    reasons = comparison.unsuited(compared)
    if reasons and (arguments.algorithms or len(reasons) == len(compared)):
        raise ValueError(next(iter(reasons.values())))
    compared = [algorithm for algorithm in compared if algorithm.name not in reasons]
    folder = prepare_folder(arguments.out, data.name)
    show_data(arguments, data)
    costs = f"{matrices} random cost matri{'x' if matrices == 1 else 'ces'}"
    print(
        f"{len(compared)} algorithm{'s' * (len(compared) > 1)}, "
        f"{'your costs' if matrices is None else costs}; results in {folder}"
    )
    if reasons:
        print(f"Left out, since they do not fit the data or costs: {', '.join(reasons)}.")
    described = data_record(arguments, data)
    record = RunRecord(folder, arguments, dataclasses.asdict(settings), described)
    total = len(compared) * (matrices or 1)
    failures, status = comparison.failures, 0
    try:
        with failures.step("training"):
            comparison.run(compared, folder, Progress("rows", total).tell)
    except KeyboardInterrupt:
        status = 130
        print(f"\nInterrupted after {len(comparison.results)} of {total} rows.")
    results, best, path = comparison.results, comparison.best, comparison.model_path
    if results.empty:
        record.remove()
        return max(failures.tell(), status)
    summary = summarise(results)
    savings = summary.to_dict("index")
    with failures.step("run.json"):
        record.add_findings(findings(savings))
    with failures.step("costs.png"):
        plot_costs(results, f"What decisions cost on {data.title}", folder / "costs.png")
    with failures.step("the table"):
        seconds = time.perf_counter() - start
        print(f"\n{summary_text(summary, f'{data.title}, {seconds:.0f} s in all')}")
    written = [folder / "results.csv", folder / "costs.png", path]
    print(f"\nWrote {', '.join(str(it) for it in written if it is not None and it.exists())}.")
    if best is not None and path is not None:
        which = "" if matrices is None else f" for the cost matrix of seed {best['cost_seed']}"
        share = " relative to the best constant decision for its matrix"
        print(
            f"{path} is {best['algorithm']} ({ALGORITHMS[best['algorithm']].title}){which}, which "
            f"has the lowest validation cost{share if (matrices or 1) > 1 else ''}. "
            f"{saving_sentence(best)} Load it and decide:\n\n{load_snippet(data, path)}"
        )
    if told := warning(savings):
        print(f"\n# {told}")
    return max(failures.tell(), status)
