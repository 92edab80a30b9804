"""Runs the stages of several jobs, each stage once, in one process or several."""

import dataclasses
from collections.abc import Callable, Generator, Hashable, Iterable
from typing import Any, Generic, TypeVar

from csdl_keras.training.workers import run_tasks

Job = TypeVar("Job")


@dataclasses.dataclass(frozen=True)
class Stage:
    """A stage that a job needs next.

    Args:
        key: identity of the stage; stages with equal keys run once for all jobs.
        task: a function and its arguments, which other processes must be able to unpickle.
        name: name for the caller. Defaults to `""`.
        size: relative duration; the longest stages begin first, so that none of them runs
            alone at the end. Defaults to 0.
    """

    key: Hashable
    task: tuple[Any, ...]
    name: str = ""
    size: float = 0.0


@dataclasses.dataclass(frozen=True)
class Finished(Generic[Job]):
    """A stage that has ended.

    Args:
        jobs: the jobs that needed it.
        stage: the stage; `None` if `next_stage` failed.
        result: what its function returned, or the exception that it raised.
        seconds: how long it took. Defaults to 0.
    """

    jobs: list[Job]
    stage: Stage | None
    result: Any
    seconds: float = 0.0

    @property
    def error(self) -> Exception | None:
        """The exception, if it failed."""
        return self.result if isinstance(self.result, Exception) else None


def run_stages(
    jobs: Iterable[Job], next_stage: Callable[[Job], Stage | None]
) -> Generator[Finished[Job]]:
    """Runs the next stages of all jobs at once, until no job needs another stage.

    joblib decides where stages run, see `workers`. Equal stages run once. If a stage fails,
    only the jobs that need it stop.

    Args:
        jobs: whatever has stages.
        next_stage: returns the stage that a job needs next, or `None`. It is called again
            once that stage has ended and must take that into account: the caller keeps the
            result of a `Finished` before it asks for the next one. If it raises an
            exception, the job fails.

    Returns:
        An iterator of `Finished` stages, as they end.

    Example:

    >>> done = {}
    >>> def next_stage(name):
    ...     return None if len(name) in done else Stage(len(name), (str.upper, name))
    >>> for finished in run_stages(["a", "b", "cd"], next_stage):
    ...     done[finished.stage.key] = finished.result
    >>> sorted(done.items())
    [(1, 'A'), (2, 'CD')]
    """
    waiting, ended = list(jobs), set[Hashable]()
    while waiting:
        wave: dict[Hashable, tuple[Stage, list[Job]]] = {}
        for job in waiting:
            try:
                stage = next_stage(job)
            except Exception as error:
                yield Finished([job], None, error)
                continue
            # A stage that has ended and is still asked for could not be kept.
            if stage is not None and stage.key not in ended:
                wave.setdefault(stage.key, (stage, []))[1].append(job)
        longest_first = sorted(wave.items(), key=lambda item: -item[1][0].size)
        tasks = {key: stage.task for key, (stage, _) in longest_first}
        succeeded: set[Hashable] = set()
        for key, result, seconds in run_tasks(tasks) if tasks else ():
            stage, sharing = wave[key]
            if not isinstance(result, Exception):
                succeeded.add(key)
            yield Finished(sharing, stage, result, seconds)
        ended |= wave.keys()
        waiting = [job for key in wave if key in succeeded for job in wave[key][1]]
