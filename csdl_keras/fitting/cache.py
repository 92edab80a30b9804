"""Caches the results of trainings by keys of everything that they depend on."""

import contextlib
import copy
import dataclasses
import functools
import hashlib
import importlib
import json
import os
import pathlib
import re
import shutil
import time
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import filelock
import keras
import numpy as np

from csdl_keras._utils import __version__
from csdl_keras._utils.checks import check_type
from csdl_keras._utils.files import DamagedFileError, fingerprint, read_arrays, write_arrays
from csdl_keras._utils.keras_private import all_layers
from csdl_keras_cli.writable import check_writable

#: Marks a user's object without a version in a description.
_WITHOUT_VERSION = "without a version"
#: Global settings of Keras that change results, apart from dtype policy and backend.
SETTINGS = ("epsilon", "floatx", "image_data_format", "max_epochs", "max_steps_per_epoch")


@dataclasses.dataclass(frozen=True)
class StageResult:
    """A cached result: arrays, a JSON record, and the seconds that it took."""

    arrays: Sequence[np.ndarray]
    info: dict[str, Any]
    seconds: float = 0.0


class StageCache:
    """Caches pre-trainings and trainings by a description of everything that they depend on.

    Trainers with different data, seeds or Keras settings can share a cache: keys include these, and
    the versions of the package, Keras, NumPy and the backend.

    Your own objects (networks, bodies, losses, layers, ...) enter a key by their class, their
    fields and an attribute `version`. Raise it whenever the object, or anything that it uses,
    changes. If an object has no `version`, results that depend on it are not cached.

    In a folder, each result is one file, which is written atomically; processes that share the
    folder wait for each other. A damaged file counts as missing, with a warning.

    Args:
        folder: folder of the files, created if missing. `None` (default) keeps results in memory.

    Example:

    >>> import numpy as np
    >>> from csdl_keras import StageCache
    >>> cache = StageCache()
    >>> cache.get({"seed": 1}, lambda: ([np.arange(3)], {"epochs": 2})).info
    {'epochs': 2}
    >>> {"seed": 1} in cache, {"seed": 2} in cache
    (True, False)
    """

    def __init__(self, folder: str | os.PathLike | None = None):
        # The path is absolute, since processes may change their working directory.
        self.folder = None if folder is None else pathlib.Path(folder).absolute()
        if self.folder is not None:
            check_writable("`folder`", self.folder)
        self._memory: dict[str, StageResult] = {}

    def __reduce__(self) -> tuple:
        # Other processes share the folder, but not the memory.
        return StageCache, (self.folder,)

    @staticmethod
    def key(description: object) -> str:
        """Returns a digest of a description in JSON types."""
        text = json.dumps(description, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def path(self, description: object) -> pathlib.Path:
        """Returns the file of a result; the cache must have a folder."""
        assert self.folder is not None
        key = self.key(description)
        return self.folder / key[:2] / f"{key}.npz"

    def unfinished(self, description: object) -> pathlib.Path | None:
        """Returns the folder for the state of an unfinished training; `None` without a folder."""
        return None if self.folder is None else self.path(description).with_suffix(".unfinished")

    def __contains__(self, description: object) -> bool:
        return self.find(description) is not None

    def get(
        self,
        description: object,
        compute: Callable[[], tuple[Sequence[np.ndarray], dict[str, Any]]],
    ) -> StageResult:
        """Returns the result of a description in JSON types, computing it if it is missing."""
        lock: contextlib.AbstractContextManager = contextlib.nullcontext()
        if self.folder is not None:  # The system releases the lock if this process is killed.
            path = self.path(description).with_suffix(".lock")
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(path)
        with lock:
            result = self.find(description)
            if result is None:
                start = time.perf_counter()
                arrays, info = compute()
                result = StageResult(list(arrays), info, round(time.perf_counter() - start, 3))
                self.put(description, result)
            if (unfinished := self.unfinished(description)) is not None:
                shutil.rmtree(unfinished, ignore_errors=True)
            return result

    def find(self, description: object) -> StageResult | None:
        """Returns the result of a description, or `None` if it is missing or damaged."""
        if self.folder is None:
            return copy.deepcopy(self._memory.get(self.key(description)))
        path = self.path(description)
        try:
            record, arrays = read_arrays(path)
            return StageResult(arrays, record["info"], record["seconds"])
        except FileNotFoundError:
            return None
        except (DamagedFileError, KeyError) as error:
            warn_of_damage(path, error)
            return None

    def put(self, description: object, result: StageResult) -> None:
        if self.folder is None:
            self._memory[self.key(description)] = copy.deepcopy(result)
            return
        record = {"info": result.info, "seconds": result.seconds, "description": description}
        path = self.path(description)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_arrays(path, record, result.arrays)


def warn_of_damage(path: pathlib.Path, why: object) -> None:
    """Warns that a file is damaged."""
    # With the same line each time, Python shows the warning once per file.
    warnings.warn(f"{path} is damaged; its result is computed again: {why}", stacklevel=1)


def check_cache(cache: StageCache | None, seed: int | None) -> StageCache | None:
    """Returns `cache` if it is `None`, or a `StageCache` with a `seed`."""
    if cache is not None:
        check_type("cache", cache, StageCache, "a StageCache or None")
    if cache is not None and seed is None:
        raise ValueError("A `cache` needs a `seed`; received None.")
    return cache


def environment() -> dict[str, Any]:
    """Returns the versions and settings of Keras that change results by more than rounding."""
    backend = importlib.import_module(keras.backend.backend())
    return {
        "versions": [__version__, keras.__version__, np.__version__, backend.__version__],
        "backend": keras.config.backend(),
        "dtype_policy": keras.dtype_policies.serialize(keras.config.dtype_policy()),
        **{name: getattr(keras.config, name)() for name in SETTINGS},
    }


def is_kept(description: object) -> bool:
    """Returns whether all objects in a description have a version, so results can be cached."""
    return _WITHOUT_VERSION not in json.dumps(description)


def describe(value: Any) -> Any:
    """Describes a value in JSON types; different contents get different descriptions."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (float, complex, bytes)):
        return value if isinstance(value, float) and np.isfinite(value) else repr(value)
    if isinstance(value, (list, tuple)):
        return [describe(one) for one in value]
    if isinstance(value, Mapping):
        return [[describe(key), describe(one)] for key, one in value.items()]
    if hasattr(value, "__array__") and not isinstance(value, type):
        array = np.asarray(keras.ops.convert_to_numpy(value))
        return describe(array.tolist()) if array.dtype.hasobject else fingerprint(array)
    if isinstance(value, functools.partial):
        return ["partial", *map(describe, (value.func, value.args, value.keywords))]
    if isinstance(value, types.MethodType):
        return [describe(value.__self__), value.__name__]
    found = _identity(value)
    if _is_named(value):
        return found
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return [*found, describe({name: getattr(value, name) for name in names})]
    if not is_kept(found):
        return found  # It may contain objects that cannot be described.
    if not isinstance(
        value, (keras.layers.Layer, keras.metrics.Metric, keras.optimizers.Optimizer)
    ):
        state = value.__getstate__()
        is_loss = isinstance(value, keras.losses.Loss)  # Keras numbers their names.
        return [*found, describe({**state, "name": ""} if is_loss else state)]
    parts = _own_parts(value)
    weights = describe(value.get_weights()) if isinstance(value, keras.layers.Layer) else []
    # Keras may be unable to serialise arguments without a version.
    return [*found, parts, weights, _config(value) if is_kept(parts) else None]


def _identity(value: Any) -> list[Any]:
    """Returns the name of a function, a class or an object's class, and the user's version."""
    named = _is_named(value)
    kind = value if named else type(value)
    root = str(kind.__module__).partition(".")[0]
    name = f"{kind.__module__}.{kind.__qualname__}"
    if root in ("csdl_keras", "keras", "numpy") or (named and root == "builtins"):
        return [name]
    version = getattr(value, "version", None)
    return [name, _WITHOUT_VERSION if version is None else describe(version)]


def _is_named(value: Any) -> bool:
    return isinstance(getattr(value, "__qualname__", None), str)


def _own_parts(value: Any) -> list[Any]:
    """Returns names and versions of the user's layers and functions in a Keras object."""
    of_layers, found = isinstance(value, keras.layers.Layer), []
    for part in all_layers(value) if of_layers else [value]:
        found.append(part)
        for name, one in vars(part).items():
            # Keras has its own functions in private attributes of layers, and in these two.
            if name not in ("build", "quantize") and not (of_layers and name.startswith("_")):
                found += keras.tree.flatten(one)
    usable = [one for one in found if callable(one) or hasattr(one, "get_config")]
    return [name for name in map(_identity, usable) if len(name) > 1]


def _config(value: Any) -> str:
    """Returns the config of a Keras object, with its automatic names replaced by numbers."""
    text = json.dumps(value.get_config(), default=describe)
    layers = all_layers(value) if isinstance(value, keras.layers.Layer) else [value]
    numbers = {json.dumps(one.name): str(number) for number, one in enumerate(layers)}
    # Names follow "name", or are in the graph of a functional model, as ["name", 0, 0]. Elsewhere,
    # the same word may be something else, such as an activation.
    names = r'(?<="name": )"[^"]*"|(?<=\[)"[^"]*"(?=, \d+, \d+\])'
    return re.sub(names, lambda found: numbers.get(found[0], found[0]), text)
