"""KerasTuner's random, grid and Bayesian search, which resume after an interruption.

KerasTuner 1.4.8 reloads the saved state of its oracles, but grid search loses its place
(https://github.com/keras-team/keras-tuner/issues/1055), and Bayesian optimisation the state of its
random numbers. Here, ended trials are replayed: proposed and ended again, without being run.
"""

import contextlib
import inspect
import json
import os
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import filelock
import keras
import keras_tuner
from keras_tuner.engine.trial import Trial

from csdl_keras._utils.files import replace_file
from csdl_keras.fitting.cache import StageCache, describe, environment

#: Arguments and attributes that do not change results.
_FREE = frozenset(
    "cache callbacks directory max_consecutive_failed_trials max_retries_per_trial max_trials name "
    "project_name tunable validation_batch_size verbose".split()
)
#: Callbacks of Keras that change training; its others only observe.
_CHANGING = (
    keras.callbacks.EarlyStopping,
    keras.callbacks.LearningRateScheduler,
    keras.callbacks.ReduceLROnPlateau,
    keras.callbacks.SwapEMAWeights,
    keras.callbacks.TerminateOnNaN,
)


def is_worker() -> bool:
    """Returns whether KerasTuner's variables make this process a worker of a chief."""
    chief = "chief" in os.environ.get("KERASTUNER_TUNER_ID", "")
    return "KERASTUNER_ORACLE_IP" in os.environ and not chief


def _choices_of(callback: keras.callbacks.Callback) -> list[Any]:
    """Returns the class and the constructor arguments of a callback."""
    names = inspect.signature(type(callback)).parameters.keys() - {"verbose"}
    chosen = {name: it for name, it in vars(callback).items() if name in names}
    if "min_delta" in chosen:  # Keras may change its sign when training begins.
        chosen["min_delta"] = abs(chosen["min_delta"])
    return [type(callback).__name__, chosen]


