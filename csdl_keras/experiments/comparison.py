"""Compares algorithms on one data set and several cost matrices."""

import dataclasses
import pathlib
from collections.abc import Sequence

import keras
import numpy as np

from csdl_keras._utils.files import replacing, save_model
from csdl_keras.experiments.cell import FIRST_COST_SEED, OWN_COSTS, Cell, Outcome
from csdl_keras.experiments.cell_runner import CellRunner, Classifier, Watcher
from csdl_keras.experiments.csv_files import write_rows
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.failures import Failures
from csdl_keras.experiments.reporting.svg import PALETTE
from csdl_keras.experiments.reporting.table import GROUPS
from csdl_keras.experiments.results import Result, result_columns
from csdl_keras.experiments.saving import Saving, report_decisions
from csdl_keras.experiments.summaries import Summary, spread_caption
from csdl_keras.fitting.divergence import DivergedError
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.algorithms import ALGORITHMS, get_algorithm
from csdl_keras.training.settings import Settings


@dataclasses.dataclass(frozen=True)
class ComparedResult(Saving, Result):
    """A result with what it saves, and with the effort of the training."""

    effort: str


@dataclasses.dataclass
class ComparisonRun:
    """Runs algorithms for several cost matrices of one data set, and keeps the best model.

    A grid of one data set without values to choose from: the same cells, the same runner.

    Args:
        source: the data.
        algorithms: names of `ALGORITHMS`, or your own `Algorithm`s.
        num_cost_matrices: number of random cost matrices; matrix `i` is
            `randomized_proportional(y, seed=1000 + i)`, `y` the labels for training
            and validation; `None` for the costs of the source.
        folder: existing folder for `results.csv` and `best_model.keras`.
        settings: settings of the training.
        runner: runs the cells; is told what fails.
        seed: seed of the training. Defaults to 0.
        decision_names: names of decisions; `None` (default) for their indices.
    """

    source: DataSource
    algorithms: Sequence[str | Algorithm]
    num_cost_matrices: int | None
    folder: pathlib.Path
    settings: Settings
    runner: CellRunner
    seed: int = 0
    decision_names: Sequence[str] | None = None

    #: The result of the model that is kept, `None` as long as there is none.
    best: ComparedResult | None = dataclasses.field(init=False, default=None)
    #: The file of the model of the lowest `Outcome.relative_cost`, the first one among equals.
    model_path: pathlib.Path = dataclasses.field(init=False)
    #: The results so far, in the order of matrices and algorithms.
    results: list[ComparedResult] = dataclasses.field(init=False, default_factory=list)
    _best_rank: tuple[float, int] = dataclasses.field(init=False, default=(float("inf"), 0))

    def __post_init__(self) -> None:
        self.model_path = self.folder / "best_model.keras"
        count = self.num_cost_matrices
        seeds = [OWN_COSTS]
        if count is not None:
            seeds = list(range(FIRST_COST_SEED, FIRST_COST_SEED + count))
        self.cells = [
            cell_of(self.source, algorithm, seed, self.settings, self.seed)
            for seed in seeds
            for algorithm in self.algorithms
        ]

    def run(self, watcher: Watcher) -> Failures:
        """Runs the cells; each result is on disk before the watcher is told of it.

        Returns:
            What failed; its results are missing, all others are there.
        """
        found: dict[Cell, Outcome] = {}
        results: dict[Cell, ComparedResult] = {}
        failures = self.runner.failures
        watcher.expect(len(self.runner.missing(self.cells)))
        for outcome, model in self.runner.run(self.cells):
            cell = outcome.cell
            with failures.step(cell.name):
                if outcome.diverged is not None:
                    raise DivergedError(outcome.diverged, outcome.epochs)
                found[cell] = outcome
                results |= self._results(
                    [it for it in found.values() if it.cell.cost_seed == cell.cost_seed]
                )
                self.results = [results[it] for it in self.cells if it in found]
                self._write()
                watcher.finished(outcome)
                with failures.step(f"the model of {cell.name}"):
                    self._keep_best(outcome, results[cell], cell.source.finished(model))
        return failures

    def _results(self, outcomes: Sequence[Outcome]) -> dict[Cell, ComparedResult]:
        """Returns the results of outcomes for the same cost matrix, which are compared."""
        decisions = {it.cell.algorithm.name: it.test for it in outcomes if it.test is not None}
        matrix = outcomes[0].cell.matrix
        report = report_decisions(decisions, self.source, matrix, self.decision_names)
        savings = {row.name: dataclasses.asdict(Saving.of(row, report)) for row in report.rows}
        return {
            it.cell: ComparedResult(
                **result_columns(it), **savings[it.cell.algorithm.name], effort=it.cell.effort
            )
            for it in outcomes
        }

    def _write(self) -> None:
        columns = [field.name for field in dataclasses.fields(ComparedResult)]
        rows = map(dataclasses.asdict, self.results)
        write_rows(self.folder / "results.csv", columns, rows)

    def _keep_best(self, outcome: Outcome, result: ComparedResult, model: Classifier) -> None:
        """Saves the model of the lowest relative cost; half a model is never in the folder."""
        # Cells do not finish in their order. A matrix of small costs makes no better network.
        rank = outcome.relative_cost, self.cells.index(outcome.cell)
        if rank >= self._best_rank:
            return
        suffix = ".keras" if isinstance(model, keras.Model) else ".npz"
        before, path = self.model_path, self.model_path.with_suffix(suffix)
        save_model(model, path)
        self.best, self.model_path, self._best_rank = result, path, rank
        if before != path:
            before.unlink(missing_ok=True)


