"""The command `csdl-keras compare`."""

import argparse
import dataclasses
import time

from csdl_keras._utils.optional import optional_module
from csdl_keras.experiments.cell import FIRST_COST_SEED
from csdl_keras.experiments.cell_runner import CellRunner
from csdl_keras.experiments.commands.arguments import (
    add_data,
    add_out,
    add_seed,
    names,
    positive_integer,
)
from csdl_keras.experiments.comparison import (
    DEFAULT_ALGORITHMS,
    ComparisonRun,
    check_algorithms,
    plot_costs,
    summarise,
)
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.run_folder import load_snippet, prepare_folder, write_record
from csdl_keras.fitting.stage_cache import StageCache
from csdl_keras.training.algorithms import ALGORITHMS, get_algorithm, with_options
from csdl_keras.training.effort import EFFORTS
from csdl_keras.training.settings import Settings
from csdl_keras.training.workers import default_jobs

HELP = "train algorithms on one data set and show what each one costs"
DESCRIPTION = (
    "Trains algorithms on one data set with random cost matrices, and shows what each "
    "one's decisions cost on the test set. Writes results.csv, costs.png, "
    "best_model.keras (lowest validation cost) and run.json to a new folder."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    settings = Settings()
    others = [name for name in ALGORITHMS if name not in DEFAULT_ALGORITHMS]
    add_data(parser)
    parser.add_argument(
        "--algorithms",
        metavar="A,B,...",
        help="algorithms, separated by commas; by default "
        f"{', '.join(DEFAULT_ALGORITHMS)}; also {', '.join(others)}",
    )
    parser.add_argument(
        "--cost-seeds",
        type=positive_integer,
        default=2,
        metavar="N",
        help="number of cost matrices (default 2); matrix i is drawn with seed "
        f"{FIRST_COST_SEED} + i",
    )
    parser.add_argument(
        "--epochs",
        type=positive_integer,
        metavar="N",
        help="train N epochs at most, and pre-train no longer than that; by default "
        f"{settings.mlp.epochs} for the paper's fully-connected and {settings.cnn.epochs} for its "
        f"convolutional network, {settings.pretraining.epochs} in pre-training and "
        "those of the effort for ensemble_bayes, calibrated_bayes and cost_model",
    )
    parser.add_argument(
        "--effort",
        choices=tuple(EFFORTS),
        help="how much training all algorithms get, in networks and, of the default algorithms, "
        "their width and epochs; by default balanced for ensemble_bayes and quick for others",
    )
    add_seed(parser, "training, of --imbalanced and of --train-size")
    parser.add_argument(
        "--jobs",
        type=positive_integer,
        metavar="N",
        help="processes that train; by default one for each core, or a single one on a GPU",
    )
    add_out(parser, ", new or empty; by default csdl_runs/DATASET-DATE-TIME")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    # All optional modules first: nothing may be missing once training has begun.
    optional_module("matplotlib", "compare")
    optional_module("rich", "compare")
    from csdl_keras.experiments.display import CellDisplay, make_console, print_table, summary_table

    console = make_console()
    algorithms = DEFAULT_ALGORITHMS
    if arguments.algorithms is not None:
        algorithms = check_algorithms(names(arguments.algorithms))
    # A kernel machine has no effort.
    compared = [
        with_options(name, effort=arguments.effort if ALGORITHMS[name].body != "svm" else None)
        for name in algorithms
    ]
    settings = Settings()
    if arguments.epochs is not None:
        settings = settings.limit_epochs(arguments.epochs)
    source = DataSource(
        arguments.dataset,
        arguments.imbalanced,
        arguments.train_size,
        arguments.seed,
        costs_of_all=False,
    )
    data = source.load()
    folder = prepare_folder(arguments.out, arguments.dataset)
    write_record(folder, arguments, dataclasses.asdict(settings))
    title = f"{data.name}{', imbalanced' if data.imbalanced else ''}"
    console.print(
        f"{title}: {len(data.y_train)} training, {len(data.y_val)} validation and "
        f"{len(data.y_test)} test images of {data.num_classes} classes; {len(algorithms)} "
        f"algorithms, {arguments.cost_seeds} cost matrices; results in {folder}"
    )
    jobs = default_jobs() if arguments.jobs is None else arguments.jobs
    runner = CellRunner(StageCache(), jobs)
    display = CellDisplay(console, runner)
    comparison = ComparisonRun(
        source, compared, arguments.cost_seeds, folder, settings, runner, arguments.seed
    )
    failures = runner.failures
    start = time.perf_counter()
    status = 0
    try:
        with failures.step("training"), display:
            comparison.run(display)
    except KeyboardInterrupt:
        status = 130
        done, total = len(comparison.results), len(comparison.cells)
        console.print(f"\nInterrupted after {done} of {total} rows.")
    results, best = comparison.results, comparison.best
    if results:
        summaries = summarise(results)
        with failures.step("costs.png"):
            plot_costs(summaries, results, f"What decisions cost on {title}", folder / "costs.png")
        with failures.step("the table"):
            seconds = time.perf_counter() - start
            print_table(console, summary_table(summaries, f"{title}, {seconds:.0f} s in all"))
        written = [folder / "results.csv", folder / "costs.png", comparison.model_path]
        found = [str(path) for path in written if path.exists()]
        console.print(f"\nWrote {', '.join(found)}.", soft_wrap=True)
    if best is not None:
        console.print(
            f"{comparison.model_path} is the model of the lowest validation cost: {best.algorithm} "
            f"({get_algorithm(best.algorithm).title}) for the cost matrix of seed "
            f"{best.cost_seed}. Load it and decide:\n",
            soft_wrap=True,
        )
        print(load_snippet(comparison.model_path, arguments.dataset))
    return failures.tell() if status == 0 else max(failures.tell(), status)
