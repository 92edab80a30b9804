"""Runs tasks where joblib is configured to: in this process, in others, or on a cluster."""

import contextlib
import functools
import multiprocessing
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import keras

from csdl_keras._utils.processes import end_with
from csdl_keras.fitting.cache import environment


def run_tasks(tasks: Mapping[str, tuple], wanted: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Runs tasks under `joblib.Parallel()`; one that fails does not stop the others.

    `with joblib.parallel_config(n_jobs=2)` runs them in two processes, which end soon after this
    one, however it ends; other backends of joblib run them on a cluster. If a process ends during
    a task, the tasks that are left run one by one, so that only the task that ends it fails.

    Args:
        tasks: a function and its arguments by the name of the task.
        wanted: the `environment()` that they are to run in.

    Returns:
        An iterator of names and results, or the exceptions raised, in the order in which tasks
        end.
    """
    import joblib  # slow to import

    left = {name: (name, os.getpid(), wanted, *task) for name, task in tasks.items()}

    def run(names: Sequence[str]) -> Iterator[tuple[str, Any]]:
        calls = (joblib.delayed(_attempt)(*left[name]) for name in names)
        for name, result in joblib.Parallel(return_as="generator_unordered")(calls):
            del left[name]
            yield name, result

    with _threads(joblib.effective_n_jobs(joblib.Parallel().n_jobs)):
        try:
            yield from run(list(left))
        except BrokenProcessPool:
            for name in list(left):
                try:
                    yield from run([name])
                except BrokenProcessPool as error:
                    yield name, error


def several_jobs() -> bool:
    """Tells whether joblib is configured to run several tasks at once."""
    import joblib  # slow to import

    return joblib.Parallel().n_jobs != 1


@contextlib.contextmanager
def _threads(jobs: int) -> Iterator[None]:
    """Shares the cores among processes; TensorFlow ignores the variables that joblib sets."""
    names = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
    added = [name for name in names if jobs > 1 and name not in os.environ]
    os.environ.update(dict.fromkeys(added, str(max(1, (os.cpu_count() or 1) // jobs))))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _attempt(
    name: str,
    caller: int,
    wanted: dict[str, Any],
    run: Callable[..., object],
    *arguments: object,
) -> tuple[str, Any]:
    """Runs a task; an exception is a result, so that joblib does not stop at it."""
    elsewhere, parent = os.getpid() != caller, multiprocessing.parent_process()
    if elsewhere and parent is not None and parent.pid is not None:
        _end_with(parent.pid)
    try:
        if elsewhere:
            _adopt(wanted)
        elif environment() != wanted:
            raise ValueError(
                "Expected the settings of Keras to stay as they were when training was asked for; "
                "received others. Change them behind the last result."
            )
        result = run(*arguments)
    except Exception as error:
        result = _portable(error) if elsewhere else error
    if elsewhere:
        forget_models()
    return name, result


_end_with = functools.cache(end_with)  # once in a process


def _portable(error: Exception) -> Exception:
    """Returns the error, or one with the same message if it cannot be unpickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _adopt(wanted: dict[str, Any]) -> None:
    """Gives this process the settings of Keras of another one; raises if it computes otherwise."""
    config = keras.config
    config.set_floatx(wanted["floatx"])
    config.set_epsilon(wanted["epsilon"])
    config.set_image_data_format(wanted["image_data_format"])
    config.set_max_epochs(wanted["max_epochs"])
    config.set_max_steps_per_epoch(wanted["max_steps_per_epoch"])
    config.set_dtype_policy(keras.dtype_policies.deserialize(wanted["dtype_policy"]))
    found = environment()
    differences = [
        f"{name} {found[name]!r}, not {value!r}"
        for name, value in wanted.items()
        if found[name] != value
    ]
    if differences:
        raise ValueError(
            "Expected processes that compute like the one that sends them work; received one with "
            f"{', '.join(differences)}."
        )


def forget_models() -> None:
    """Frees all models of this process, which Keras would otherwise keep, but not its settings."""
    settings, distribution = environment(), keras.distribution.distribution()
    keras.utils.clear_session()
    keras.distribution.set_distribution(distribution)
    _adopt(settings)
