"""Keeps the results of trainings by keys of everything that they depend on."""

import contextlib
import copy
import dataclasses
import functools
import hashlib
import importlib
import json
import os
import pathlib
import shutil
import time
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import filelock
import keras
import numpy as np

from csdl_keras._utils import __version__
from csdl_keras._utils.array_file import DamagedFileError, fingerprint, read_arrays, write_arrays
from csdl_keras._utils.checks import check_path
from csdl_keras._utils.files import check_writable
from csdl_keras._utils.keras_graph import all_layers

#: Stands in a description for the version that an object of the user's lacks.
_WITHOUT_VERSION = "without a version"

#: Packages whose versions are in every key, see `environment`.
_VERSIONED = ("csdl_keras", "keras", "numpy")

#: Global settings of Keras that change results.
_SETTINGS = (
    "backend",
    "epsilon",
    "floatx",
    "image_data_format",
    "max_epochs",
    "max_steps_per_epoch",
)

#: Classes of Keras whose objects are described by their arguments; the rest is Keras' own.
_CONFIGURED = (keras.layers.Layer, keras.metrics.Metric, keras.optimizers.Optimizer)


@dataclasses.dataclass(frozen=True)
class StageResult:
    """The result of a pre-training, a training, or whatever else a cache keeps.

    Args:
        arrays: weights or other arrays.
        info: a dict that JSON can hold, such as the number of epochs.
        seconds: how long it took. Defaults to 0.
    """

    arrays: Sequence[np.ndarray]
    info: dict[str, Any]
    seconds: float = 0.0


