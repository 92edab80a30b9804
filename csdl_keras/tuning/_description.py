"""Describes what the results of a search depend on, as JSON."""

import dataclasses
import hashlib
import inspect
import json
from collections.abc import Mapping
from typing import Any

import keras
import keras_tuner
import numpy as np

from csdl_keras._utils.array_file import fingerprint
from csdl_keras.fitting.shuffled_batches import ShuffledBatches
from csdl_keras.pretraining.layer_cache import describe_model
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.algorithms import ALGORITHMS

#: Arguments of `search` on which no result depends.
_FREE_ARGUMENTS = ("callbacks", "validation_batch_size", "verbose")
#: Callbacks of Keras that change training; others watch, or are of the user's own.
_CHANGING = (
    keras.callbacks.EarlyStopping,
    keras.callbacks.LearningRateScheduler,
    keras.callbacks.ReduceLROnPlateau,
    keras.callbacks.SwapEMAWeights,
    keras.callbacks.TerminateOnNaN,
)
#: Arguments of the package's HyperModels on which no result depends.
_FREE = ("cache", "name", "tunable")
#: Those that are attributes of another name.
_ATTRIBUTES = {"classifier": "trained"}
#: More numbers than that in a list are data.
_LONG = 50


def describe_tuner(tuner: Any) -> dict[str, Any]:
    """The tuner's class and choices, and its HyperModel with all that it was made from."""
    hyper_model = tuner.hypermodel
    # The tuners of this package keep what they were made with; the seed of KerasTuner's is that
    # of the folder.
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
    return {name: describe(value) for name, value in described.items()}


def describe_fit(x: Any, y: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Describes what each trial is trained on, and how: the arguments of `search`."""
    given = {"x": x, "y": y, **arguments}
    described = {
        name: describe(value)
        for name, value in given.items()
        if value is not None and name not in _FREE_ARGUMENTS
    }
    for callback in arguments.get("callbacks") or ():
        if isinstance(callback, _CHANGING):
            choices = describe(_choices(callback))
            described.setdefault(type(callback).__name__, []).append(choices)
    return described


def _choices(callback: keras.callbacks.Callback) -> dict[str, Any]:
    """The arguments that a callback was made with, whatever it has seen since."""
    kinds = [kind for kind in type(callback).__mro__ if kind is not object]
    names = {name for kind in kinds for name in inspect.signature(kind).parameters}
    choices = {name: it for name, it in vars(callback).items() if name in names - {"verbose"}}
    if "min_delta" in choices:  # whose sign Keras takes from the mode once it trains
        choices["min_delta"] = abs(choices["min_delta"])
    return choices


def describe(value: Any) -> Any:
    """A value as JSON: arrays and models by a digest, what is told by its class by its name."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(name): describe(one) for name, one in value.items()}
    if isinstance(value, Algorithm) and ALGORITHMS.get(value.name) == value:
        return value.name
    if isinstance(value, Algorithm):
        return value.describe()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return repr(value)
    if isinstance(value, keras.Model):
        return _digest(describe_model(value))
    if keras.ops.is_tensor(value):
        value = keras.ops.convert_to_numpy(value)
    if isinstance(value, (list, tuple)) and len(value) <= _LONG:
        return [describe(one) for one in value]
    if isinstance(value, (list, tuple)) or hasattr(value, "__array__"):
        return _describe_array(np.asarray(value))
    if isinstance(value, ShuffledBatches):
        return value.fingerprint()
    if hasattr(value, "get_config"):
        return [_name(type(value)), _digest(value.get_config())]
    return _name(value if hasattr(value, "__qualname__") else type(value))


def _describe_hyper_model(hyper_model: Any, given: Any) -> dict[str, Any]:
    if hyper_model is None:
        return {}
    for kind in type(hyper_model).__mro__:
        if kind.__module__.startswith("csdl_keras."):
            names = [name for name in inspect.signature(kind).parameters if name not in _FREE]
            values = [getattr(hyper_model, _ATTRIBUTES.get(name, name)) for name in names]
            return dict(zip(names, values, strict=True))
    # Of somebody else's nothing is known but what `build` declares.
    hp = keras_tuner.HyperParameters() if given is None else given.copy()
    hyper_model.build(hp)
    return {"space": hp.get_config()["space"]}


def _describe_array(array: np.ndarray) -> str:
    content = fingerprint(array)
    if array.dtype.hasobject:  # whose bytes are addresses
        content = _digest(array.tolist())
    return f"{' x '.join(map(str, array.shape))} {array.dtype} {content[:12]}"


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=describe)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"
