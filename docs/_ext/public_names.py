"""Finds the package's public names, and the one under which each object has its page."""

import functools
import importlib
import pkgutil
import types
from collections.abc import Iterator

import csdl_keras


def subpackages() -> list[str]:
    """Returns the names of the subpackages that have public names."""
    found = [it.name for it in pkgutil.iter_modules(csdl_keras.__path__) if it.ispkg]
    names = [f"csdl_keras.{name}" for name in found if not name.startswith("_")]
    return [name for name in names if hasattr(importlib.import_module(name), "__all__")]


def exported(module: str) -> Iterator[tuple[str, object]]:
    """Yields the full name and the object of each public name of a module, except modules."""
    imported = importlib.import_module(module)
    for name in imported.__all__:
        thing = getattr(imported, name)
        if not isinstance(thing, types.ModuleType):
            yield f"{module}.{name}", thing


@functools.cache
def pages() -> dict[str, str]:
    """Returns the name of the page of each public name: the first name of the same object."""
    first: dict[int, str] = {}
    found = {}
    for module in ("csdl_keras", *subpackages()):
        for name, thing in exported(module):
            found[name] = first.setdefault(id(thing), name)
    return found


@functools.cache
def modules() -> frozenset[str]:
    """Returns the names of the modules that are public names, and the package's."""
    names = {f"csdl_keras.{name}" for name in csdl_keras.__all__}
    return frozenset(names & set(subpackages()) | {"csdl_keras", "csdl_keras.training"})
