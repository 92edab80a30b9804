"""Keeps a record in a search's folder, so that no other search continues there.

The record describes as JSON everything that the results of a search depend on.
"""

import dataclasses
import hashlib
import inspect
import json
import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import keras
import keras_tuner
import numpy as np

from csdl_keras._utils.array_file import fingerprint
from csdl_keras._utils.files import read_json, write_json
from csdl_keras.fitting.batches import ShuffledBatches
from csdl_keras.fitting.cache import describe
from csdl_keras.training.algorithms import ALGORITHMS, Algorithm

#: Inputs or targets of `keras.Model.fit`: arrays, tensors or a dataset of any backend.
FitData: TypeAlias = Any
#: Arguments of `keras.Model.fit` by name.
FitArguments: TypeAlias = dict[str, Any]

_RECORD = "search.json"
#: Largest number of characters of a value in a message.
_LONGEST = 60
#: Arguments of `search` that change no result.
_FREE_ARGUMENTS = ("callbacks", "validation_batch_size", "verbose")
#: Callbacks of Keras that change training; its others only observe.
_CHANGING = (
    keras.callbacks.EarlyStopping,
    keras.callbacks.LearningRateScheduler,
    keras.callbacks.ReduceLROnPlateau,
    keras.callbacks.SwapEMAWeights,
    keras.callbacks.TerminateOnNaN,
)
#: Arguments of the package's HyperModels that change no result.
_FREE = ("cache", "name", "tunable")
#: Arguments stored in attributes of another name.
_ATTRIBUTES = {"classifier": "trained"}
#: A list of more numbers is data, described by a digest.
_LONG = 50


def check_same_tuner(tuner: keras_tuner.Tuner) -> None:
    """Raises unless the tuner's folder is new, or holds a search with the same choices.

    Raises:
        ValueError: if a trial in the folder ended with other or unknown choices.
    """
    described = describe_tuner(tuner)
    _check(tuner, described, described)


def check_same_search(
    tuner: keras_tuner.Tuner, x: FitData, y: FitData, arguments: FitArguments
) -> None:
    """Raises as `check_same_tuner` does, also for other data and arguments of `search`.

    If no trial has ended yet, it writes the record.
    """
    described = describe_tuner(tuner) | describe_fit(x, y, arguments)
    if not _check(tuner, described):
        write_json(pathlib.Path(tuner.project_dir) / _RECORD, described)


def check_same_trial(
    hp: keras_tuner.HyperParameters,
    x: FitData,
    y: FitData,
    callbacks: Sequence[keras.callbacks.Callback],
    arguments: FitArguments,
) -> None:
    """Raises as `check_same_search` does, in `HyperModel.fit`, for tuners that have not called it.

    KerasTuner's own tuners call no other method of the HyperModel with the data.
    """
    tuners = [callback.tuner for callback in callbacks if hasattr(callback, "tuner")]
    if not tuners or (hasattr(tuners[0], "search_choices") and not is_worker()):
        return
    if "tuner/epochs" in hp.values:  # Hyperband chooses the epochs of each trial.
        of_trial = ("epochs", "initial_epoch")
        arguments = {name: it for name, it in arguments.items() if name not in of_trial}
    check_same_search(tuners[0], x, y, {"callbacks": callbacks, **arguments})


def _check(
    tuner: keras_tuner.Tuner, described: Mapping[str, object], names: Iterable[str] | None = None
) -> bool:
    """Compares a description with the record, in the given names or in all.

    Returns whether a trial has ended, so that the record counts; raises if they differ.
    """
    folder = pathlib.Path(tuner.project_dir)
    path = folder / _RECORD
    # In a worker's folder, the record is that of its chief.
    if not any(map(_has_ended, folder.glob("trial_*/trial.json"))) and not (
        is_worker() and path.exists()
    ):
        return False
    if not path.exists():
        received = "one without a record of them"
    else:
        found, now = read_json(path), json.loads(json.dumps(described))
        received = ", ".join(
            f"{name} {_short(found.get(name))}, not {_short(now.get(name))}"
            for name in (names or {**now, **found})
            if found.get(name) != now.get(name)
        )
        if not received:
            return True
        received = f"one with {received}"
    raise ValueError(
        f"Expected the search in {folder}, some of whose trials have ended, to have been made for "
        f"the same costs, data and choices; received {received}. Search in another folder "
        "(`directory` or `project_name`, --out of the command), or delete this one "
        "(`overwrite=True`)."
    )


