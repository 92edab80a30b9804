"""Describes your own bodies, pre-trainings and objectives by their contents, for cache keys."""

import dataclasses
import functools
import hashlib
import json
import pathlib
import sys
import types
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.array_file import fingerprint

_FUNCTIONS = (
    types.BuiltinFunctionType,
    types.FunctionType,
    types.MethodDescriptorType,
    types.MethodType,
    types.WrapperDescriptorType,
)


def describe(value: object) -> Any:
    """Describes a value as JSON; values with different contents get different descriptions.

    Functions and classes of this package and of Python are described by their names, those
    of installed packages by their names and the version of the package. Your own are described
    by their code too, and by what that code refers to: constants, defaults, variables of
    enclosing functions, global values, functions and classes. An edited loss, or another loss
    of the same name, therefore has another description.

    Args:
        value: numbers, strings, arrays, functions, classes, dataclasses, Keras objects, and
            lists, tuples, sets and dicts of those.

    Returns:
        A value that `json.dumps` takes.

    Raises:
        ValueError: if a value cannot be described, such as an open file.

    Example:

    >>> describe((1, "a", keras.losses.Huber))  # doctest: +ELLIPSIS
    [1, 'a', 'keras.src.losses.losses.Huber ...']
    """
    return _Describer().describe(value)


class _Describer:
    """Describes values; functions that refer to each other are followed once."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def describe(self, value: object) -> Any:
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, (float, complex, bytes)):
            return value if isinstance(value, float) and np.isfinite(value) else repr(value)
        if isinstance(value, types.ModuleType):
            return value.__name__
        if value is ...:
            return "..."
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
        named = isinstance(value, (type, *_FUNCTIONS)) or _version_of(value) is not None
        return self._named(value) if named else self._instance(value)

    def _named(self, value: Any) -> Any:
        """Describes a function or class."""
        if isinstance(value, types.MethodType):
            return [self.describe(value.__func__), self.describe(value.__self__)]
        name = f"{getattr(value, '__module__', None)}.{value.__qualname__}"
        version = _version_of(value)
        if version is not None:
            return f"{name} {version}".rstrip()
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
        names, defined = _names(function.__code__), function.__globals__
        used = {name: defined[name] for name in sorted(names & defined.keys())}
        for name, module in list(used.items()):
            # Of your own module, take everything whose name the code uses.
            if isinstance(module, types.ModuleType) and _version(module.__name__) is None:
                used |= {
                    f"{name}.{it}": vars(module)[it] for it in sorted(names & vars(module).keys())
                }
        cells = [_cell(cell) for cell in function.__closure__ or ()]
        return [
            self._code(function.__code__),
            self.describe(function.__defaults__),
            self.describe(function.__kwdefaults__),
            self.describe(cells),
            [[name, self.describe(one)] for name, one in used.items()],
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
        elif isinstance(value, keras.layers.Layer):
            parts = (value.get_config(), value.get_weights())
        elif isinstance(value, (keras.metrics.Metric, keras.optimizers.Optimizer)):
            parts = (value.get_config(), value.variables)
        elif type(value).__module__ == "builtins" or not hasattr(value, "__dict__"):
            raise ValueError(
                "Expected a part of an algorithm that consists of numbers, strings, arrays, "
                "functions and classes, so that its results can be told from others; received "
                f"{value!r} in it."
            )
        else:
            parts = vars(value)
        return [kind, self.describe(parts)]


def _version_of(value: object) -> str | None:
    """Returns the package version of a named value; `None` if it is your own or has no name."""
    module = getattr(value, "__module__", None)
    if not isinstance(module, str) or not isinstance(getattr(value, "__qualname__", None), str):
        return None
    return _version(module)


def _version(module: str) -> str | None:
    """Returns the version of an installed module.

    `""` stands for modules of Python and of this package, `None` for your own.
    """
    root = module.partition(".")[0]
    if root == "csdl_keras" or (root in sys.stdlib_module_names and root != "__main__"):
        return ""
    package = sys.modules.get(root)
    file = getattr(package, "__file__", None)
    # Code of a notebook has no file.
    installed = file is not None and _is_installed(pathlib.Path(file), script=root == "__main__")
    return str(getattr(package, "__version__", "installed")) if installed else None


@functools.cache
def _is_installed(file: pathlib.Path, script: bool) -> bool:
    """Tells whether an installer wrote the file of a package, or of a module outside packages."""
    # Also those of the system or of the user's home, which an environment may include.
    if not {"site-packages", "dist-packages"}.isdisjoint(file.parts):
        return True
    # An installer may write to any other folder (`pip install --target`), and leaves its records
    # there. Your own script may lie beside them.
    folder = file.parent.parent if file.name == "__init__.py" else file.parent
    return not script and any(folder.glob("*.dist-info"))


def _is_content(name: str, value: object) -> bool:
    """Tells whether an attribute of a class was written by its author."""
    if isinstance(value, (types.GetSetDescriptorType, types.MemberDescriptorType)):
        return False
    if name in ("__init__", "__call__", "__post_init__"):
        return True
    return not name.startswith(("__", "_abc_"))


def _names(code: types.CodeType) -> set[str]:
    """Returns the names of globals and attributes that a code object and those in it use."""
    inner = [_names(one) for one in code.co_consts if isinstance(one, types.CodeType)]
    return set(code.co_names).union(*inner)


def _cell(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # The cell is empty while its function is being defined.
        return None
