"""A trained classifier, with what it took."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from csdl_keras.training.assemble import assemble
from csdl_keras.training.fit_stacked import split_members
from csdl_keras.training.recipe import Job
from csdl_keras.training.stages import Stages

OnError = Callable[[int, Exception], None]


@dataclasses.dataclass(frozen=True)
class Trained:
    """A trained classifier and what its stages took together.

    Args:
        model: the classifier, a `keras.Model` or, of `csosr`, a `baselines.CSOSR`;
            `csdl_keras.decide` takes its decisions.
        seconds: of pre-training and training, stages shared with other
            algorithms counted in full.
        epochs: epochs of training, the stage after pre-training.
        unit: the cost that an output of 1 stands for, where the model outputs
            costs. Defaults to 1.
    """

    model: Any
    seconds: float
    epochs: int
    unit: float = 1.0


def trained_row(stages: Stages, members: list[Job]) -> Trained:
    """The classifier that the networks of a row make, trained where they are not."""
    seconds, results = 0.0, []
    for job in members:
        pretrained = stages.pretrained(job)
        results.append(stages.trained(job))
        seconds += results[-1].seconds + (pretrained.seconds if pretrained else 0.0)
    weights = [
        arrays
        for job, result in zip(members, results, strict=True)
        for arrays in split_members(result.arrays, job.stacked)
    ]
    first = members[0]
    model = assemble(first, weights, stages.data)
    unit = first.unit if first.row.output == "cost" else 1.0
    return Trained(model, seconds, int(results[0].info["epochs"]), unit)


def train_rows(
    stages: Stages, rows: list[list[Job]], processes: int, on_error: OnError
) -> Iterator[tuple[int, Trained]]:
    """Trains rows; yields the index of each one and what it makes, as soon as it is trained.

    Args:
        stages: runs and keeps the stages.
        rows: the jobs of each row.
        processes: number of processes; 1 is this one.
        on_error: called with the index and the error of each row that fails.
    """
    waiting = dict(enumerate(rows))
    if processes > 1:
        everything = [job for jobs in rows for job in jobs]
        with contextlib.closing(stages.run_missing(everything, processes)) as missing:
            for concerned, error in missing:
                identities = set(map(id, concerned))
                for index in list(waiting):
                    if error is not None and not identities.isdisjoint(map(id, waiting[index])):
                        del waiting[index]
                        on_error(index, error)
                    elif all(map(stages.is_trained, waiting[index])):
                        yield from _ready(stages, index, waiting.pop(index), on_error)
    for index, jobs in waiting.items():
        yield from _ready(stages, index, jobs, on_error)


def _ready(
    stages: Stages, index: int, members: list[Job], on_error: OnError
) -> Iterator[tuple[int, Trained]]:
    try:
        trained = trained_row(stages, members)
    except Exception as error:
        on_error(index, error)
    else:
        yield index, trained