class StageCache:
    """Keeps pre-trainings and trainings by a description of everything that they depend on.

    A changed choice finds nothing, and an unchanged one is never trained twice. Trainers of
    different data, seeds or settings of Keras can share a cache: keys contain these, and the
    versions of the package, Keras, NumPy and the backend.

    Objects of your own (builders of networks, bodies, losses, layers, activations, ...) count by
    their class, their fields and an attribute `version`, which you raise whenever such an object,
    or anything that it uses, changes. What depends on one without that attribute is trained each
    time: neither looked up nor kept. Your own is what is defined outside csdl_keras, Keras, NumPy
    and Python's built-in names, also in another package.

    In memory, the cache keeps copies. In a folder, each result is one file that is written as a
    whole, even if the process is killed, and processes that share the folder wait for each other
    instead of training the same. The saved state of an unfinished training lies beside its
    file. A damaged file counts as missing, with a warning.

    Args:
        folder: folder of the files, created if missing. `None` (default) keeps them in memory.

    Raises:
        ValueError: if the folder is not a path or cannot be written to.

    Example:

    >>> cache = StageCache()
    >>> cache.get("a", lambda: ([np.arange(3)], {"epochs": 2})).info
    {'epochs': 2}
    >>> "a" in cache, {"stage": "b"} in cache
    (True, False)
    """

    def __init__(self, folder: str | os.PathLike | None = None):
        # This process and those that it starts may change the working directory.
        self.folder = None if folder is None else check_path("folder", folder).absolute()
        if self.folder is not None:
            check_writable("`folder`", self.folder)
        self._memory: dict[str, StageResult] = {}

    def __reduce__(self) -> tuple:
        # Another process shares the folder; what is in memory stays in this one.
        return StageCache, (self.folder,)

    @staticmethod
    def key(description: object) -> str:
        """Returns a key, 64 hexadecimal digits, of whatever JSON can hold."""
        try:
            text = json.dumps(description, sort_keys=True, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"Expected a description that JSON can hold; received {description!r}: {error}."
            ) from error
        return hashlib.sha256(text.encode()).hexdigest()

    def path(self, description: object) -> pathlib.Path:
        """Returns the file of a result."""
        if self.folder is None:
            raise ValueError("Expected a cache with a folder; this one is in memory.")
        key = self.key(description)
        return self.folder / key[:2] / f"{key}.npz"

    def unfinished(self, description: object) -> pathlib.Path | None:
        """Returns the folder of an unfinished state, or `None` for a cache in memory.

        It is removed as soon as there is a result.
        """
        return None if self.folder is None else self.path(description).with_suffix(".unfinished")

    def __contains__(self, description: object) -> bool:
        if self.folder is None:
            return self.key(description) in self._memory
        return self.find(description) is not None

    def get(
        self,
        description: object,
        compute: Callable[[], tuple[Sequence[np.ndarray], dict[str, Any]]],
    ) -> StageResult:
        """Returns the result of that description, computed if it is missing.

        Args:
            description: a string, or all that the result depends on, as JSON can hold it.
            compute: function that returns its arrays and `info`.
        """
        with self._lock(description):
            result = self.find(description)
            if result is None:
                start = time.perf_counter()
                arrays, info = compute()
                result = StageResult(list(arrays), info, round(time.perf_counter() - start, 3))
                self._keep(description, result)
            unfinished = self.unfinished(description)
            if unfinished is not None:
                shutil.rmtree(unfinished, ignore_errors=True)
            return result

    def put(self, description: object, result: StageResult) -> None:
        """Keeps a result that was computed elsewhere, unless one is there."""
        if description not in self:
            self._keep(description, result)

    def find(self, description: object) -> StageResult | None:
        """Returns the result of that description, or `None` if it is missing or damaged."""
        key = self.key(description)
        if self.folder is None:
            return copy.deepcopy(self._memory.get(key))
        path = self.path(description)
        try:
            record, arrays = read_arrays(path)
            if self.key(record["description"]) != key:
                raise DamagedFileError("it holds another result")
            return StageResult(arrays, record["info"], record["seconds"])
        except FileNotFoundError:
            return None
        except (DamagedFileError, KeyError, TypeError, ValueError) as error:
            warn_of_damage(path, error)
            return None

    def _keep(self, description: object, result: StageResult) -> None:
        if self.folder is None:
            self._memory[self.key(description)] = copy.deepcopy(result)
            return
        record = {"info": result.info, "seconds": result.seconds, "description": description}
        path = self.path(description)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_arrays(path, record, result.arrays)

    @contextlib.contextmanager
    def _lock(self, description: object) -> Iterator[None]:
        """Locks out other processes; the system unlocks if this one is killed."""
        if self.folder is None:
            yield
            return
        path = self.path(description).with_suffix(".lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(path):
            yield


def warn_of_damage(path: pathlib.Path, why: object) -> None:
    """Warns that a file cannot be used, so that its result is computed again."""
    # The warning comes from this line always, so that Python shows it once for each file.
    warnings.warn(f"{path} is damaged; its result is computed anew: {why}", stacklevel=1)


def check_cache(cache: object, seed: int | None) -> StageCache | None:
    """Returns `cache` if it is `None`, or a `StageCache` and `seed` is given."""
    if cache is not None and not isinstance(cache, StageCache):
        raise ValueError(f"Expected `cache` to be a StageCache or None; received {cache!r}.")
    if cache is not None and seed is None:
        raise ValueError(
            "Expected a `seed` with a `cache`, so that what is found there is what would be "
            "trained; received None."
        )
    return cache


def environment() -> dict[str, Any]:
    """Returns the versions and settings of Keras that change results, as JSON can hold them.

    The machine, its device, the number of processes and threads, and eager execution change
    results by rounding only, so that different machines can share a folder.
    """
    backend = importlib.import_module(keras.backend.backend())
    return {
        "versions": [__version__, keras.__version__, np.__version__, backend.__version__],
        "dtype_policy": keras.dtype_policies.serialize(keras.config.dtype_policy()),
        **{name: getattr(keras.config, name)() for name in _SETTINGS},
    }


def is_kept(description: object) -> bool:
    """Tells whether a cache keeps what has this description: all objects in it have a version."""
    return _WITHOUT_VERSION not in json.dumps(description)


def describe(value: Any) -> Any:
    """Describes a value as JSON; values with different contents get different descriptions.

    The code of the user's functions and classes is not looked at, see `StageCache`; without a
    `version`, `is_kept` is false.

    Args:
        value: numbers, strings, arrays, functions, classes, dataclasses, Keras objects, and
            lists, tuples, sets and dicts of those.

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
    found = next((one for one in versions if one is not None), _WITHOUT_VERSION)
    return [name, describe(found)]


def _is_named(value: Any) -> bool:
    """Tells whether a value is a function or a class, with a name of its own."""
    return isinstance(getattr(value, "__qualname__", None), str)


def _is_own(value: Any) -> bool:
    """Tells whether an object is the user's, see `StageCache`."""
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
    numbers = {getattr(value, "name", None): "name"} if isinstance(value, _CONFIGURED) else {}
    if not isinstance(value, _CONFIGURED):
        state = value.__getstate__()
        return {**state, "name": ""} if isinstance(value, keras.losses.Loss) else state
    weights = value.get_weights() if isinstance(value, keras.layers.Layer) else []
    parts = [identity(one) for one in _own_parts(value)]
    # Keras may be unable to tell the arguments of objects of the user's.
    config = _without_names(value.get_config(), numbers) if is_kept(parts) else None
    return config, weights, parts


def _own_parts(value: Any) -> Iterator[Any]:
    """Yields the user's layers, functions and other objects that a Keras object is made of."""
    of_layers = isinstance(value, keras.layers.Layer)
    for part in all_layers(value) if of_layers else [value]:
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


def _without_names(value: Any, numbers: dict[Any, str], key: str = "") -> Any:
    """Replaces the names of layers in a config, which Keras numbers, only where layers are named.

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
