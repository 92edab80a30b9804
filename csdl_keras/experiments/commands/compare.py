"""The command `csdl-keras compare`."""

import argparse
import dataclasses
import time
from typing import Any

from csdl_keras._utils.optional import optional_module
from csdl_keras.experiments.cell import FIRST_COST_SEED, OWN_COSTS
from csdl_keras.experiments.cell_runner import CellRunner
from csdl_keras.experiments.commands.sources import (
    data_record,
    load_snippet,
    show_source,
    source_of,
)
from csdl_keras.experiments.comparison import (
    ComparisonRun,
    check_algorithms,
    plot_costs,
    unsuited,
)
from csdl_keras.experiments.run_folder import add_findings, prepare_folder, write_record
from csdl_keras.experiments.saving import findings, warning
from csdl_keras.experiments.summaries import summarise
from csdl_keras.fitting.stage_cache import StageCache
from csdl_keras.training.algorithms import ALGORITHMS, get_algorithm, with_options
from csdl_keras.training.settings import Settings
from csdl_keras.training.workers import default_jobs
from csdl_keras_cli.choices import DEFAULT_ALGORITHMS

#: Number of random cost matrices, unless the user has costs or says another one.
_COST_SEEDS = 2


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    # All optional modules first: nothing may be missing once training has begun.
    optional_module("matplotlib", "compare")
    optional_module("rich", "compare")
    from csdl_keras.experiments.display import CellDisplay, make_console, print_table, summary_table

    console = make_console()
    # A kernel machine has no effort.
    compared = [
        with_options(name, effort=arguments.effort if ALGORITHMS[name].body != "svm" else None)
        for name in check_algorithms(arguments.algorithms or DEFAULT_ALGORITHMS)
    ]
    settings = Settings()
    if arguments.epochs is not None:
        settings = settings.limit_epochs(arguments.epochs)
    source, costs = source_of(arguments)
    data: Any = source.load()
    matrices = None if costs is not None else arguments.cost_seeds or _COST_SEEDS
    jobs = default_jobs() if arguments.jobs is None else arguments.jobs
    runner = CellRunner(StageCache(), jobs)
    # Before the first trainer is made, which takes the runner's callbacks.
    display = CellDisplay(console, runner)
    first = OWN_COSTS if matrices is None else FIRST_COST_SEED
    reasons = unsuited(source, compared, first, settings, runner, arguments.seed)
    if reasons and (arguments.algorithms or len(reasons) == len(compared)):
        raise ValueError(next(iter(reasons.values())))
    compared = [algorithm for algorithm in compared if algorithm.name not in reasons]
    folder = prepare_folder(arguments.out, source.name)
    show_source(console, arguments, data, costs)
    title = f"{data.name}{', imbalanced' if data.imbalanced else ''}"
    console.print(
        f"{len(compared)} algorithm{'s' * (len(compared) > 1)}, {_costs(matrices)}; results in "
        f"{folder}",
        soft_wrap=True,
    )
    if reasons:
        console.print(
            f"Left out, since they do not fit the data or costs: {', '.join(reasons)}.",
            soft_wrap=True,
        )
    names = getattr(data, "decisions", None) if costs is None else costs.decisions
    comparison = ComparisonRun(
        source, compared, matrices, folder, settings, runner, arguments.seed, names
    )
    record = data_record(arguments, data)
    write_record(folder, arguments, dataclasses.asdict(settings), record)
    failures, told = runner.failures, ""
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
    if not results:
        # A run without results leaves no record of itself.
        (folder / "run.json").unlink()
    else:
        summaries = summarise(results)
        savings = {summary.algorithm: summary.saving for summary in summaries}
        told = warning(savings)
        with failures.step("run.json"):
            add_findings(folder, findings(savings))
        with failures.step("costs.png"):
            plot_costs(summaries, results, f"What decisions cost on {title}", folder / "costs.png")
        with failures.step("the table"):
            seconds = time.perf_counter() - start
            print_table(console, summary_table(summaries, f"{title}, {seconds:.0f} s in all"))
        written = [folder / "results.csv", folder / "costs.png", comparison.model_path]
        found = [str(path) for path in written if path.exists()]
        console.print(f"\nWrote {', '.join(found)}.", soft_wrap=True)
    if best is not None:
        which, share = "", ""
        if matrices is not None:
            which = f" for the cost matrix of seed {best.cost_seed}"
            share = " relative to the best constant decision for its matrix" if matrices > 1 else ""
        console.print(
            f"{comparison.model_path} is {best.algorithm} ({get_algorithm(best.algorithm).title})"
            f"{which}, which has the lowest validation cost{share}. {best.sentence} Load it and "
            "decide:\n",
            soft_wrap=True,
        )
        print(load_snippet(data, comparison.model_path, arguments.dataset))
    if told:
        print(f"\n# {told}")
    return max(failures.tell(), status)


def _costs(matrices: int | None) -> str:
    if matrices is None:
        return "your costs"
    return f"{matrices} random cost matri{'ces' if matrices > 1 else 'x'}"
