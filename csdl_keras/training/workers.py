"""Processes in which stages run."""

import contextlib
import contextvars
import functools
import gc
import importlib
import os
import pickle
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeAlias

import keras

from csdl_keras._utils.optional import optional_module
from csdl_keras._utils.processes import end_with
from csdl_keras.fitting.environment import set_for_workers, settings
from csdl_keras.training.algorithm import Algorithm

#: A function and its arguments.
Task: TypeAlias = tuple[Any, ...]

_inside_workers = contextvars.ContextVar("inside_workers", default=False)


def default_jobs() -> int:
    """Returns the number of cores, or 1 if there is a GPU."""
    if keras.backend.backend() == "torch":
        on_gpu = optional_module("torch").cuda.is_available()
    else:
        on_gpu = any("cpu" not in str(name).lower() for name in keras.distribution.list_devices())
    return 1 if on_gpu else (os.cpu_count() or 1)


def run_tasks(tasks: Mapping[Hashable, Task]) -> Iterator[tuple[Any, Any, float]]:
    """Runs tasks where joblib is configured to; a task that fails does not stop the others.

    If a process ends during a task, the tasks that are left run one by one, so that only the
    task that ends its process fails.

    Args:
        tasks: a function and its arguments by the name of the task, the longest first.

    Returns:
        An iterator of names, results or the exceptions raised, and seconds, in the order in
        which tasks end.
    """
    import joblib  # slow to import

    left = {name: (name, *task) for name, task in tasks.items()}

    def run(names: Sequence[Hashable]) -> Iterator[tuple[Any, Any, float]]:
        calls = (joblib.delayed(_attempt)(*left[name]) for name in names)
        for name, result, seconds in joblib.Parallel(return_as="generator_unordered")(calls):
            del left[name]
            yield name, result, seconds

    try:
        yield from run(list(left))
    except BrokenProcessPool:
        for name in list(left):
            try:
                yield from run([name])
            except BrokenProcessPool as error:
                yield name, error, 0.0


def _attempt(
    name: Hashable, run: Callable[..., object], *arguments: object
) -> tuple[Any, Any, float]:
    """Runs a named task; an exception is a result, so that joblib does not stop at it."""
    start = time.perf_counter()
    result: object
    try:
        result = run(*arguments)
    except Exception as error:
        result = _portable(error)
    return name, result, time.perf_counter() - start


def _portable(error: Exception) -> Exception:
    """Returns the error, or one with the same message if it cannot be unpickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def check_sendable(algorithm: Algorithm) -> None:
    """Raises a `ValueError` unless the objects of an algorithm can be pickled."""
    if not algorithm.own_parts:
        return
    # joblib pickles with this, which also takes classes of the main program.
    reduction = importlib.import_module("joblib.externals.loky.backend.reduction")
    for part in algorithm.own_parts:
        try:
            reduction.dumps(part)
        except Exception as error:
            raise ValueError(
                f"Expected parts of {algorithm.name!r} that other processes can be sent, with "
                f"several jobs; received {part!r}, which cannot be pickled: {error}."
            ) from error


def forget_models() -> None:
    """Frees all models of this process, which Keras would otherwise keep.

    Keras also forgets global settings then, such as the dtype policy and the distribution; they
    are put back.
    """
    distribution = keras.distribution.distribution()
    before = {name: get() for name, (get, _) in settings().items()}
    keras.utils.clear_session()
    keras.distribution.set_distribution(distribution)
    for name, (get, put) in settings().items():
        if put is not None and get() != before[name]:
            put(before[name])
    _spare_modules()


@functools.cache
def _spare_modules() -> None:
    """Excludes the objects of imported modules from garbage collection, once in a process.

    There are some hundred thousand of them, and `clear_session` collects each time.
    """
    gc.freeze()


@contextlib.contextmanager
def workers(jobs: int = 1, scheduler: str | None = None) -> Iterator[None]:
    """Makes stages run in `jobs` processes, or on the workers of a Dask cluster.

    The processes on this machine end soon after this one, however it ends. The outermost of
    nested `workers` decides.

    Args:
        jobs: number of processes on this machine; 1 (default) is this one.
        scheduler: address of a Dask scheduler, such as `"tcp://10.0.0.1:8786"`;
            its workers must see the folder of the cache under the same path.

    Raises:
        ValueError: if no scheduler answers at that address.
    """
    if _inside_workers.get():
        yield
        return
    _inside_workers.set(True)
    try:
        with _configured(jobs, scheduler):
            yield
    finally:
        _inside_workers.set(False)


@contextlib.contextmanager
def _configured(jobs: int, scheduler: str | None) -> Iterator[None]:
    """Configures joblib and the environment of its processes."""
    import joblib  # slow to import

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
        # Processes inherit these; TensorFlow ignores the variables that joblib sets.
        wanted = {
            "TF_NUM_INTRAOP_THREADS": str(threads),
            "TF_NUM_INTEROP_THREADS": str(threads),
            # TensorFlow's default on some processors; on others it nearly doubles the speed.
            "TF_ENABLE_ONEDNN_OPTS": "1",
        }
        added = {name: value for name, value in wanted.items() if name not in os.environ}
        os.environ.update(added)
        set_for_workers.update(added)
        try:
            with joblib.parallel_config(
                "loky",
                n_jobs=jobs,
                inner_max_num_threads=threads,
                initializer=end_with,
                initargs=(os.getpid(),),
            ):
                yield
        finally:
            for name in added:
                os.environ.pop(name, None)
            set_for_workers.difference_update(added)
