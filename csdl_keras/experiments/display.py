"""Shows in the terminal what a command runs: bars, lines and tables."""

import datetime
import time
from collections.abc import Sequence

import keras
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from csdl_keras.experiments.cell import OWN_COSTS, Outcome
from csdl_keras.experiments.cell_runner import CellRunner
from csdl_keras.experiments.choice import Choice


def make_console() -> Console:
    """Returns a console that prints texts unchanged, square brackets and colons included.

    Texts hold names of folders and data sets, which are no markup.
    """
    return Console(markup=False, emoji=False, highlight=False)


class Display:
    """A bar over the parts of a run with the time left, and a line for each part that ends.

    Args:
        console: the console to print on.
        unit: name of the parts, in the plural.
        total: number of parts. Defaults to 0, not known yet.
        before: number of parts that earlier runs have done. Defaults to 0.
    """

    def __init__(self, console: Console, unit: str, total: int = 0, before: int = 0):
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}", markup=False),
            console=console,
        )
        self.unit, self.total, self.done = unit, total, before
        self._before, self._start = before, time.monotonic()
        self._task = self.progress.add_task(
            "all", total=total, completed=before, unit=unit, left=""
        )

    def __enter__(self) -> "Display":
        self.progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.progress.stop()

    @property
    def minutes_left(self) -> float:
        """The time for the remaining parts, if each takes the mean time of those of this run."""
        ran = max(self.done - self._before, 1)
        return (time.monotonic() - self._start) / ran * (self.total - self.done) / 60

    @property
    def time_left(self) -> str:
        """The time for the remaining parts, in words."""
        minutes = self.minutes_left
        return "less than a minute left" if minutes < 1 else f"about {minutes:.0f} min left"

    def move(self, done: int, total: int) -> None:
        """Moves the bar."""
        self.done, self.total = done, total
        left = self.time_left if self._before < done < total else ""
        self.progress.update(self._task, completed=done, total=total, left=left)

    def tell(self, text: str) -> None:
        """Prints a line about a part that ended, with the time and the time left."""
        self.print(
            f"{datetime.datetime.now():%H:%M:%S} {text}; {self.done} of {self.total} {self.unit}, "
            f"{self.time_left}"
        )

    def print(self, text: str) -> None:
        """Prints a line above the bars."""
        self.progress.console.print(text, soft_wrap=True)


class CellDisplay(Display):
    """Shows stages and cells, and the epochs of the current network if this process trains.

    The time left is the mean time of the stages that ran, for each stage that the cache lacks.
    In a run of 4.8 minutes it was off by 0.4 minutes on average; the mean over cells, many of
    which share all their stages, by 2.8.

    Args:
        console: the console to print on.
        runner: runs the cells.
    """

    def __init__(self, console: Console, runner: CellRunner):
        super().__init__(console, "stages")
        self._runner = runner
        self.epochs = self.progress.add_task(
            "", total=None, unit="epochs", left="", visible=runner.jobs == 1
        )
        runner.callbacks = [_EpochBar(self)]

    def expect(self, stages: int) -> None:
        """Takes the number of stages that are still to be trained."""
        done = len(self._runner.trained)
        self.move(done, done + stages)

    def finished(self, outcome: Outcome, found: bool = False) -> None:
        """Counts stages and prints what decisions cost, unless these were in the cache."""
        done = len(self._runner.trained)
        # A grid replaces networks that have collapsed, and how many do is not known before.
        self.move(done, max(done, self.total))
        if found:
            return
        cell = outcome.cell
        matrix = "" if cell.cost_seed == OWN_COSTS else f" matrix {cell.cost_seed}"
        seed = f" seed {cell.seed}" if cell.seed else ""
        self.tell(
            f"{cell.source.label} {cell.algorithm.name:<16}{matrix}{seed}: average cost "
            f"{outcome.test_costs.mean():.3f}, error {outcome.test_error:.1%}, "
            f"{outcome.train_seconds:.0f} s"
        )

    def chosen(self, dataset: str, choice: Choice) -> None:
        """Prints what was chosen on validation."""
        self.print(
            f"{dataset} {choice.algorithm}: {choice.parameter} = {choice.value}, validation "
            f"{choice.criterion} {choice.validation:.4f}"
        )

    def complete(self, dataset: str, algorithm: str, costs: Sequence[float]) -> None:
        """Prints the average of an algorithm on a data set."""
        if costs:
            self.print(
                f"{dataset} {algorithm}: average test cost {np.mean(costs):.3f} over "
                f"{len(costs)} matri{'ces' if len(costs) > 1 else 'x'} and seeds"
            )


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
