"""Adds the imports that the example of a docstring needs, so that it runs where it is pasted."""

import ast
import builtins
import doctest
import inspect
import re
import sys
import types

from public_names import exported, pages, subpackages


def missing(text: str) -> list[str]:
    """Returns the names that the examples of a docstring use but do not define."""
    code = "".join(it.source for it in doctest.DocTestParser().get_examples(text))
    used, known = set(), set(dir(builtins))
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            known |= {(it.asname or it.name).split(".")[0] for it in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            known.add(node.name)
        elif isinstance(node, ast.arg):
            known.add(node.arg)
        elif isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else known).add(node.id)
    return sorted(used - known)


def _import(name: str, value: object) -> str:
    """Returns the line that imports a value under a name."""
    if isinstance(value, types.ModuleType):
        first, _, last = value.__name__.rpartition(".")
        if first and last == name:
            return f"from {first} import {name}"
        return f"import {value.__name__}" + (f" as {name}" if value.__name__ != name else "")
    for package in ("csdl_keras", *subpackages()):
        if any(thing is value for _, thing in exported(package)):
            full = next(it for it, thing in exported(package) if thing is value)
            return f"from {pages()[full].rpartition('.')[0]} import {name}"
    return f"from {value.__module__} import {name}"


def imports(thing: object, text: str) -> list[str]:
    """Returns the lines that import what the examples of a docstring lack.

    Args:
        thing: what the docstring describes; the names are those of its module.
        text: the docstring.
    """
    found = vars(sys.modules[thing.__module__]) if hasattr(thing, "__module__") else {}
    lines = [_import(name, found[name]) for name in missing(text)]
    return sorted(lines, key=lambda it: ("csdl_keras" in it, it.startswith("from"), it))


def add_imports(thing: object, lines: list[str]) -> list[str]:
    """Returns the lines of a docstring with the imports before its first example."""
    start = next((i for i, it in enumerate(lines) if it.lstrip().startswith(">>> ")), None)
    if start is None:
        return lines
    indent = re.match(r"\s*", lines[start])[0]
    added = imports(inspect.unwrap(thing) if callable(thing) else thing, "\n".join(lines))
    return lines[:start] + [f"{indent}>>> {it}" for it in added] + lines[start:]
