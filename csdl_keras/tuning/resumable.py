"""KerasTuner's random, grid and Bayesian search, which go on where they were killed.

KerasTuner 1.4.8 reloads a search by what its oracles save. Its grid loses its place
(https://github.com/keras-team/keras-tuner/issues/1055), Bayesian optimisation the state of its
random numbers, and a file that was being written when the process was killed stops the search.
Here each trial that has ended is proposed and ended again, without being run, so that an oracle is
where it was, whatever it keeps in memory.
"""

import contextlib
import copy
import dataclasses
import inspect
import json
import os
import pathlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import filelock
import joblib
import keras
import keras_tuner
import numpy as np
from keras_tuner.engine.trial import Trial

from csdl_keras._utils import __version__
from csdl_keras._utils.files import write_json

#: What a tuner builds models with.
HyperModel: TypeAlias = (
    keras_tuner.HyperModel | Callable[[keras_tuner.HyperParameters], keras.Model]
)
#: What a search minimises or maximises.
Objective: TypeAlias = str | keras_tuner.Objective | list[keras_tuner.Objective]

#: Stands for the seed 0, which KerasTuner takes for no seed.
SEED_FOR_0 = 10_001
#: Arguments and attributes that change no result.
_FREE = frozenset(
    "cache callbacks directory max_consecutive_failed_trials max_retries_per_trial name overwrite "
    "project_name spaces tunable validation_batch_size verbose".split()
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
    """Tells whether KerasTuner's variables make this process a worker of a chief."""
    chief = "chief" in os.environ.get("KERASTUNER_TUNER_ID", "")
    return "KERASTUNER_ORACLE_IP" in os.environ and not chief


@contextlib.contextmanager
def search_lock(path: pathlib.Path, folder: pathlib.Path) -> Iterator[None]:
    """Locks a folder by a file, so that two processes do not search in it at the same time.

    The operating system releases the lock if this process is killed.

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


def _parts(value: Any) -> Any:
    """Returns what a result depends on of a value, such that `joblib.hash` tells it apart."""
    if isinstance(value, keras.Model):
        return [_parts(value.layers), value.get_weights()]
    if isinstance(value, _CHANGING):
        names = inspect.signature(type(value)).parameters.keys() - {"verbose"}
        chosen = {name: it for name, it in vars(value).items() if name in names}
        if "min_delta" in chosen:  # Keras gives it the sign of the mode when training begins.
            chosen["min_delta"] = abs(chosen["min_delta"])
        return [type(value).__name__, _parts(chosen)]
    if isinstance(value, Mapping):
        return {str(name): _parts(it) for name, it in value.items()}
    if isinstance(value, (list, tuple)):
        return [_parts(it) for it in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [type(value).__qualname__, _parts(vars(value))]
    if keras.ops.is_tensor(value):
        return np.array(keras.ops.convert_to_numpy(value), order="C")
    if hasattr(value, "__array__"):
        return np.array(value, order="C")
    if hasattr(value, "fingerprint"):  # `ShuffledBatches`
        return value.fingerprint()
    if hasattr(value, "get_config"):  # Keras gives names to objects by what it has made before.
        config = {name: it for name, it in value.get_config().items() if name != "name"}
        return [type(value).__qualname__, _parts(config)]
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"


def _ended_trial(path: pathlib.Path) -> Trial | None:
    """Reads a trial; `None` if it has not ended or its file is damaged by a kill."""
    try:
        trial = Trial.from_state(json.loads(path.read_text()))
    except (OSError, ValueError, KeyError):
        return None
    return trial if trial.status in ("COMPLETED", "FAILED") else None


class ResumableTuner(keras_tuner.Tuner):
    """Base class of tuners that resume an interrupted search, and refuse any other search.

    `search.json` in the folder has a key of what trials depend on: the HyperModel with costs and
    spaces, the choices of the tuner, the data, the arguments of `search`, versions and backend.
    Only `max_trials` may change. One process searches in a folder at a time, except for
    KerasTuner's chief and workers. `RandomSearch` describes the arguments.
    """

    def __init__(
        self,
        hypermodel: HyperModel,
        objective: Objective | None = None,
        max_trials: int | None = 10,
        seed: int | None = None,
        announce: Callable[[Trial], None] = lambda trial: None,
        **kwargs: Any,
    ):
        self._announce = announce
        self._choices = {"seed": seed, "executions_per_trial": 1, **copy.deepcopy(kwargs)}
        objective = objective or keras_tuner.Objective("val_average_cost", "min")
        lock: Any = contextlib.nullcontext()
        if kwargs.get("overwrite"):
            # Workers must not delete their chief's folder, nor anyone that of a running search.
            kwargs["overwrite"] = not is_worker()
            names = kwargs.get("directory") or ".", kwargs.get("project_name") or "untitled_project"
            lock = self._lock(pathlib.Path(*map(str, names)))
        if "hyperparameters" in kwargs:  # Trials add to those of their oracle.
            kwargs["hyperparameters"] = copy.deepcopy(kwargs["hyperparameters"])
        with lock:
            super().__init__(
                hypermodel,
                objective=objective,
                max_trials=max_trials,
                seed=SEED_FOR_0 if seed == 0 else seed,
                **kwargs,
            )

    def reload(self) -> None:
        """Takes up the trials that have ended in the folder, if the search is the same."""
        if is_worker():
            return
        self._check(self._key())
        if not self.oracle.trials:
            # KerasTuner does this only for new searches, and has no public name for it.
            self._populate_initial_space()
        self._number_folders()
        ended = {
            int(path.parent.name.removeprefix("trial_")): trial
            for path in pathlib.Path(self.project_dir).glob("trial_*/trial.json")
            if (trial := _ended_trial(path))
        }
        verbose = self.oracle.verbose
        unfinished = self._tuners()
        for number in range(max(ended, default=-1) + 1):
            trial = ended.get(number)
            if number >= len(self.oracle.trials):
                if trial is None and not unfinished:
                    break
                # One that was running beside others is given to a tuner, which runs it again.
                self.oracle.verbose = verbose if trial is None else 0
                owner = "reload" if trial else unfinished.pop()
                if self.oracle.create_trial(owner).status != "RUNNING":
                    break
            known = [*self.oracle.trials.values()][number]
            if trial is not None and known.status == "RUNNING":
                self.oracle.verbose = 0
                trial.trial_id, known.metrics = known.trial_id, trial.metrics
                self.oracle.end_trial(trial)
        self.oracle.tuner_ids.discard("reload")  # The chief waits for all tuners.
        self.oracle.verbose = verbose

    def _tuners(self) -> list[str]:
        """Returns the names of the tuners that search in the folder."""
        if not self.tuner_id.startswith("chief"):
            return [] if self.tuner_id in self.oracle.ongoing_trials else [self.tuner_id]
        files = pathlib.Path(self.project_dir).glob("*.json")
        return [it.stem for it in files if it.stem not in ("oracle", "search", self.tuner_id)]

    def _folder(self, number: int) -> pathlib.Path:
        digits = len(str(self.oracle.max_trials))
        return pathlib.Path(self.project_dir) / f"trial_{number:0{digits}d}"

    def _number_folders(self) -> None:
        """Gives the folders of trials as many digits as KerasTuner's names have now."""
        for folder in pathlib.Path(self.project_dir).glob("trial_*"):
            folder.rename(self._folder(int(folder.name.removeprefix("trial_"))))

    def search(self, *fit_args: Any, **fit_kwargs: Any) -> None:
        """Starts or resumes the search; see `keras_tuner.Tuner.search`."""
        with self._lock(pathlib.Path(self.project_dir)):
            self.check_search(*fit_args, **fit_kwargs)
            if not is_worker():
                self.reload()  # Another process may have added trials since.
                self.save()  # KerasTuner does so after the first trial, which a kill would lose.
            super().search(*fit_args, **fit_kwargs)

    def check_search(self, *fit_args: Any, **fit_kwargs: Any) -> None:
        """Raises, as `search` does, if data or arguments differ from those of the folder."""
        signature = {name: None for name in ("x", "y")}
        signature |= dict(zip(("x", "y", *map(str, range(2, 99))), fit_args, strict=False))
        given = {**signature, **fit_kwargs}
        changing = [it for it in given.get("callbacks") or () if isinstance(it, _CHANGING)]
        given["callbacks that change training"] = changing or None
        key = self._key() | {
            name: joblib.hash(_parts(value))
            for name, value in given.items()
            if value is not None and name not in _FREE
        }
        if not self._check(key, whole=True):
            write_json(pathlib.Path(self.project_dir) / "search.json", key)

    def _key(self) -> dict[str, str]:
        """Returns a hash of each part of the tuner and its HyperModel that results depend on."""
        hyper_model = self.hypermodel
        hp = self._choices.get("hyperparameters") or keras_tuner.HyperParameters()
        hyper_model.build(hp := hp.copy())
        parts = {
            "hyper_model": type(hyper_model).__qualname__,
            **vars(hyper_model),
            **getattr(hyper_model, "spaces", {}),
            "space": hp.get_config()["space"],
            "tuner": type(self).__name__,
            "objective": str(self.oracle.objective),
            **{f"tuner_{name}": it for name, it in self._choices.items() if name not in _FREE},
            "versions": [__version__, keras.version(), keras_tuner.__version__],
            "backend": keras.backend.backend(),
            "policy": [keras.config.dtype_policy().name, keras.config.floatx()],
            "image_format": keras.config.image_data_format(),
        }
        return {
            name: joblib.hash(_parts(value)) for name, value in parts.items() if name not in _FREE
        }

    def _check(self, key: Mapping[str, str], whole: bool = False) -> bool:
        """Tells whether a trial has ended, and raises unless it was of a search with this key.

        Args:
            key: the key, or what is known of it.
            whole: whether that is all of it.
        """
        folder = pathlib.Path(self.project_dir)
        path = folder / "search.json"
        if not any(map(_ended_trial, folder.glob("trial_*/trial.json"))):
            return False
        try:
            found = json.loads(path.read_text())
        except (OSError, ValueError):
            found, received = None, "one without a record of them"
        else:
            names = {**key, **found} if whole else key
            other = [name for name in names if found.get(name) != key.get(name)]
            if not other:
                return True
            received = f"one with another {', '.join(other)}"
        raise ValueError(
            f"Expected the search in {folder}, some of whose trials have ended, to have been made "
            f"for the same costs, data and choices; received {received}. Search in another folder "
            "(`directory` or `project_name`, --out of the command), or delete this one "
            "(`overwrite=True`)."
        )

    def _lock(self, folder: pathlib.Path) -> contextlib.AbstractContextManager[None]:
        if is_worker():
            return contextlib.nullcontext()
        folder = folder.resolve()
        return search_lock(folder.with_name(f"{folder.name}.lock"), folder)

    def on_trial_end(self, trial: Trial) -> None:
        """Ends a trial and announces it."""
        super().on_trial_end(trial)
        self._announce(self.oracle.get_trial(trial.trial_id))


class RandomSearch(ResumableTuner, keras_tuner.RandomSearch):
    """`keras_tuner.RandomSearch` that can be resumed, by default for the lowest average cost.

    Args:
        hypermodel: a HyperModel, such as `CSDNNHyperModel`, or a function of
            `keras_tuner.HyperParameters` that returns a compiled model.
        objective, max_trials, seed, **kwargs: as in `keras_tuner.RandomSearch`; by default
            `val_average_cost` is minimised.
        announce: called with each `keras_tuner.engine.trial.Trial` that has ended.

    Raises:
        ValueError: if trials in the folder ended with other choices; in `search`, also
            if they ended with other data or arguments, or another process searches there.

    Example:

    ```python
    tuner = csdl_keras.tuning.RandomSearch(hyper_model, max_trials=20, directory="search")
    tuner.search(x, y, validation_data=(x_val, y_val), epochs=20, batch_size=100)
    model = hyper_model.classifier(tuner.get_best_models()[0])
    ```

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

    def __init__(
        self,
        hypermodel: HyperModel,
        objective: Objective | None = None,
        max_trials: int | None = None,
        seed: int | None = None,
        announce: Callable[[Trial], None] = lambda trial: None,
        **kwargs: Any,
    ):
        super().__init__(hypermodel, objective, max_trials, seed, announce, **kwargs)


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
