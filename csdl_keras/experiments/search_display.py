"""What a search shows in the terminal."""

from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from csdl_keras.experiments.trials import TrialRecord, varied


class SearchProgress:
    """A bar over the trials with the time left, and a line for each that ends.

    Args:
        console: where to print.
        total: most trials.
    """

    def __init__(self, console: Console, total: int):
        self.best: float | None = None
        self.progress = Progress(
            TextColumn("trials"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
        )
        self.task = self.progress.add_task("", total=total)

    def __enter__(self) -> "SearchProgress":
        self.progress.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.progress.stop()

    def advance(self, count: int) -> None:
        """Counts trials of earlier runs."""
        self.progress.update(self.task, completed=count)

    def finished(self, trial: Any) -> None:
        """Counts a trial and says what it cost."""
        self.progress.advance(self.task)
        if trial.status != "COMPLETED":
            reason = (trial.message or "").strip().splitlines()[-1:]
            text = f"trial {trial.trial_id}: {trial.status.lower()} {' '.join(reason)}"
        else:
            text = f"trial {trial.trial_id}: validation cost {trial.score:.4f}"
            if self.best is None or trial.score < self.best:
                self.best = trial.score
                text += ", the best so far"
        self.progress.console.print(text)


def trials_table(records: list[TrialRecord], number: int = 10) -> Table:
    """The best trials, one a line, with the hyperparameters that vary; the best in bold."""
    names = varied(records)
    table = Table(title=f"The best of {len(records)} trials", title_justify="left")
    for heading in ("trial", "validation cost", "epoch", *names):
        table.add_column(heading.replace("_", " "), justify="right")
    for index, record in enumerate(records[:number]):
        if record.validation_cost is None:
            break
        cells = [_words(record.values.get(name)) for name in names]
        head = [record.trial, f"{record.validation_cost:.4f}", str(record.best_epoch)]
        table.add_row(*head, *cells, style="bold" if index == 0 else None)
    return table


def _words(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