def _counting(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments or attributes on which results depend."""
    counting = {name: it for name, it in parts.items() if it is not None and name not in _FREE}
    return dict(sorted(counting.items()))


def _ended_trial(path: pathlib.Path) -> Trial | None:
    """Reads a trial; returns `None` if it has not ended or its file is damaged."""
    try:
        trial = Trial.from_state(json.loads(path.read_text()))
    except (OSError, ValueError, KeyError):
        return None
    return trial if trial.status in ("COMPLETED", "FAILED") else None


class ResumableTuner(keras_tuner.Tuner):
    """Base class of tuners that resume an interrupted search if it is the same."""

    def __init__(
        self,
        hypermodel: keras_tuner.HyperModel | Callable[[keras_tuner.HyperParameters], keras.Model],
        objective: str | keras_tuner.Objective | None = None,
        max_trials: int | None = None,
        *,
        seed: int | None = None,
        announce: Callable[[Trial], None] = lambda trial: None,
        overwrite: bool = False,
        **kwargs: Any,
    ):
        self._announce = announce
        if max_trials is not None:  # Tuners have their own defaults.
            kwargs["max_trials"] = max_trials
        self._choices = {"seed": seed, "executions_per_trial": 1, **kwargs}
        given = self._choices.pop("hyperparameters", None) or keras_tuner.HyperParameters()
        self._hyperparameters = given.copy()  # Trials add to those of their oracle.
        super().__init__(
            hypermodel,
            objective=objective or keras_tuner.Objective("val_average_cost", "min"),
            seed=10_001 if seed == 0 else seed,  # KerasTuner ignores a seed of 0.
            overwrite=overwrite and not is_worker(),  # A worker shares the folder of its chief.
            **kwargs,
        )
        self._folder = pathlib.Path(self.project_dir).absolute()
        lock = self._folder.with_name(f"{self._folder.name}_under_way.lock")
        #: Prevents other processes, except workers of a chief, from searching in the folder.
        self.lock = contextlib.nullcontext() if is_worker() else filelock.FileLock(lock, timeout=0)
        if not is_worker():
            self._check(self._key())
            self._take_up()

    def save(self) -> None:
        """Does nothing, since KerasTuner would restore a saved tuner in its own way."""

    def search(self, x: Any = None, y: Any = None, **fit_arguments: Any) -> None:
        """Starts or resumes the search; see `keras_tuner.Tuner.search`."""
        with self.lock:
            self.check_search(x, y, **fit_arguments)
            if not is_worker():
                self._take_up()  # Another process may have added trials since.
            super().search(x, y, **fit_arguments)

    def check_search(self, x: Any = None, y: Any = None, **fit_arguments: Any) -> None:
        """Raises an error if data or arguments differ from those of the search in the folder."""
        given, callbacks = {"x": x, "y": y, **fit_arguments}, fit_arguments.get("callbacks")
        changing = [it for it in callbacks or () if isinstance(it, _CHANGING)]
        key = self._key()
        key["data"] = StageCache.key(describe([_counting(given), *map(_choices_of, changing)]))
        if not self._check(key):
            replace_file(self._folder / "search.json", json.dumps(key).encode())

    def run_trial(self, trial: Trial, *arguments: Any, **fit_arguments: Any) -> Any:
        """Runs a trial, by the HyperModel's `run(hp)` if it has this method."""
        if (run := getattr(self.hypermodel, "run", None)) is not None:
            return run(trial.hyperparameters)
        return super().run_trial(trial, *arguments, **fit_arguments)

    def on_trial_end(self, trial: Trial) -> None:
        super().on_trial_end(trial)
        self._announce(self.oracle.get_trial(trial.trial_id))

    def _take_up(self) -> None:
        """Replays the trials that have ended, up to the first unfinished one."""
        digits = len(str(self.oracle.max_trials))  # KerasTuner pads names of trials.
        for folder in self._folder.glob("trial_*"):
            number = int(folder.name.removeprefix("trial_"))
            folder.rename(self._folder / f"trial_{number:0{digits}d}")
        verbose, self.oracle.verbose = self.oracle.verbose, 0
        while True:
            number = len(self.oracle.trials)
            ended = _ended_trial(self._folder / f"trial_{number:0{digits}d}" / "trial.json")
            if ended is None:
                break
            proposed = self.oracle.create_trial("taken up")
            if proposed.status != "RUNNING":
                break
            ended.trial_id, proposed.metrics = proposed.trial_id, ended.metrics
            self.oracle.end_trial(ended)
        self.oracle.tuner_ids.discard("taken up")  # The chief waits for all tuners.
        self.oracle.verbose = verbose

    def _key(self) -> dict[str, str]:
        """Returns a digest of the tuner, its HyperModel, versions and settings."""
        hyper_model, hp = self.hypermodel, self._hyperparameters.copy()
        hyper_model.build(hp)
        fields = {name: it for name, it in vars(hyper_model).items() if not inspect.ismethod(it)}
        classes = [type(self).__name__, type(hyper_model).__qualname__]
        searched = [hp.get_config()["space"], str(self.oracle.objective), keras_tuner.__version__]
        parts = [*classes, _counting(fields), _counting(self._choices), *searched, environment()]
        return {"choices": StageCache.key(describe(parts))}

    def _check(self, key: Mapping[str, str]) -> bool:
        """Returns whether a trial has ended; raises an error if its search has another key."""
        if not any(map(_ended_trial, self._folder.glob("trial_*/trial.json"))):
            return False
        try:
            found = json.loads((self._folder / "search.json").read_text())
        except (OSError, ValueError):
            found = {}
        if any(found.get(name) != digest for name, digest in key.items()):
            raise ValueError(
                f"{self._folder} has a search with different costs, data, settings or versions. "
                "Search in another folder (`directory`, `project_name` or the option --out), or "
                "delete this one (`overwrite=True`)."
            )
        return True


class RandomSearch(ResumableTuner, keras_tuner.RandomSearch):
    """A resumable `keras_tuner.RandomSearch`, by default for the lowest average cost.

    Args:
        hypermodel: a HyperModel, such as `CSDNNHyperModel`, or a function of
            `keras_tuner.HyperParameters` that returns a compiled model.
        objective, max_trials, seed, directory, project_name, overwrite, **kwargs: as in
            `keras_tuner.RandomSearch`; by default `val_average_cost` is minimised.
        announce: called with each `keras_tuner.engine.trial.Trial` that has ended.

    Raises:
        ValueError: if trials in the folder ended with different settings; in `search`, also if
            they ended with different data or arguments.
        filelock.Timeout: in `search`, if another process is searching in the folder.

    Example:

    >>> import tempfile
    >>> from csdl_keras import tuning
    >>> hyper_model = tuning.CSDNNHyperModel((64,), [[0, 1], [5, 0]])
    >>> tuner = tuning.RandomSearch(hyper_model, max_trials=5, directory=tempfile.mkdtemp())
    >>> tuner.oracle.objective.name, tuner.remaining_trials
    ('val_average_cost', 5)
    """


class GridSearch(ResumableTuner, keras_tuner.GridSearch):
    """A resumable `keras_tuner.GridSearch`, by default for the lowest average cost.

    The arguments are those of `RandomSearch`, but `max_trials` defaults to `None`, which searches
    the whole grid. For a `Range` without a step, KerasTuner tries ten values.

    Example:

    >>> import tempfile
    >>> from csdl_keras import tuning
    >>> hyper_model = tuning.CSDNNHyperModel((64,), [[0, 1], [5, 0]])
    >>> tuning.GridSearch(hyper_model, max_trials=5, directory=tempfile.mkdtemp()).remaining_trials
    5
    """


class BayesianOptimization(ResumableTuner, keras_tuner.BayesianOptimization):
    """A resumable `keras_tuner.BayesianOptimization`, by default for the lowest average cost.

    The arguments are those of `RandomSearch` and of `keras_tuner.BayesianOptimization`,
    such as `num_initial_points`.

    Example:

    >>> import tempfile
    >>> from csdl_keras import tuning
    >>> hyper_model = tuning.CSDNNHyperModel((64,), [[0, 1], [5, 0]])
    >>> folder = tempfile.mkdtemp()
    >>> tuning.BayesianOptimization(hyper_model, max_trials=5, directory=folder).remaining_trials
    5
    """
