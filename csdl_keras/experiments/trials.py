"""The trials of a search, as a table and a file."""

import csv
import dataclasses
import io
import pathlib
from typing import Any

from csdl_keras._utils.files import replace_file


@dataclasses.dataclass(frozen=True)
class TrialRecord:
    """One trial of a search.

    Args:
        trial: its number, as KerasTuner writes it.
        status: `"COMPLETED"`, or what became of it.
        validation_cost: cost of its decisions, a validation example; None if it failed.
        best_epoch: the epoch that was kept, from 1; None if it failed.
        values: its hyperparameters.
    """

    trial: str
    status: str
    validation_cost: float | None
    best_epoch: int | None
    values: dict[str, Any]


def trial_records(oracle: Any) -> list[TrialRecord]:
    """All trials of an oracle, cheapest first, failed ones last."""
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


def varied(records: list[TrialRecord]) -> list[str]:
    """The hyperparameters that are not the same in all trials, in order of appearance."""
    names = dict.fromkeys(name for record in records for name in record.values)
    return [name for name in names if len({str(it.values.get(name)) for it in records}) > 1]


def write_trials(records: list[TrialRecord], path: pathlib.Path) -> None:
    """Writes trials.csv."""
    names = list(dict.fromkeys(name for record in records for name in record.values))
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["trial", "status", "validation_cost", "best_epoch", *names])
    for record in records:
        values = [record.values.get(name) for name in names]
        head = [record.trial, record.status, record.validation_cost, record.best_epoch]
        writer.writerow(["" if cell is None else cell for cell in [*head, *values]])
    replace_file(path, text.getvalue().encode())
