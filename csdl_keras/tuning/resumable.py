"""What makes KerasTuner's oracles go on where they were killed."""

import contextlib
import copy
import os
import pathlib
from collections.abc import Callable
from typing import Any, ClassVar

import keras_tuner

from csdl_keras._utils.files import write_json
from csdl_keras.tuning._same_search import check_same_search, check_same_tuner, is_worker
from csdl_keras.tuning._search_lock import search_lock

COMPLETED = "COMPLETED"


class ResumableOracle:
    """Mixed into an oracle of KerasTuner, ahead of it.

    Files appear whole or not at all, and a trial that was finished when the
    search was killed, but not yet struck off the list of those under way, is
    not run again.
    """

    trials: dict[str, Any]

    def save(self: Any) -> None:
        """Writes the oracle's state."""
        write_json(self._get_oracle_fname(), self.get_state())

    def _save_trial(self: Any, trial: Any) -> None:
        folder = pathlib.Path(self._get_trial_dir(trial.trial_id))
        write_json(folder / "trial.json", trial.get_state())

    def reload(self: Any) -> None:
        """Reads the oracle's state and its trials; a ValueError if a file is damaged."""
        try:
            super().reload()  # type: ignore[misc]
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
        """What is left to do for a trial that was finished but not struck off."""


# KerasTuner takes the seed 0 for no seed.
SEED_FOR_0 = 10_001


# Where KerasTuner searches unless it is told a name.
DEFAULT_PROJECT = "untitled_project"


_OF_TRIALS = ("executions_per_trial", "max_model_size", "optimizer", "loss", "metrics")


# How often a trial that fails is run again changes nothing of those that do not.
_RETRIES = ("max_retries_per_trial", "max_consecutive_failed_trials")


class ResumableTuner(keras_tuner.Tuner):
    """Base class: a tuner whose search goes on where it was killed, and none but that one.

    The folder keeps what its trials depend on: the HyperModel with costs and spaces,
    the choices of the tuner, the data and the arguments of `search`. Only `max_trials` may
    change. While a process searches, no other one does in the same folder, unless they
    are KerasTuner's chief and workers.

    Args:
        hypermodel: a `keras_tuner.HyperModel`, or a function of
            `keras_tuner.HyperParameters` that returns a compiled model.
        objective: as in KerasTuner; `None` is `val_average_cost`, minimised.
        max_trials: most trials.
        seed: seed of the proposals.
        announce: called with each `keras_tuner.engine.trial.Trial` that has ended.
        **kwargs: other arguments of the oracle and of `keras_tuner.Tuner`.

    Raises:
        ValueError: if trials in the folder ended with other choices, or, in `search`,
            with other data or arguments; if another process searches there.
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
        hypermodel: Any,
        objective: Any = None,
        max_trials: int | None = 10,
        seed: int | None = None,
        announce: Callable[[Any], None] = lambda trial: None,
        **kwargs: Any,
    ):
        if objective is None:
            objective = keras_tuner.Objective("val_average_cost", "min")
        own = {name: kwargs.pop(name) for name in self.oracle_arguments if name in kwargs}
        oracle = self.oracle_class(
            objective=objective,
            max_trials=max_trials,
            seed=SEED_FOR_0 if seed == 0 else seed,
            **copy.deepcopy(own),  # since trials add to the HyperParameters of their oracle
        )
        self._announce = announce
        #: What the results depend on beside the HyperModel.
        self.search_choices = {
            "seed": seed,
            "executions_per_trial": 1,
            **{name: own[name] for name in own if name not in _RETRIES},
        }
        self.search_choices |= {name: kwargs[name] for name in _OF_TRIALS if name in kwargs}
        lock: Any = contextlib.nullcontext()
        if kwargs.get("overwrite"):
            # The chief's folder is not for its workers to delete, nor that of another search.
            kwargs["overwrite"] = not is_worker()
            names = kwargs.get("directory") or ".", kwargs.get("project_name") or DEFAULT_PROJECT
            lock = self._lock(pathlib.Path(*map(str, names)))
        with lock:
            super().__init__(oracle, hypermodel, **kwargs)

    def reload(self) -> None:
        """Takes up the search in the folder, if it is this one."""
        if not is_worker():
            check_same_tuner(self)
        super().reload()

    def search(self, *fit_args: Any, **fit_kwargs: Any) -> None:
        """Searches, or goes on; see `keras_tuner.Tuner.search`."""
        if is_worker():
            super().search(*fit_args, **fit_kwargs)
            return
        with self._lock(pathlib.Path(self.project_dir)):
            if os.path.exists(self.oracle._get_oracle_fname()):
                self.oracle.reload()  # another process may have come further since
            self.check_search(*fit_args, **fit_kwargs)
            self.save()  # KerasTuner does so after the first trial, which is lost until then
            super().search(*fit_args, **fit_kwargs)

    def check_search(self, *fit_args: Any, **fit_kwargs: Any) -> None:
        """Raises what `search` would for data and arguments other than those of the folder."""
        named = {**dict(zip(("x", "y"), fit_args, strict=False)), **fit_kwargs}
        named |= {f"argument {index}": it for index, it in enumerate(fit_args[2:], start=2)}
        check_same_search(self, named.pop("x", None), named.pop("y", None), named)

    def _lock(self, folder: pathlib.Path) -> Any:
        if is_worker():
            return contextlib.nullcontext()
        folder = folder.resolve()
        return search_lock(folder.with_name(f"{folder.name}.lock"), folder)

    def on_trial_end(self, trial: Any) -> None:
        """Ends a trial and announces it."""
        super().on_trial_end(trial)
        self._announce(self.oracle.get_trial(trial.trial_id))

    def save(self) -> None:
        """Writes the state of the search."""
        if not is_worker():
            self.oracle.save()
        write_json(self._get_tuner_fname(), self.get_state())
