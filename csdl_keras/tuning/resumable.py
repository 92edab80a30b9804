"""KerasTuner's random, grid and Bayesian search, which go on where they were killed.

KerasTuner 1.4.8 reloads a search by what its oracles save. Its grid loses its place
(https://github.com/keras-team/keras-tuner/issues/1055), Bayesian optimisation the state of its
random numbers. Here each trial that has ended is proposed and ended again, without being run.
"""

import contextlib
import inspect
import json
import os
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import filelock
import keras
import keras_tuner
from keras_tuner.engine.trial import Trial

from csdl_keras._utils.files import replace_file
from csdl_keras.fitting.cache import StageCache, describe, environment

#: Arguments and attributes that change no result.
_FREE = frozenset(
    "cache callbacks directory hyperparameters max_consecutive_failed_trials max_retries_per_trial "
    "max_trials name project_name tunable validation_batch_size verbose".split()
)
#: Callbacks of Keras that change training; its others only observe.
_CHANGING = (
    keras.callbacks.EarlyStopping,
    keras.callbacks.LearningRateScheduler,
    keras.callbacks.ReduceLROnPlateau,
)


def is_worker() -> bool:
    """Tells whether KerasTuner's variables make this process a worker of a chief."""
    chief = "chief" in os.environ.get("KERASTUNER_TUNER_ID", "")
    return "KERASTUNER_ORACLE_IP" in os.environ and not chief


@contextlib.contextmanager
def search_lock(path: pathlib.Path) -> Iterator[None]:
    """Locks out other searches, but for workers; the system unlocks if the process is killed."""
    if is_worker():
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        lock = filelock.FileLock(path).acquire(timeout=0)
    except filelock.Timeout:
        raise ValueError(
            f"Expected no other search under way; received one that has locked {path}. Wait for "
            "it, or search in another folder."
        ) from None
    with lock:
        yield


def _digest(values: dict[str, Any]) -> str:
    """Returns a digest of the values that results depend on."""
    used = {name: it for name, it in values.items() if it is not None and name not in _FREE}
    return StageCache.key(describe(dict(sorted(used.items()))))


def _arguments_of(callback: keras.callbacks.Callback) -> list[Any]:
    """Returns the class and the arguments of a callback, without what it has noted since."""
    names = inspect.signature(type(callback)).parameters.keys() - _FREE
    return [type(callback), [(it, vars(callback).get(it)) for it in sorted(names)]]


def _ended_trial(path: pathlib.Path) -> Trial | None:
    """Reads a trial; `None` if it has not ended or its file is damaged by a kill."""
    try:
        trial = Trial.from_state(json.loads(path.read_text()))
    except (OSError, ValueError, KeyError):
        return None
    return trial if trial.status in ("COMPLETED", "FAILED") else None


