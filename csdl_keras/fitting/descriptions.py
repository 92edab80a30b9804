"""Describes values as JSON for the keys of stages; the user's objects count by a `version`."""

import dataclasses
import functools
import json
import types
from collections.abc import Iterator, Mapping
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.array_file import fingerprint

#: Stands in a description for the version that an object of the user's lacks.
WITHOUT_VERSION = "without a version"

#: Packages whose versions are in every key, see `environment`.
_VERSIONED = ("csdl_keras", "keras", "numpy")

#: Classes of Keras whose objects are described by their arguments; their other state is Keras' own.
_CONFIGURED = (keras.layers.Layer, keras.metrics.Metric, keras.optimizers.Optimizer)
#: Classes of Keras whose objects have names that are often numbered.
_NAMED = (*_CONFIGURED, keras.losses.Loss)


def describe(value: object) -> Any:
    """Describes a value as JSON; values with different contents get different descriptions.

    An object is the user's if its class, or itself if it is a function or a class, is defined
    outside csdl_keras, Keras, NumPy and Python's built-in names. Its code is not looked at: it is
    described by its name, its fields and its attribute `version`, which its author raises when
    it changes. Without that attribute `is_kept` is false.

    Args:
        value: numbers, strings, arrays, functions, classes, dataclasses, Keras objects, and
            lists, tuples, sets and dicts of those.

    Returns:
        A value that `json.dumps` takes.

    Example:

    >>> describe((1, "a", keras.losses.Huber))
    [1, 'a', ['keras.src.losses.losses.Huber']]
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (float, complex, bytes)):
        return value if isinstance(value, float) and np.isfinite(value) else repr(value)
    if isinstance(value, (list, tuple)):
        return [describe(one) for one in value]
    if isinstance(value, (set, frozenset)):
        return sorted((describe(one) for one in value), key=json.dumps)
    if isinstance(value, Mapping):
        return [[describe(key), describe(one)] for key, one in value.items()]
    if keras.ops.is_tensor(value) or isinstance(value, keras.Variable):
        value = keras.ops.convert_to_numpy(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return fingerprint(np.asarray(value))
    if isinstance(value, functools.partial):
        versioned = hasattr(value, "version")
        function = identity(value.func, value) if versioned else describe(value.func)
        return ["partial", function, describe(value.args), describe(value.keywords)]
    if isinstance(value, types.MethodType):
        return [*identity(value, value.__self__), describe(_fields(value.__self__))]
    named = identity(value)
    return named if _is_named(value) else [*named, describe(_fields(value))]


def identity(value: Any, *holders: object) -> list[Any]:
    """Returns the name of a function or class, or of an object's class, and the user's version.

    The version is that of the value, or the first one that `holders` have.
    """
    kind = value if _is_named(value) else type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if not _is_own(value):
        return [name]
    versions = [getattr(one, "version", None) for one in (value, *holders)]
    found = next((one for one in versions if one is not None), WITHOUT_VERSION)
    return [name, describe(found)]


def is_kept(description: object) -> bool:
    """Tells whether a cache keeps what has this description: all objects in it have a version."""
    return WITHOUT_VERSION not in json.dumps(description)


def _is_named(value: object) -> bool:
    """Tells whether a value is a function or a class, with a name of its own."""
    return isinstance(getattr(value, "__qualname__", None), str)


def _is_own(value: Any) -> bool:
    """Tells whether an object is the user's, see `describe`."""
    named = _is_named(value)
    root = str((value if named else type(value)).__module__).partition(".")[0]
    return root not in _VERSIONED and not (named and root == "builtins")


def _fields(value: Any) -> Any:
    """Returns what tells an object from others of its class; of a class nothing."""
    if _is_named(value):
        return None
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if _is_own(value) and getattr(value, "version", None) is None:
        return None  # It is not kept, whatever it holds.
    numbers = {value.name: "name"} if isinstance(value, _NAMED) else {}
    if not isinstance(value, _CONFIGURED):
        return _without_names(value.__getstate__(), numbers)
    weights = value.get_weights() if isinstance(value, keras.layers.Layer) else []
    parts = [identity(one) for one in _own_parts(value)]
    # Keras may be unable to tell the arguments of objects of the user's.
    config = _without_names(value.get_config(), numbers) if is_kept(parts) else None
    return config, weights, parts


def _own_parts(value: Any) -> Iterator[Any]:
    """Yields the user's layers, functions and other objects that a Keras object is made of."""
    of_layers = isinstance(value, keras.layers.Layer)
    for part in value._flatten_layers() if of_layers else [value]:
        if _is_own(part):
            yield part
        # Keras puts functions of its own into `build` and `quantize`, with the name of a class's.
        held = {
            name: one
            for name, one in vars(part).items()
            if name not in ("build", "quantize") and not (of_layers and name.startswith("_"))
        }
        for one in keras.tree.flatten(held):
            usable = callable(one) or hasattr(one, "get_config")
            if usable and not isinstance(one, keras.layers.Layer) and _is_own(one):
                yield one


def _without_names(value: object, numbers: dict[Any, str], key: str = "") -> object:
    """Replaces the names of layers in a config with numbers, only where layers are named.

    Elsewhere the same word may have another meaning, such as the activation `relu`.
    """
    if isinstance(value, dict):
        layers = value.get("layers")
        if isinstance(layers, (list, tuple)) and all(isinstance(one, dict) for one in layers):
            names = [one.get("config", {}).get("name") for one in layers]
            numbers = numbers | {name: f"layer {i}" for i, name in enumerate(names)}
        return {name: _without_names(one, numbers, name) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_names(one, numbers, key) for one in value]
    names_layers = key in ("name", "keras_history", "input_layers", "output_layers")
    return numbers.get(value, value) if names_layers and isinstance(value, str) else value
