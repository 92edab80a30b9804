"""Runs the stages of cells, each one once, in one process or many."""

import contextlib
import os
import pathlib
import time
from collections.abc import Callable, Iterable, Iterator

import keras

from csdl_keras._optional import optional_module
from csdl_keras.experiments.cell import STAGES, Cell
from csdl_keras.stage_cache import StageCache

OnFinished = Callable[[Cell, str, float], None]


def run_stages(cells: Iterable[Cell], folder: pathlib.Path, on_finished: OnFinished) -> None:
    """Runs what is missing of the stages of cells: pre-training, then training, then decisions.

    Stages that cells share are sent out once. Where they run is joblib's
    business: whatever `joblib.parallel_config` says, see `workers`.

    Args:
        cells: the cells.
        folder: the folder of the stage cache.
        on_finished: called with cell, name of the stage and seconds.
    """
    joblib = optional_module("joblib", "compare")
    cache, cells = StageCache(folder), list(cells)
    for stage in STAGES:
        pending: dict[str, Cell] = {}
        for cell in cells:
            description = cell.stages(folder).get(stage)
            if description is not None and description not in cache:
                pending.setdefault(cache.key(description), cell)
        if not pending:
            continue
        # The longest first, so that none of them is left to run alone at the end.
        order = sorted(pending.values(), key=lambda cell: cell.row.body != "cnn")
        tasks = (joblib.delayed(_run)(cell, stage, folder) for cell in order)
        for cell, seconds in joblib.Parallel(return_as="generator_unordered")(tasks):
            on_finished(cell, stage, seconds)


def _run(cell: Cell, stage: str, folder: pathlib.Path) -> tuple[Cell, float]:
    start = time.perf_counter()
    cell.run(stage, folder)
    # Keras holds on to every model of a process until it is told to let go.
    keras.utils.clear_session()
    return cell, time.perf_counter() - start


@contextlib.contextmanager
def workers(jobs: int = 1, scheduler: str | None = None) -> Iterator[None]:
    """Inside the `with`, stages run in `jobs` processes, or on the workers of a Dask cluster.

    Args:
        jobs: number of processes on this machine; 1 (default) is this one.
        scheduler: address of a Dask scheduler, such as `"tcp://10.0.0.1:8786"`;
            its workers must see the data and the folder of the cache under the
            same paths.

    Raises:
        ValueError: if no scheduler answers at that address.
    """
    joblib = optional_module("joblib", "compare")
    if scheduler is not None:
        distributed = optional_module("distributed", "dask")
        try:
            client = distributed.Client(scheduler, timeout="20s")
        except (OSError, ValueError) as error:
            raise ValueError(
                f"Expected a Dask scheduler at {scheduler!r}, such as tcp://10.0.0.1:8786; {error}"
            ) from error
        with client, joblib.parallel_config("dask", n_jobs=-1, wait_for_workers_timeout=60):
            yield
    elif jobs == 1:
        with joblib.parallel_config("sequential", n_jobs=1):
            yield
    else:
        threads = max(1, (os.cpu_count() or 1) // jobs)
        # Processes inherit these; TensorFlow does not heed the variables that joblib sets.
        names = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
        before = {name: os.environ.get(name) for name in names}
        os.environ.update({name: value or str(threads) for name, value in before.items()})
        try:
            with joblib.parallel_config("loky", n_jobs=jobs, inner_max_num_threads=threads):
                yield
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                os.environ.update({} if value is None else {name: value})
