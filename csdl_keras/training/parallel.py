"""Runs tasks as joblib is configured: in this process, in others, or on a cluster."""

import contextlib
import functools
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import keras

from csdl_keras.fitting.cache import SETTINGS, environment


def run_tasks(
    tasks: Mapping[str, Callable[[], Any]], wanted: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yields the name and the result or exception of each task as soon as it ends."""
    import joblib  # This import is slow.

    left = {name: (name, os.getpid(), wanted, task) for name, task in tasks.items()}

    def run(names: Sequence[str]) -> Iterator[tuple[str, Any]]:
        calls = (joblib.delayed(_attempt)(*left[name]) for name in names)
        for name, result in joblib.Parallel(return_as="generator_unordered")(calls):
            del left[name]
            yield name, result

    with _threads(joblib.effective_n_jobs(joblib.Parallel().n_jobs)):
        try:
            yield from run(list(left))
        except BrokenProcessPool:  # Rerun one by one, so that only the culprit fails.
            for name in list(left):
                try:
                    yield from run([name])
                except BrokenProcessPool as error:
                    yield name, error


def several_jobs() -> bool:
    """Returns whether joblib is configured to run several tasks in parallel."""
    import joblib  # This import is slow.

    return joblib.Parallel().n_jobs != 1


@contextlib.contextmanager
def _threads(jobs: int) -> Iterator[None]:
    """Divides the cores among processes, since TensorFlow ignores the variables of joblib."""
    import joblib  # This import is slow.

    # joblib counts the cores available to a container, Python those of the machine.
    names = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
    added = [name for name in names if jobs > 1 and name not in os.environ]
    os.environ.update(dict.fromkeys(added, str(max(1, joblib.cpu_count() // jobs))))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _attempt(
    name: str, caller: int, wanted: dict[str, Any], task: Callable[[], Any]
) -> tuple[str, Any]:
    """Runs a task; returns exceptions, so that joblib does not stop."""
    elsewhere, parent = os.getpid() != caller, multiprocessing.parent_process()
    if elsewhere and parent is not None and parent.pid is not None:
        _end_with(parent.pid)
    try:
        if elsewhere:
            for setting in SETTINGS:
                getattr(keras.config, f"set_{setting}")(wanted[setting])
            keras.config.set_dtype_policy(keras.dtype_policies.deserialize(wanted["dtype_policy"]))
        if (found := environment()) != wanted:
            raise ValueError(
                f"Keras settings or versions changed during training, from {wanted} to {found}. "
                "Change them only after the last result."
            )
        return name, task()
    except Exception as error:
        return name, error
    finally:
        if elsewhere:
            forget_models()


@functools.cache  # Once per process.
def _end_with(parent: int) -> None:
    """Ends this process soon after its parent, which a signal may kill."""

    def watch() -> None:
        # A process whose parent has ended gets a new parent.
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, name="end with parent", daemon=True).start()


def forget_models() -> None:
    """Frees all models of this process, but keeps Keras' settings."""
    policy, distribution = keras.config.dtype_policy(), keras.distribution.distribution()
    keras.utils.clear_session()
    keras.distribution.set_distribution(distribution)
    keras.config.set_dtype_policy(policy)
