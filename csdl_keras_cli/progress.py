"""Shows the progress of a comparison: finished rows, the current step, and the time left."""

import contextlib
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

from csdl_keras_cli.comparison_text import HEADS, cells, line

#: Seconds between status lines, where the output cannot be redrawn.
EVERY = 15.0


class Progress:
    """Counts epochs and rows silently; subclasses show them inside a `with`."""

    def __init__(self) -> None:
        self.what, self.detail = "", ""
        self._since = time.monotonic()
        self._planned: dict[str, int] = {}
        self._done = self._finished = 0
        self._seconds = 0.0

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def working(self, what: str) -> None:
        self.what, self.detail, self._since = what, "", time.monotonic()

    def row(self, comparison: Any) -> None:
        """Shows the newest row."""

    def tell(self, text: str) -> None:
        """Shows a line of text."""

    def plan(self, epochs: Mapping[str, int]) -> None:
        """Sets the planned epochs of networks, by the names of their rows."""
        self._planned = dict(epochs)

    def done(self, name: str) -> None:
        """Counts all planned epochs of a finished row, which may have stopped early."""
        self._finished += self._planned.get(name, 0)
        self._done = self._finished

    @property
    def epochs(self) -> tuple[int, int]:
        """The number of finished epochs, and of all epochs."""
        return min(self._done, sum(self._planned.values())), sum(self._planned.values())

    @property
    def left(self) -> str:
        """The time left, estimated from the epochs that have run."""
        done, total = self.epochs
        if not done or not self._seconds:
            return ""
        seconds = self._seconds / done * (total - done)
        return (
            f"about {seconds:.0f} s left" if seconds < 120 else f"about {seconds / 60:.0f} min left"
        )

    def status(self) -> str:
        seconds = f"{time.monotonic() - self._since:.0f} s"
        return ", ".join(filter(None, (f"{self.what}: {self.detail or seconds}", self.left)))

    def callback(self) -> Any:
        """Returns a Keras callback that counts epochs."""
        import keras

        progress = self

        class Epochs(keras.callbacks.Callback):
            observes_only = True

            def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
                self._start = time.monotonic()

            def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
                progress.detail = f"epoch {epoch + 1} of {self.params['epochs']}"
                progress._done += 1
                progress._seconds += time.monotonic() - self._start

        return Epochs()


class Lines(Progress):
    """Prints a line for each row, and a status line every 15 seconds."""

    def __enter__(self) -> "Lines":
        self._stopped = threading.Event()
        self._told = time.monotonic()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        self.tell(line(HEADS))
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stopped.wait(0.5):
            if time.monotonic() - self._told > EVERY:
                self.tell(f"  ... {self.status()}")

    def tell(self, text: str) -> None:
        self._told = time.monotonic()
        print(text, flush=True)

    def row(self, comparison: Any) -> None:
        # Marks are left out, since later rows change them.
        frame = comparison.to_frame().assign(mark="")
        name = comparison.last
        if name in frame.index:
            self.tell(line(cells(name, frame.loc[name])))


class Screen(Progress):
    """Draws a growing table on a terminal, with a progress bar over epochs below it."""

    def __enter__(self) -> "Screen":
        from rich.console import Console
        from rich.live import Live
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        columns = TextColumn("{task.description}"), BarColumn(24), TextColumn("{task.fields[left]}")
        self._bar = Bar(*columns)
        self._task = self._bar.add_task("", total=None, left="")
        self._table: Any = ""
        self._live = Live(
            get_renderable=self._drawn,
            console=Console(file=sys.stdout, highlight=False),
            refresh_per_second=4,
        )
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(Exception):  # Failing to draw is not worth an error.
            self._bar.update(self._task, visible=False)
            self._live.stop()

    def _drawn(self) -> Any:
        from rich.console import Group

        done, total = self.epochs
        what = f"{self.what}: {self.detail}" if self.detail else self.what
        self._bar.update(
            self._task, description=what, completed=done, total=total or None, left=self.left
        )
        return Group(self._table, self._bar)

    def tell(self, text: str) -> None:
        self._live.console.print(text, markup=False)

    def row(self, comparison: Any) -> None:
        from rich.table import Table

        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
        for place, head in enumerate(HEADS):
            table.add_column(head, justify="right" if place else "left", no_wrap=True)
        for name, row in comparison.to_frame().iterrows():
            found = cells(str(name), row)
            table.add_row(*found, style="bold" if row["mark"] == "best" else None)
        self._table = table
        self._live.refresh()


def progress(verbose: str | int) -> Progress:
    """Returns a `Screen` in terminals, `Lines` elsewhere, or a silent `Progress` (`verbose=0`)."""
    if verbose == 0 or (verbose == "auto" and not (_is_terminal() or "ipykernel" in sys.modules)):
        return Progress()
    return Screen() if _is_terminal() else Lines()


def _is_terminal() -> bool:
    return bool(getattr(sys.stdout, "isatty", bool)())
