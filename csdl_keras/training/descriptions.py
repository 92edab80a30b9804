"""Describes your own bodies, pre-trainings and objectives by their contents, for cache keys."""

import dataclasses
import functools
import hashlib
import inspect
import json
import sys
import types
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np

from csdl_keras.stage_cache import fingerprint

#: Packages whose code is known by its name; their versions are in the key of a stage, or they
#: are part of Python.
_KNOWN = {"csdl_keras", "jax", "keras", "ml_dtypes", "numpy", "scipy", "tensorflow", "torch"}


def describe(value: Any) -> Any:
    """Describes a value as JSON, so that values of other contents are described otherwise.

    Functions and classes of the package, of Keras and of what these are made of are
    described by their names. Your own are described by their code too, and by what that code
    refers to: constants, defaults, variables of enclosing functions, global values, functions
    and classes. So an edit of a loss, or another loss of the same name, is another value.

    Args:
        value: numbers, strings, arrays, functions, classes, dataclasses, Keras objects, and
            lists, tuples, sets and dicts of those.

    Returns:
        A value that `json.dumps` takes.

    Raises:
        ValueError: if a value cannot be described, such as an open file.

    Example:

    >>> describe((1, "a", keras.losses.Huber))
    [1, 'a', 'keras.src.losses.losses.Huber']
    """
    return _Describer().describe(value)


class _Describer:
    """Describes values; functions that refer to each other are followed once."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def describe(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, (float, complex, bytes)):
            return value if isinstance(value, float) and np.isfinite(value) else repr(value)
        if isinstance(value, (type(...), types.ModuleType)):
            return repr(getattr(value, "__name__", value))
        if isinstance(value, (list, tuple)):
            return [self.describe(one) for one in value]
        if isinstance(value, (set, frozenset)):
            return sorted((self.describe(one) for one in value), key=json.dumps)
        if isinstance(value, Mapping):
            return [[self.describe(key), self.describe(one)] for key, one in value.items()]
        if keras.ops.is_tensor(value) or isinstance(value, keras.Variable):
            value = keras.ops.convert_to_numpy(value)
        if isinstance(value, (np.ndarray, np.generic)):
            return fingerprint(np.asarray(value))
        if isinstance(value, types.CodeType):
            return self._code(value)
        for number, one in enumerate(self.seen):
            if one is value:
                return f"<{number}>"
        self.seen.append(value)
        if isinstance(value, type) or inspect.isroutine(value):
            return self._named(value)
        return self._instance(value)

    def _named(self, value: Any) -> Any:
        """A function or class."""
        if isinstance(value, types.MethodType):
            return [self.describe(value.__func__), self.describe(value.__self__)]
        name = f"{getattr(value, '__module__', None)}.{value.__qualname__}"
        root = name.partition(".")[0]
        if root in _KNOWN or (root in sys.stdlib_module_names and root != "__main__"):
            return name
        if isinstance(value, type):
            parts = {key: one for key, one in vars(value).items() if _is_content(key, one)}
            contents: Any = [self.describe(value.__bases__), self.describe(parts)]
        elif isinstance(value, types.FunctionType):
            contents = self._function(value)
        else:
            return name  # written in C
        text = json.dumps(contents, sort_keys=True)
        return f"{name} {hashlib.sha256(text.encode()).hexdigest()}"

    def _function(self, function: types.FunctionType) -> Any:
        used = sorted(_names(function.__code__) & function.__globals__.keys())
        cells = [_cell(cell) for cell in function.__closure__ or ()]
        return [
            self._code(function.__code__),
            self.describe(function.__defaults__),
            self.describe(function.__kwdefaults__),
            self.describe(cells),
            [[name, self.describe(function.__globals__[name])] for name in used],
        ]

    def _code(self, code: types.CodeType) -> Any:
        constants = [self.describe(one) for one in code.co_consts]
        return [code.co_code.hex(), constants, list(code.co_names), list(code.co_varnames)]

    def _instance(self, value: Any) -> Any:
        kind = self.describe(type(value))
        if isinstance(value, functools.partial):
            parts: Any = (value.func, value.args, value.keywords)
        elif isinstance(value, (staticmethod, classmethod)):
            parts = value.__func__
        elif isinstance(value, property):
            parts = (value.fget, value.fset)
        elif isinstance(value, functools.cached_property):
            parts = value.func
        elif dataclasses.is_dataclass(value):
            parts = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        elif hasattr(value, "get_config"):
            weights = value.get_weights() if hasattr(value, "get_weights") else ()
            parts = (value.get_config(), weights)
        elif type(value).__module__ == "builtins" or not hasattr(value, "__dict__"):
            raise ValueError(
                "Expected a part of an algorithm that consists of numbers, strings, arrays, "
                "functions and classes, so that its results can be told from others; received "
                f"{value!r} in it."
            )
        else:
            parts = vars(value)
        return [kind, self.describe(parts)]


def _is_content(name: str, value: Any) -> bool:
    """Tells whether an attribute of a class is what somebody wrote there."""
    if isinstance(value, (types.GetSetDescriptorType, types.MemberDescriptorType)):
        return False
    if name in ("__init__", "__call__", "__post_init__"):
        return True
    return not name.startswith(("__", "_abc_"))


def _names(code: types.CodeType) -> set[str]:
    """The names of globals, and of attributes, that a code and the codes in it use."""
    inner = [_names(one) for one in code.co_consts if isinstance(one, types.CodeType)]
    return set(code.co_names).union(*inner)


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is still empty, as of a function that is being defined
        return None
