"""Trains the networks of rows, in one process or several, and joins those of a row."""

import contextlib
from collections.abc import Callable, Iterator

from csdl_keras._assemble import assemble
from csdl_keras._fit_stacked import split_members
from csdl_keras._job import Job
from csdl_keras._stages import Stages
from csdl_keras.trained import Trained

OnError = Callable[[int, Exception], None]


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
