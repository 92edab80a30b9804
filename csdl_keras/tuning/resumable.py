"""Oracles and tuners whose search continues after the process was killed."""

import contextlib
import copy
import os
import pathlib
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeAlias

import filelock
import keras
import keras_tuner
from keras_tuner.engine.trial import Trial

from csdl_keras._utils.files import write_json
from csdl_keras.tuning._search_record import (
    FitData,
    check_same_search,
    check_same_tuner,
    is_worker,
)

#: What a tuner builds models with.
HyperModel: TypeAlias = (
    keras_tuner.HyperModel | Callable[[keras_tuner.HyperParameters], keras.Model]
)
#: What a search minimises or maximises.
Objective: TypeAlias = str | keras_tuner.Objective | list[keras_tuner.Objective]

COMPLETED = "COMPLETED"
#: Stands for the seed 0, which KerasTuner takes for no seed.
SEED_FOR_0 = 10_001
#: The name of KerasTuner's folder unless it is given another.
DEFAULT_PROJECT = "untitled_project"
#: Arguments of `keras_tuner.Tuner` that change results.
_OF_TRIALS = ("executions_per_trial", "max_model_size", "optimizer", "loss", "metrics")
#: Arguments about retries of failed trials, which change no result of the others.
_RETRIES = ("max_retries_per_trial", "max_consecutive_failed_trials")


class ResumableOracle(keras_tuner.Oracle):
    """Makes an oracle of KerasTuner resumable; it comes before that class among the bases.

    Files are replaced as a whole. A trial that had finished when the search was
    killed, but was still listed as running, is not run again.
    """

    _retry_queue: list[str]

    def save(self) -> None:
        """Writes the oracle's state."""
        write_json(self._get_oracle_fname(), self.get_state())

    def _save_trial(self, trial: Trial) -> None:
        folder = pathlib.Path(self._get_trial_dir(trial.trial_id))
        write_json(folder / "trial.json", trial.get_state())

    def reload(self) -> None:
        """Reads the oracle's state and its trials; damaged files raise a ValueError."""
        try:
            super().reload()
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"Expected the search beside {self._get_oracle_fname()} to be whole; received "
                f"damaged files ({type(error).__name__}: {error})."
            ) from error
        queue = dict.fromkeys(self._retry_queue)
        finished = [it for it in queue if self.trials[it].status == COMPLETED]
        self._retry_queue = [it for it in queue if it not in finished]
        for trial_id in finished:
            self.take_up(trial_id)

    def take_up(self, trial_id: str) -> None:
        """Completes the bookkeeping of a trial that had finished; subclasses may need it."""


@contextlib.contextmanager
def search_lock(path: pathlib.Path, folder: pathlib.Path) -> Iterator[None]:
    """Locks a folder, so that two processes do not search in it at the same time.

    The operating system releases the lock if this process is killed.

    Args:
        path: file of the lock.
        folder: the locked folder, for the message.

    Raises:
        ValueError: at once, if another process holds the lock.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(path)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise ValueError(
            f"Expected no other search under way in {folder}; received one that is. Wait for it, "
            "search in another folder, or share the work: see KerasTuner's distributed tuning."
        ) from None
    try:
        yield
    finally:
        lock.release()


class ResumableTuner(keras_tuner.Tuner):
    """Base class of tuners that resume an interrupted search, and refuse any other search.

    The folder records what trials depend on: the HyperModel with costs and spaces, the
    choices of the tuner, the data and the arguments of `search`. Only `max_trials` may
    change. Only one process may search in a folder at a time, except for KerasTuner's
    chief and workers. `RandomSearch` describes the arguments.
    """

    oracle_class: ClassVar[Any]
    oracle_arguments: ClassVar[tuple[str, ...]] = (
        "hyperparameters",
        "tune_new_entries",
        "allow_new_entries",
        "max_retries_per_trial",
        "max_consecutive_failed_trials",
    )

    def __init__(
        self,
        hypermodel: HyperModel,
        objective: Objective | None = None,
        max_trials: int | None = 10,
        seed: int | None = None,
        announce: Callable[[Trial], None] = lambda trial: None,
        **kwargs: Any,
    ):
        if objective is None:
            objective = keras_tuner.Objective("val_average_cost", "min")
        own = {name: kwargs.pop(name) for name in self.oracle_arguments if name in kwargs}
        oracle = self.oracle_class(
            objective=objective,
            max_trials=max_trials,
            seed=SEED_FOR_0 if seed == 0 else seed,
            **copy.deepcopy(own),  # Trials add to the HyperParameters of their oracle.
        )
        self._announce = announce
        #: Choices that results depend on besides the HyperModel.
        self.search_choices = {
            "seed": seed,
            "executions_per_trial": 1,
            **{name: own[name] for name in own if name not in _RETRIES},
        }
        self.search_choices |= {name: kwargs[name] for name in _OF_TRIALS if name in kwargs}
        lock: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
        if kwargs.get("overwrite"):
            # Workers must not delete their chief's folder, nor anyone that of a running search.
            kwargs["overwrite"] = not is_worker()
            names = kwargs.get("directory") or ".", kwargs.get("project_name") or DEFAULT_PROJECT
            lock = self._lock(pathlib.Path(*map(str, names)))
        with lock:
            super().__init__(oracle, hypermodel, **kwargs)

    def reload(self) -> None:
        """Resumes the search in the folder if it is the same."""
        if not is_worker():
            check_same_tuner(self)
        super().reload()

    def search(self, *fit_args: FitData, **fit_kwargs: Any) -> None:
        """Starts or resumes the search; see `keras_tuner.Tuner.search`."""
        if is_worker():
            super().search(*fit_args, **fit_kwargs)
            return
        with self._lock(pathlib.Path(self.project_dir)):
            if os.path.exists(self.oracle._get_oracle_fname()):
                self.oracle.reload()  # Another process may have added trials since.
            self.check_search(*fit_args, **fit_kwargs)
            self.save()  # KerasTuner saves only after the first trial, which a kill would lose.
            super().search(*fit_args, **fit_kwargs)

    def check_search(self, *fit_args: FitData, **fit_kwargs: Any) -> None:
        """Raises, as `search` does, if data or arguments differ from those of the folder."""
        named = {**dict(zip(("x", "y"), fit_args, strict=False)), **fit_kwargs}
        named |= {f"argument {index}": it for index, it in enumerate(fit_args[2:], start=2)}
        check_same_search(self, named.pop("x", None), named.pop("y", None), named)

    def _lock(self, folder: pathlib.Path) -> contextlib.AbstractContextManager[None]:
        if is_worker():
            return contextlib.nullcontext()
        folder = folder.resolve()
        return search_lock(folder.with_name(f"{folder.name}.lock"), folder)

    def on_trial_end(self, trial: Trial) -> None:
        """Ends a trial and announces it."""
        super().on_trial_end(trial)
        self._announce(self.oracle.get_trial(trial.trial_id))

    def save(self) -> None:
        """Writes the state of the search."""
        if not is_worker():
            self.oracle.save()
        write_json(self._get_tuner_fname(), self.get_state())
