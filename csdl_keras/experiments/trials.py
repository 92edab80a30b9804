"""The trials of a search, as a table and a file."""

import csv
import dataclasses
import io
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from csdl_keras._utils.files import replace_file

if TYPE_CHECKING:
    from keras_tuner.engine.oracle import Oracle


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
    names = list(dict.fromkeys(name for record in records for name in record.values))
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["trial", "status", "validation_cost", "best_epoch", *names])
    for record in records:
        values = [record.values.get(name) for name in names]
        head = [record.trial, record.status, record.validation_cost, record.best_epoch]
        writer.writerow(["" if cell is None else cell for cell in [*head, *values]])
    replace_file(path, text.getvalue().encode())
