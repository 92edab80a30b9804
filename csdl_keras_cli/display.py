"""Shows in the terminal what a command runs: bars, lines and tables, and at the end what failed."""

import contextlib
import datetime
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import keras
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

#: More characters than any table has in a line.
_WIDEST = 10_000


class Failures:
    """Keeps the errors of parts of a run, so that the other parts go on.

    >>> failures = Failures()
    >>> with failures.step("the plot"):
    ...     raise ValueError("Expected costs; received none.")
    >>> failures.lines()
    ['the plot failed: ValueError: Expected costs; received none.']
    """

    def __init__(self) -> None:
        self._parts: dict[str, list[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._parts)

    @contextlib.contextmanager
    def step(self, part: str) -> Iterator[None]:
        """Runs the code inside the `with`; an exception ends that code and is kept."""
        try:
            yield
        except Exception as error:
            self.add(part, error)

    def add(self, part: str, error: Exception) -> None:
        """Keeps the error of a part."""
        parts = self._parts.setdefault(f"{type(error).__name__}: {error}", [])
        if part not in parts:
            parts.append(part)

    def lines(self) -> list[str]:
        """Returns a line for each error, with all parts that failed by it."""
        return [f"{', '.join(parts)} failed: {error}" for error, parts in self._parts.items()]

    def tell(self) -> int:
        """Prints the failures; returns the exit status, 1 if anything failed."""
        for line in self.lines():
            print(f"csdl-keras: {line}", file=sys.stderr)
        return int(bool(self))


def make_console() -> Console:
    """Returns a console that prints texts unchanged, since names of files are no markup."""
    return Console(markup=False, emoji=False, highlight=False)


def print_table(console: Console, table: Table) -> None:
    """Prints a whole table, even where the terminal is narrower."""
    width = console.width
    wide = console.options.update(width=_WIDEST)
    try:
        console.width = max(width, console.measure(table, options=wide).maximum)
        console.print(table, crop=False)
    finally:
        console.width = width


def text_table(
    names: Sequence[str], columns: Sequence[Sequence[str]], width: int, title: str, least: int = 2
) -> tuple[Table, int]:
    """Returns a table and how many of its columns fit into the width, at least `least`.

    Names are the heading and the rows' names; each column begins with its heading, too.
    """
    # A column takes a space on both sides and a line.
    widths = np.cumsum([max(map(len, column)) + 3 for column in columns])
    shown = columns[: max(least, int((widths + max(map(len, names)) + 4 <= width).sum()))]
    table = Table(title=title, title_justify="left", caption_justify="left")
    table.add_column(names[0])
    for column in shown:
        table.add_column(column[0], justify="right")
    for place, name in enumerate(names[1:], start=1):
        table.add_row(name, *(column[place] for column in shown))
    return table, len(shown)


class Display:
    """A bar over the parts of a run with the time left, and a line for each part that ends.

    The time left is the mean time of this run's parts for each of those still to come.

    Args:
        console: the console to print on.
        unit: name of the parts, in the plural.
        total: number of parts.
        before: number of parts that earlier runs have done. Defaults to 0.
        epochs: whether a second bar shows the epochs of the current network. Defaults to False.
    """

    def __init__(
        self, console: Console, unit: str, total: int, before: int = 0, epochs: bool = False
    ):
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}", markup=False),
            TimeElapsedColumn(),
            console=console,
        )
        self.unit, self.total, self.done = unit, total, before
        self._before, self._start = before, time.monotonic()
        self._bar = self.progress.add_task("all", total=total, completed=before, unit=unit)
        self.callbacks: list[keras.callbacks.Callback] = (
            [_EpochBar(self.progress)] if epochs else []
        )

    def __enter__(self) -> "Display":
        self.progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.progress.stop()

    def tell(self, text: str) -> None:
        """Prints a line about a part that ended, with the time and the time left."""
        self.done += 1
        self.progress.update(self._bar, completed=self.done)
        mean = (time.monotonic() - self._start) / max(self.done - self._before, 1)
        minutes = mean * (self.total - self.done) / 60
        left = "less than a minute left" if minutes < 1 else f"about {minutes:.0f} min left"
        self.progress.console.print(
            f"{datetime.datetime.now():%H:%M:%S} {text}; {self.done} of {self.total} {self.unit}, "
            f"{left}",
            soft_wrap=True,
        )


class _EpochBar(keras.callbacks.Callback):
    observes_only = True

    def __init__(self, progress: Progress):
        super().__init__()
        self._progress = progress
        self._bar = progress.add_task("", total=None, unit="epochs")

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        name = f"  {self.model.name.replace('_', ' ')}"
        epochs = self.params["epochs"]
        self._progress.update(self._bar, description=name, completed=0, total=epochs)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._progress.update(self._bar, completed=epoch + 1)
