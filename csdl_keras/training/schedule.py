"""Runs the stages of several jobs, each stage once, in whatever processes there are."""

import dataclasses
from collections.abc import Callable, Generator, Hashable, Iterable
from typing import Any, Generic, TypeVar

from csdl_keras.training.workers import run_tasks

Job = TypeVar("Job")


@dataclasses.dataclass(frozen=True)
class Stage:
    """A stage that a job needs next.

    Args:
        key: what tells equal stages, which are run once for all jobs that need them.
        task: a function and its arguments, which other processes must be able to unpickle.
        name: what the caller calls it. Defaults to `""`.
        size: how long it takes in comparison with others; the longest begin first, so that
            none of them is left to run alone at the end. Defaults to 0.
    """

    key: Hashable
    task: tuple[Any, ...]
    name: str = ""
    size: float = 0.0


@dataclasses.dataclass(frozen=True)
class Finished(Generic[Job]):
    """A stage that has ended.

    Args:
        jobs: those that needed it.
        stage: the stage; `None` if it could not be told which one comes next.
        result: what its function returned, or the exception that it raised.
        seconds: how long it took.
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
    """Runs what each job needs next, all at once, until no job needs anything.

    Where stages run is decided by joblib, see `workers`. Equal stages run once. A stage that
    fails costs only the jobs that need it, which are asked for no other one.

    Args:
        jobs: whatever has stages.
        next_stage: returns the stage that a job needs next, `None` if it needs none. It
            is called again once that stage has ended, and must know by then that it has: the
            caller keeps the result of a `Finished` before it asks for the next one. An
            exception that it raises fails the job.

    Returns:
        An iterator of stages that have ended, as they end.

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
        tasks = {key: stage.task for key, (stage, _) in sorted(wave.items(), key=_longest_first)}
        succeeded: set[Hashable] = set()
        for key, result, seconds in run_tasks(tasks) if tasks else ():
            stage, sharing = wave[key]
            if not isinstance(result, Exception):
                succeeded.add(key)
            yield Finished(sharing, stage, result, seconds)
        ended |= wave.keys()
        waiting = [job for key in wave if key in succeeded for job in wave[key][1]]


def _longest_first(item: tuple[Hashable, tuple[Stage, list[Any]]]) -> float:
    return -item[1][0].size