class ResumableTuner(keras_tuner.Tuner):
    """Base class of tuners that resume an interrupted search, and refuse any other search.

    `search.json` in the folder has digests of all that trials depend on but `max_trials`,
    described as in a `StageCache`. One process searches in a folder at a time, except for
    KerasTuner's chief and workers.
    """

    def __init__(
        self,
        hypermodel: keras_tuner.HyperModel | Callable[[keras_tuner.HyperParameters], keras.Model],
        objective: str | keras_tuner.Objective | list[keras_tuner.Objective] | None = None,
        *,
        seed: int | None = None,
        announce: Callable[[Trial], None] = lambda trial: None,
        overwrite: bool = False,
        **kwargs: Any,
    ):
        self._announce = announce
        name = kwargs.get("project_name") or "untitled_project"
        self._folder = pathlib.Path(kwargs.get("directory") or ".", name).resolve()
        self._lock_file = self._folder.with_name(f"{name}.lock")
        # Trials add to the hyperparameters of their oracle.
        space = (kwargs.get("hyperparameters") or keras_tuner.HyperParameters()).copy()
        with search_lock(self._lock_file):
            super().__init__(
                hypermodel,
                objective=objective or keras_tuner.Objective("val_average_cost", "min"),
                seed=10_001 if seed == 0 else seed,  # KerasTuner takes 0 for no seed.
                overwrite=overwrite and not is_worker(),
                **kwargs,
            )
            self.hypermodel.build(space)
            model = vars(self.hypermodel)
            choices = {name: it for name, it in model.items() if not inspect.ismethod(it)}
            choices |= {f"tuner_{name}": it for name, it in kwargs.items() if name not in _FREE}
            choices["classes"] = [type(self.hypermodel), type(self).__name__]
            choices["tuner_hyperparameters"] = space.get_config()["space"]
            choices["tuner_seed"], choices["objective"] = seed, str(self.oracle.objective)
            choices["versions"] = [keras_tuner.__version__, environment()]
            self._key = {"choices": _digest(choices)}
            if not is_worker():
                self._has_ended_trials(self._key)
                self._take_up()

    def save(self) -> None:
        """Does nothing: KerasTuner would restore a tuner that it finds saved in its own way."""

    def search(self, *fit_args: Any, **fit_kwargs: Any) -> None:
        """Starts or resumes the search; see `keras_tuner.Tuner.search`."""
        with search_lock(self._lock_file):
            self.check_search(*fit_args, **fit_kwargs)
            super().search(*fit_args, **fit_kwargs)

    def check_search(self, *fit_args: Any, **fit_kwargs: Any) -> None:
        """Raises, as `search` does, if data or arguments differ from those of the folder."""
        changing = [it for it in fit_kwargs.get("callbacks") or () if isinstance(it, _CHANGING)]
        given = {**fit_kwargs, "fit_args": fit_args, "changing": [*map(_arguments_of, changing)]}
        key = self._key | {"data, callbacks or arguments of `search`": _digest(given)}
        if not self._has_ended_trials(key):
            self._folder.mkdir(parents=True, exist_ok=True)
            replace_file(self._folder / "search.json", json.dumps(key).encode())

    def on_trial_end(self, trial: Trial) -> None:
        """Ends a trial and announces it."""
        super().on_trial_end(trial)
        self._announce(self.oracle.get_trial(trial.trial_id))

    def _take_up(self) -> None:
        """Proposes and ends again the trials that have ended, up to the first that has not."""
        digits = len(str(self.oracle.max_trials))  # as in KerasTuner's names of trials
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

    def _has_ended_trials(self, key: dict[str, str]) -> bool:
        """Tells whether a trial has ended, and raises unless it was of a search with this key."""
        if not any(map(_ended_trial, self._folder.glob("trial_*/trial.json"))):
            return False
        try:
            found = json.loads((self._folder / "search.json").read_text())
        except (OSError, ValueError):
            found = {}
        for name, digest in key.items():
            if found.get(name) != digest:
                raise ValueError(
                    f"Expected the search in {self._folder}, some of whose trials have ended, to "
                    f"be of the same costs, data and choices; received other {name}. Search in "
                    "another folder (`directory` or `project_name`, --out of the command), or "
                    "delete this one (`overwrite=True`)."
                )
        return True


class RandomSearch(ResumableTuner, keras_tuner.RandomSearch):
    """`keras_tuner.RandomSearch` that can be resumed, by default for the lowest average cost.

    Args:
        hypermodel: a HyperModel, such as `CSDNNHyperModel`, or a function of
            `keras_tuner.HyperParameters` that returns a compiled model.
        objective, max_trials, seed, directory, project_name, overwrite, **kwargs: as in
            `keras_tuner.RandomSearch`; by default `val_average_cost` is minimised.
        announce: called with each `keras_tuner.engine.trial.Trial` that has ended.

    Raises:
        ValueError: if trials in the folder ended with other choices; in `search`, also
            if they ended with other data or arguments, or another process searches there.

    Example:

    >>> import tempfile
    >>> from csdl_keras import tuning
    >>> hyper_model = tuning.CSDNNHyperModel((64,), [[0, 1], [5, 0]])
    >>> tuner = RandomSearch(hyper_model, max_trials=5, directory=tempfile.mkdtemp())
    >>> tuner.oracle.objective.name, tuner.remaining_trials
    ('val_average_cost', 5)
    """


class GridSearch(ResumableTuner, keras_tuner.GridSearch):
    """`keras_tuner.GridSearch` that can be resumed, by default for the lowest average cost.

    The arguments are those of `RandomSearch`, but `max_trials` is `None` by default, which
    searches the whole grid. KerasTuner tries ten values of a `Range` without a step.

    Example:

    >>> import tempfile
    >>> from csdl_keras import tuning
    >>> hyper_model = tuning.CSDNNHyperModel((64,), [[0, 1], [5, 0]])
    >>> GridSearch(hyper_model, max_trials=5, directory=tempfile.mkdtemp()).remaining_trials
    5
    """


class BayesianOptimization(ResumableTuner, keras_tuner.BayesianOptimization):
    """`keras_tuner.BayesianOptimization` that can be resumed, by default for the lowest cost.

    The arguments are those of `RandomSearch`, and those of `keras_tuner.BayesianOptimization`,
    such as `num_initial_points`.

    Example:

    >>> import tempfile
    >>> from csdl_keras import tuning
    >>> hyper_model = tuning.CSDNNHyperModel((64,), [[0, 1], [5, 0]])
    >>> folder = tempfile.mkdtemp()
    >>> BayesianOptimization(hyper_model, max_trials=5, directory=folder).remaining_trials
    5
    """
