"""The trials of a search: records, file, table and figure."""

import dataclasses
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from csdl_keras._utils.files import replacing
from csdl_keras.experiments.csv_files import write_rows

if TYPE_CHECKING:
    from keras_tuner.engine.oracle import Oracle
    from rich.table import Table

#: Hyperparameters that are drawn ahead of the others.
_FIRST = ("beta", "depth")


@dataclasses.dataclass(frozen=True)
class TrialRecord:
    """One trial of a search.

    Args:
        trial: its number, in KerasTuner's digits.
        status: `"COMPLETED"`, or another status of KerasTuner.
        validation_cost: average cost of its decisions on validation examples; None if it failed.
        best_epoch: the epoch whose weights were kept, from 1; None if it failed.
        values: its hyperparameters.
    """

    trial: str
    status: str
    validation_cost: float | None
    best_epoch: int | None
    values: dict[str, Any]


def trial_records(oracle: "Oracle") -> list[TrialRecord]:
    """Returns all trials of an oracle of KerasTuner, lowest cost first, failed ones last."""
    records = []
    for trial_id, trial in sorted(oracle.trials.items()):
        done = trial.status == "COMPLETED"
        records.append(
            TrialRecord(
                trial_id,
                trial.status,
                float(trial.score) if done else None,
                int(trial.best_step) + 1 if done else None,
                dict(trial.hyperparameters.values),
            )
        )
    infinity = float("inf")
    return sorted(
        records,
        key=lambda record: infinity if record.validation_cost is None else record.validation_cost,
    )


def varied(records: Sequence[TrialRecord]) -> list[str]:
    """Returns the hyperparameters that differ between trials, in order of appearance."""
    names = dict.fromkeys(name for record in records for name in record.values)
    return [name for name in names if len({str(it.values.get(name)) for it in records}) > 1]


def write_trials(records: Sequence[TrialRecord], path: pathlib.Path) -> None:
    """Writes trials.csv."""
    head = ("trial", "status", "validation_cost", "best_epoch")
    names = dict.fromkeys(name for record in records for name in record.values)
    rows = [{name: getattr(it, name) for name in head} | it.values for it in records]
    write_rows(path, [*head, *names], rows)


def trials_table(records: Sequence[TrialRecord], width: int = 80) -> "Table":
    """Returns a table of the best trials, a column each.

    It has the hyperparameters that vary, or all of them where none does, as of a single trial.

    Args:
        records: the trials, lowest cost first, at least one of them completed.
        width: characters of a line; as many trials are shown as fit, at least one.
    """
    from rich.table import Table

    done = [record for record in records if record.validation_cost is not None]
    names = varied(records) or list(done[0].values)
    head = ["validation cost", "epoch", *(name.replace("_", " ") for name in names)]
    columns = [
        [record.trial, f"{record.validation_cost:.4f}", str(record.best_epoch)]
        + [_text(record.values.get(name)) for name in names]
        for record in done
    ]
    # A column takes a space on both sides and a line.
    widths = np.cumsum([max(map(len, column)) + 3 for column in columns])
    fitting = widths + max(map(len, head)) + 4 <= width
    shown = columns[: max(1, int(fitting.sum()))]
    table = Table(
        title=f"The best of {len(records)} trials",
        title_justify="left",
        caption=None if len(shown) == len(records) else "all trials: trials.csv",
        caption_justify="left",
    )
    table.add_column("trial")
    for index, column in enumerate(shown):
        table.add_column(column[0], justify="right", style="bold" if index == 0 else None)
    for name, *cells in zip(head, *(column[1:] for column in shown), strict=True):
        table.add_row(name, *cells)
    return table


def _text(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def plot_search(records: Sequence[TrialRecord], path: pathlib.Path) -> None:
    """Draws the cost of trials against beta, depth and all else that varies, and writes a PNG.

    Args:
        records: the trials.
        path: the file.
    """
    from matplotlib.figure import Figure

    from csdl_keras import plots  # needs Matplotlib

    done = [record for record in records if record.validation_cost is not None]
    numeric = [
        name
        for name in varied(done)
        if all(isinstance(record.values.get(name, 0), (int, float)) for record in done)
    ]
    names = [*(name for name in _FIRST if name in numeric)]
    names += [name for name in numeric if name not in names]
    columns = min(max(len(names), 1), 3)
    rows = -(-max(len(names), 1) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.2 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    for name, axes in zip(names, grid.flat, strict=False):
        chosen = [record for record in done if name in record.values]
        values = [record.values[name] for record in chosen]
        costs = np.array([record.validation_cost for record in chosen], float)
        plots.cost_against(values, costs, name, ax=axes, log=name.endswith("learning_rate"))
    with replacing(path) as unfinished:
        figure.savefig(unfinished, dpi=150)