def cell_of(
    source: DataSource,
    algorithm: str | Algorithm,
    cost_seed: int,
    settings: Settings,
    seed: int,
) -> Cell:
    """Returns the cell of an algorithm, on the data in the form that suits it."""
    algorithm = get_algorithm(algorithm)
    return Cell(source.suiting(algorithm), algorithm, cost_seed, settings, seed=seed)


def unsuited(
    source: DataSource,
    algorithms: Sequence[str | Algorithm],
    cost_seed: int,
    settings: Settings,
    runner: CellRunner,
    seed: int,
) -> dict[str, str]:
    """Returns the algorithms that do not fit data and costs, and why, before any is trained."""
    reasons = {}
    for algorithm in map(get_algorithm, algorithms):
        try:
            cell = cell_of(source, algorithm, cost_seed, settings, seed)
            cell.stages(runner.trainer(cell.source, cell.seed))
        except ValueError as error:
            reasons[algorithm.name] = str(error)
    return reasons


def check_algorithms(names: Sequence[str]) -> tuple[str, ...]:
    """Returns names of algorithms, each once; raises a ValueError that lists the right ones."""
    wrong = [name for name in names if name not in ALGORITHMS]
    if wrong or not names:
        raise ValueError(f"Expected algorithms among {', '.join(ALGORITHMS)}; received {wrong}.")
    return tuple(dict.fromkeys(get_algorithm(name).name for name in names))


def plot_costs(
    summaries: Sequence[Summary], results: Sequence[ComparedResult], title: str, path: pathlib.Path
) -> None:
    """Draws the average test cost of each algorithm, the lowest on top, and writes a PNG.

    Args:
        summaries: the bars and their error bars, as `summarise` returns them.
        results: the dots, one for each algorithm and matrix.
        title: heading of the plot.
        path: the file.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    ordered = summaries[::-1]
    matrices = max(summary.matrices for summary in summaries)
    figure = Figure(figsize=(8, 1.8 + 0.42 * len(ordered)), layout="constrained")
    axes = figure.subplots()
    for height, summary in enumerate(ordered):
        colour = PALETTE[get_algorithm(summary.algorithm).series].light
        axes.barh(height, summary.average_cost, color=colour, alpha=0.85, height=0.7)
        if np.isfinite(summary.standard_error):
            axes.errorbar(
                summary.average_cost, height, xerr=summary.standard_error, color="black", capsize=3
            )
        dots = [result.average_cost for result in results if result.algorithm == summary.algorithm]
        axes.plot(dots, [height] * len(dots), "o", color="black", markersize=3.5, alpha=0.5)
        end = max([*dots, summary.average_cost + np.nan_to_num(summary.standard_error)])
        axes.annotate(
            f"{summary.average_cost:.3f}"
            + (f" (n = {summary.matrices})" if summary.matrices < matrices else ""),
            (end, height),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontweight="bold" if height == len(ordered) - 1 else "normal",
        )
    axes.set_yticks(range(len(ordered)), [get_algorithm(s.algorithm).title for s in ordered])
    axes.set_xlabel(f"average cost of a test example ({spread_caption(matrices)})")
    axes.set_title(title, loc="left", parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.1)
    axes.set_xlim(left=0)
    series = {get_algorithm(summary.algorithm).series for summary in ordered}
    present = [name for name in GROUPS if name in series]
    handles = [Patch(color=PALETTE[name].light, alpha=0.85, label=GROUPS[name]) for name in present]
    figure.legend(handles=handles, frameon=False, loc="outside lower center", ncols=2)
    with replacing(path) as unfinished:
        figure.savefig(unfinished, dpi=150)
