"""The command `csdl-keras`."""

import argparse
import dataclasses
import logging
import sys
import time
from collections.abc import Sequence

from csdl_keras import datasets
from csdl_keras._utils.optional import optional_module
from csdl_keras.experiments.arguments import build_parser
from csdl_keras.experiments.compare import DEFAULT_ALGORITHMS, Comparison, check_algorithms
from csdl_keras.experiments.export_command import export_model
from csdl_keras.experiments.failures import Failures
from csdl_keras.experiments.figure import plot_costs
from csdl_keras.experiments.load_snippet import load_snippet
from csdl_keras.experiments.output import tolerant_output
from csdl_keras.experiments.report import report
from csdl_keras.experiments.run_folder import prepare_folder, write_record
from csdl_keras.experiments.summary import summarise
from csdl_keras.experiments.table1 import table1
from csdl_keras.experiments.table2 import table2
from csdl_keras.experiments.tune import tune
from csdl_keras.training.algorithms import get_algorithm
from csdl_keras.training.settings import Settings
from csdl_keras.training.workers import default_jobs


def compare(arguments: argparse.Namespace) -> int:
    """Runs `csdl-keras compare`; returns the exit status."""
    # All optional modules first: nothing may be missing once training has begun.
    optional_module("matplotlib", "compare")
    optional_module("rich", "compare")
    from csdl_keras.experiments.console import make_console, print_table
    from csdl_keras.experiments.display import Display, summary_table

    console = make_console()
    names: Sequence[str] = DEFAULT_ALGORITHMS
    if arguments.algorithms is not None:
        names = check_algorithms([n.strip() for n in arguments.algorithms.split(",") if n.strip()])
    settings = Settings()
    if arguments.epochs is not None:
        settings = settings.limit_epochs(arguments.epochs)
    data = datasets.load(
        arguments.dataset, arguments.imbalanced, arguments.train_size, seed=arguments.seed
    )
    folder = prepare_folder(arguments.out, arguments.dataset)
    write_record(folder, arguments, dataclasses.asdict(settings))
    title = f"{data.name}{', imbalanced' if data.imbalanced else ''}"
    console.print(
        f"{title}: {len(data.y_train)} training, {len(data.y_val)} validation and "
        f"{len(data.y_test)} test images of {data.num_classes} classes; {len(names)} algorithms, "
        f"{arguments.cost_seeds} cost matrices; results in {folder}"
    )
    total = len(names) * arguments.cost_seeds
    jobs = default_jobs() if arguments.jobs is None else arguments.jobs
    display = Display(console, total, arguments.cost_seeds, jobs)
    failures = Failures()
    comparison = Comparison(
        data,
        names,
        arguments.cost_seeds,
        folder,
        settings,
        seed=arguments.seed,
        callbacks=[display.callback()],
        announce=display.announce,
        jobs=jobs,
        failures=failures,
    )
    start = time.perf_counter()
    results = []
    status = 0
    try:
        with failures.step("training"), display:
            for result in comparison.run():
                results.append(result)
                display.finished(result)
    except KeyboardInterrupt:
        status = 130
        console.print(f"\nInterrupted after {len(results)} of {total} rows.")
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
    if comparison.best is not None:
        best = comparison.best
        console.print(
            f"{comparison.model_path} is the model of the lowest validation cost: {best.algorithm} "
            f"({get_algorithm(best.algorithm).title}) for the cost matrix of seed "
            f"{best.cost_seed}. Load it and decide:\n",
            soft_wrap=True,
        )
        print(load_snippet(comparison.model_path, arguments.dataset))
    return failures.tell() if status == 0 else max(failures.tell(), status)


def print_table1(arguments: argparse.Namespace) -> int:
    """Runs `csdl-keras table1`; returns the exit status."""
    print(table1())
    return 0


def write_report(arguments: argparse.Namespace) -> int:
    """Runs `csdl-keras report`; returns the exit status."""
    failures = Failures()
    for path in report(arguments.folder, arguments.out or arguments.folder, failures):
        print(path)
    return failures.tell()


COMMANDS = {
    "compare": compare,
    "table1": print_table1,
    "table2": table2,
    "report": write_report,
    "tune": tune,
    "export": export_model,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of `csdl-keras`.

    Args:
        argv: arguments; `None` (default) takes those of the process.

    Returns:
        The exit status: 0; 1 if a part failed, which the others outlive; 2 for wrong
        arguments and files; 130 after Ctrl-C.
    """
    # A comparison builds many models, of which TensorFlow warns as of a mistake in a loop.
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    with tolerant_output() as output:
        arguments = build_parser().parse_args(argv)
        try:
            status = COMMANDS[arguments.command](arguments)
        except KeyboardInterrupt:
            status = 130
        except (ValueError, OSError, ModuleNotFoundError) as error:
            print(f"csdl-keras: {error}", file=sys.stderr)
            status = 2
        output.flush()
        if output.error is not None and not isinstance(output.error, BrokenPipeError):
            print(f"csdl-keras: not all could be printed: {output.error}", file=sys.stderr)
            # The only command that writes no file has done nothing then.
            status = status or int(arguments.command == "table1")
    return status


if __name__ == "__main__":
    sys.exit(main())
