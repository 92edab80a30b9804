"""Shows in the terminal what a command runs: bars, lines and tables."""

import datetime
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import keras
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from csdl_keras.algorithms import get_algorithm
from csdl_keras.experiments.cell import Outcome
from csdl_keras.experiments.comparison import Summary
from csdl_keras.experiments.results import Choice
from csdl_keras.experiments.trials import TrialRecord, varied

if TYPE_CHECKING:
    from keras_tuner.engine.trial import Trial


class Display:
    """A bar over the parts of a run with the time left, and a line for each part that ends.

    Args:
        console: the console to print on.
        total: number of parts.
        unit: name of the parts, in the plural.
    """

    def __init__(self, console: Console, total: int, unit: str):
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}", markup=False),
            console=console,
        )
        self.total, self.done = total, 0
        self._task = self.progress.add_task("all", total=total, unit=unit, left="")
        self._start, self._ran = time.monotonic(), 0

    def __enter__(self) -> "Display":
        self.progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.progress.stop()

    def skip(self, count: int = 1) -> None:
        """Counts parts that took no time: found in the cache, or failed."""
        self._move(count)

    def tell(self, text: str) -> None:
        """Counts a part that ran, and prints a line about it with the time and the time left."""
        self._ran += 1
        self._move(1)
        self.print(
            f"{datetime.datetime.now():%H:%M:%S} {text}; {self.done} of {self.total}, about "
            f"{self.minutes_left:.0f} min left"
        )

    def print(self, text: str) -> None:
        """Prints a line above the bars."""
        self.progress.console.print(text, soft_wrap=True)

    @property
    def minutes_left(self) -> float:
        """The parts left, each taking the mean time of those that ran."""
        seconds = (time.monotonic() - self._start) / max(self._ran, 1)
        return seconds * (self.total - self.done) / 60

    def _move(self, count: int) -> None:
        self.done += count
        left = (
            f"about {self.minutes_left:.0f} min left"
            if self._ran and self.done < self.total
            else ""
        )
        self.progress.update(self._task, completed=self.done, left=left)


class CellDisplay(Display):
    """Shows cells, and, while this process trains, the epochs of the current network.

    Args:
        console: the console to print on.
        sizes: for each data set, the number of its cells.
        jobs: number of processes that train; only the epochs of this one are seen. Defaults to 1.
    """

    def __init__(self, console: Console, sizes: Sequence[int], jobs: int = 1):
        super().__init__(console, sum(sizes), "cells")
        self._ends = iter(np.cumsum(sizes))
        self.epochs = self.progress.add_task(
            "", total=None, unit="epochs", left="", visible=jobs == 1
        )

    def finished(self, outcome: Outcome, found: bool = False) -> None:
        """Counts a cell and prints what its decisions cost, unless it was in the cache."""
        if found:
            self.skip()
            return
        cell = outcome.cell
        self.tell(
            f"{cell.source.label} {cell.algorithm.name:<16} matrix {cell.cost_seed}: average cost "
            f"{outcome.test_costs.mean():.3f}, error {outcome.test_error:.1%}, "
            f"{outcome.train_seconds:.0f} s"
        )

    def chosen(self, dataset: str, choices: Sequence[Choice]) -> None:
        """Prints what was chosen on validation."""
        for choice in choices:
            self.print(
                f"{dataset} {choice.algorithm}: {choice.parameter} = {choice.value}, validation "
                f"{choice.criterion} {choice.validation:.4f}"
            )

    def complete(self, outcomes: Sequence[Outcome]) -> None:
        """Prints the averages of a data set, and counts cells of it that failed as done."""
        self.skip(int(next(self._ends)) - self.done)
        for algorithm in dict.fromkeys(outcome.cell.algorithm for outcome in outcomes):
            own = [outcome for outcome in outcomes if outcome.cell.algorithm == algorithm]
            costs = [outcome.test_costs.mean() for outcome in own]
            self.print(
                f"{own[0].cell.source.label} {algorithm.name}: average test cost "
                f"{np.mean(costs):.3f} over {len(costs)} matrices"
            )

    def callback(self) -> keras.callbacks.Callback:
        """Returns a Keras callback that moves the bar of epochs."""
        return _EpochBar(self)


class _EpochBar(keras.callbacks.Callback):
    observes_only = True

    def __init__(self, display: CellDisplay):
        super().__init__()
        self.display = display

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        self.display.progress.update(
            self.display.epochs,
            description=f"  {self.model.name.replace('_', ' ')}",
            completed=0,
            total=self.params["epochs"],
        )

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        self.display.progress.update(self.display.epochs, completed=epoch + 1)


class SearchDisplay(Display):
    """Shows the trials of a search.

    Args:
        console: the console to print on.
        total: largest number of trials.
    """

    def __init__(self, console: Console, total: int):
        super().__init__(console, total, "trials")
        self.best: float | None = None

    def finished(self, trial: "Trial") -> None:
        """Counts a trial of KerasTuner and prints what it cost."""
        if trial.status != "COMPLETED":
            reason = (trial.message or "").strip().splitlines()[-1:]
            self.tell(f"trial {trial.trial_id}: {trial.status.lower()} {' '.join(reason)}")
            return
        text = f"trial {trial.trial_id}: validation cost {trial.score:.4f}"
        if self.best is None or trial.score < self.best:
            self.best = trial.score
            text += ", the best so far"
        self.tell(text)


def summary_table(summaries: Sequence[Summary], title: str) -> Table:
    """Returns the table of a comparison; the lowest average cost over all matrices is bold."""
    table = Table(title=title, title_justify="left", caption_justify="left")
    table.add_column("algorithm")
    for heading in ("average test cost", "error rate", "seconds"):
        table.add_column(heading, justify="right")
    matrices = max(summary.matrices for summary in summaries)
    lowest = min(it.average_cost for it in summaries if it.matrices == matrices)
    for summary in summaries:
        spread = ""
        if np.isfinite(summary.standard_error):
            spread = f" ± {summary.standard_error:.3f}"
        if summary.matrices < matrices:
            spread += f" (n = {summary.matrices})"
        cells = [
            f"{summary.algorithm} ({get_algorithm(summary.algorithm).title})",
            f"{summary.average_cost:.3f}{spread}",
            f"{summary.error_rate:.1%}",
            f"{summary.train_seconds:.1f}",
        ]
        best = (summary.matrices, summary.average_cost) == (matrices, lowest)
        table.add_row(*cells, style="bold" if best else None)
    table.caption = (
        f"mean{' ± standard error' if matrices > 1 else ''} over {matrices} cost "
        f"matri{'ces' if matrices > 1 else 'x'}"
        f"{', or n' if any(it.matrices < matrices for it in summaries) else ''}; "
        "best in bold; seconds count shared stages in full"
    )
    return table


def trials_table(records: Sequence[TrialRecord], number: int = 10) -> Table:
    """Returns a table of the best trials with the hyperparameters that vary; the best is bold."""
    names = varied(records)
    table = Table(title=f"The best of {len(records)} trials", title_justify="left")
    for heading in ("trial", "validation cost", "epoch", *names):
        table.add_column(heading.replace("_", " "), justify="right")
    for index, record in enumerate(records[:number]):
        if record.validation_cost is None:
            break
        cells = [_text(record.values.get(name)) for name in names]
        head = [record.trial, f"{record.validation_cost:.4f}", str(record.best_epoch)]
        table.add_row(*head, *cells, style="bold" if index == 0 else None)
    return table


def _text(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
