"""Digests of the code that results depend on, by which a result that is out of date is found."""

import ast
import functools
import hashlib
import json
import pathlib
from collections.abc import Mapping
from typing import Any

#: The packages and files that results depend on. Costs and errors of a comparison are made by the
#: first three. The others stand apart, so that a change there puts nothing out of date that has
#: neither a kernel machine nor intervals.
PARTS = {
    "data": ("_utils", "costs", "datasets", "experiments/data_source.py"),
    "training": (
        "fitting",
        "layers",
        "losses",
        "metrics",
        "models",
        "outputs",
        "pretraining",
        "training",
    ),
    "decisions": ("prediction", "experiments/cell.py", "experiments/cell_runner.py"),
    "baselines": ("baselines",),
    "evaluation": ("evaluation",),
}

#: Files of these that check arguments, tell stages apart, start processes, or write, show
#: or serve what was decided before.
WITHOUT_EFFECT = (
    "_utils/checks.py",
    "_utils/files.py",
    "_utils/optional.py",
    "_utils/processes.py",
    "_utils/types.py",
    "evaluation/_report_text.py",
    "fitting/descriptions.py",
    "prediction/_formats.py",
    "prediction/export.py",
    "prediction/serving.py",
    "training/workers.py",
)

_ROOT = pathlib.Path(__file__).parent.parent


@functools.cache
def code_version() -> Mapping[str, str]:
    """Returns a digest of the code of each part of `PARTS`.

    Comments, docstrings, formatting and the version of Python change nothing, nor do `__init__.py`
    and the files of `WITHOUT_EFFECT`.

    Returns:
        `{part: 12 hexadecimal digits}`.

    Example:

    >>> list(code_version())
    ['data', 'training', 'decisions', 'baselines', 'evaluation']
    """
    return {part: _digest(list(map(_ROOT.joinpath, paths))) for part, paths in PARTS.items()}


def changed_parts(version: Mapping[str, str] | None) -> list[str]:
    """Returns the parts whose code is not the same today.

    Args:
        version: the `code_version()` that was recorded with a result; `None` if none was.

    Returns:
        Names of parts, all of them without a recorded version.

    Example:

    >>> changed_parts(code_version())
    []
    >>> changed_parts({**code_version(), "data": "0" * 12})
    ['data']
    """
    then = version or {}
    return [part for part, digest in code_version().items() if then.get(part) != digest]


def _digest(paths: list[pathlib.Path]) -> str:
    """Returns the digest of files, and of those in folders."""
    found = [it for path in paths for it in ([path] if path.is_file() else path.rglob("*.py"))]
    names = {path.relative_to(_ROOT).as_posix(): path for path in found}
    code = [
        [name, plain_code(names[name].read_text(encoding="utf-8"))]
        for name in sorted(names)
        if names[name].name != "__init__.py" and name not in WITHOUT_EFFECT
    ]
    return hashlib.sha256(json.dumps(code).encode()).hexdigest()[:12]


def plain_code(source: str) -> list[Any]:
    """Returns Python code as nested lists that hold what it does, and not how it is written.

    The text of `ast.dump` differs between versions of Python; empty fields, which later versions
    add, are left out here.
    """
    return _plain(ast.parse(source))


def _plain(node: object) -> Any:
    if isinstance(node, ast.AST):
        fields = {name: _plain(value) for name, value in ast.iter_fields(node) if name != "kind"}
        filled = {name: value for name, value in fields.items() if value not in ([], "None")}
        return [type(node).__name__, filled]
    if isinstance(node, list):
        return [_plain(it) for it in node if not _is_docstring(it)]
    return repr(node)


def _is_docstring(node: object) -> bool:
    """Returns whether a statement is a string alone, which does nothing wherever it stands."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
