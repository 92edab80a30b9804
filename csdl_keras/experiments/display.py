"""What a comparison shows in the terminal."""

from typing import Any

import keras
import numpy as np
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from csdl_keras.experiments.results import Result
from csdl_keras.experiments.summary import Summary
from csdl_keras.training.algorithms import get_algorithm


class Display:
    """Two progress bars, rows of the grid and epochs of the current stage, and result lines.

    Args:
        console: where to print.
        total: number of rows times cost matrices.
        num_cost_matrices: number of cost matrices.
        jobs: number of processes that train; the epochs of others than this one
            are not seen. Defaults to 1.
    """

    def __init__(self, console: Console, total: int, num_cost_matrices: int, jobs: int = 1):
        self.console = console
        self.num_cost_matrices = num_cost_matrices
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}", markup=False),
            TimeElapsedColumn(),
            console=console,
        )
        words = "all rows" if jobs == 1 else f"all rows, {jobs} processes"
        self.rows = self.progress.add_task(words, total=total, unit="rows")
        self.epochs = self.progress.add_task("", total=None, unit="epochs", visible=jobs == 1)

    def __enter__(self) -> "Display":
        self.progress.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.progress.stop()

    def announce(self, name: str, number: int) -> None:
        """Names the row whose training begins."""
        matrix = f"matrix {number} of {self.num_cost_matrices}"
        self.progress.update(self.rows, description=f"{name}, {matrix}")

    def finished(self, result: Result) -> None:
        """Counts a row and prints what it costs."""
        self.progress.advance(self.rows)
        self.progress.console.print(
            f"{result.algorithm:<16} matrix {result.cost_seed}: average cost "
            f"{result.average_cost:.3f}, error {result.error_rate:.1%}, "
            f"{result.train_seconds:.0f} s",
        )

    def callback(self) -> keras.callbacks.Callback:
        """A Keras callback that moves the bar of epochs."""
        return _EpochBar(self)


class _EpochBar(keras.callbacks.Callback):
    observes_only = True

    def __init__(self, display: Display):
        super().__init__()
        self.display = display

    def on_train_begin(self, logs: Any = None) -> None:
        self.display.progress.update(
            self.display.epochs,
            description=f"  {self.model.name.replace('_', ' ')}",
            completed=0,
            total=self.params["epochs"],
        )

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.display.progress.update(self.display.epochs, completed=epoch + 1)


def summary_table(summaries: list[Summary], title: str) -> Table:
    """The table of a comparison; the lowest average cost over all matrices is bold."""
    table = Table(title=title, title_justify="left", caption_justify="left")
    table.add_column("algorithm")
    table.add_column("average test cost", justify="right")
    table.add_column("error rate", justify="right")
    table.add_column("seconds", justify="right")
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