def _has_ended(path: pathlib.Path) -> bool:
    return read_json(path).get("status") in ("COMPLETED", "FAILED")


def is_worker() -> bool:
    """Tells whether KerasTuner's variables make this process a worker of a chief."""
    chief = "chief" in os.environ.get("KERASTUNER_TUNER_ID", "")
    return "KERASTUNER_ORACLE_IP" in os.environ and not chief


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def describe_tuner(tuner: keras_tuner.Tuner) -> dict[str, Any]:
    """Describes the tuner's class and choices, and its HyperModel with all its arguments."""
    hyper_model = tuner.hypermodel
    # The tuners of this package keep their arguments. Those of KerasTuner take their seed from
    # the folder when they resume.
    choices = getattr(tuner, "search_choices", None) or {
        "executions_per_trial": tuner.executions_per_trial
    }
    described = {
        "hyper_model": _name(type(hyper_model)),
        **_describe_hyper_model(hyper_model, choices.get("hyperparameters")),
        "tuner": type(tuner).__name__,
        "objective": str(tuner.oracle.objective),
        **{f"tuner_{name}": value for name, value in choices.items()},
        "backend": keras.backend.backend(),
        "policy": keras.config.dtype_policy().name,
        "floatx": keras.config.floatx(),
    }
    return {name: _recorded(value) for name, value in described.items()}


def describe_fit(x: FitData, y: FitData, arguments: FitArguments) -> dict[str, Any]:
    """Describes the data and the arguments of `search`."""
    given = {"x": x, "y": y, **arguments}
    described = {
        name: _recorded(value)
        for name, value in given.items()
        if value is not None and name not in _FREE_ARGUMENTS
    }
    for callback in arguments.get("callbacks") or ():
        if isinstance(callback, _CHANGING):
            choices = _recorded(_choices(callback))
            described.setdefault(type(callback).__name__, []).append(choices)
    return described


def _choices(callback: keras.callbacks.Callback) -> dict[str, Any]:
    """Returns the arguments that a callback was made with, without its state."""
    kinds = [kind for kind in type(callback).__mro__ if kind is not object]
    names = {name for kind in kinds for name in inspect.signature(kind).parameters}
    choices = {name: it for name, it in vars(callback).items() if name in names - {"verbose"}}
    if "min_delta" in choices:  # Keras gives it the sign of the mode when training begins.
        choices["min_delta"] = abs(choices["min_delta"])
    return choices


def _recorded(value: Any) -> Any:
    """Describes a value as JSON: arrays and models by a digest, other objects by their class."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(name): _recorded(one) for name, one in value.items()}
    if isinstance(value, Algorithm) and ALGORITHMS.get(value.name) == value:
        return value.name
    if isinstance(value, Algorithm):
        return describe(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return repr(value)
    if isinstance(value, keras.Model):
        return _digest(describe(value))
    if keras.ops.is_tensor(value):
        value = keras.ops.convert_to_numpy(value)
    if isinstance(value, (list, tuple)) and len(value) <= _LONG:
        return [_recorded(one) for one in value]
    if isinstance(value, (list, tuple)) or hasattr(value, "__array__"):
        return _describe_array(np.asarray(value))
    if isinstance(value, ShuffledBatches):
        return value.fingerprint()
    if hasattr(value, "get_config"):
        return [_name(type(value)), _digest(value.get_config())]
    return _name(value if hasattr(value, "__qualname__") else type(value))


def _describe_hyper_model(
    hyper_model: keras_tuner.HyperModel | None, given: keras_tuner.HyperParameters | None
) -> dict[str, Any]:
    """Describes the arguments of a HyperModel of this package, or the space of any other."""
    if hyper_model is None:
        return {}
    for kind in type(hyper_model).__mro__:
        if kind.__module__.startswith("csdl_keras."):
            names = [name for name in inspect.signature(kind).parameters if name not in _FREE]
            values = [getattr(hyper_model, _ATTRIBUTES.get(name, name)) for name in names]
            return dict(zip(names, values, strict=True))
    # The space that `build` declares is all that is known of other HyperModels.
    hp = keras_tuner.HyperParameters() if given is None else given.copy()
    hyper_model.build(hp)
    return {"space": hp.get_config()["space"]}


def _describe_array(array: np.ndarray) -> str:
    # The bytes of an array of objects are addresses.
    content = _digest(array.tolist()) if array.dtype.hasobject else fingerprint(array)
    return f"{' x '.join(map(str, array.shape))} {array.dtype} {content[:12]}"


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=_recorded)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"
