"""Digests of the code that results depend on."""

import ast
import hashlib
import json
import re

import pytest

from csdl_keras.experiments.code_version import (
    PARTS,
    WITHOUT_EFFECT,
    changed_parts,
    code_version,
    plain_code,
)
from tests.support.fresh_process import REPOSITORY

PACKAGE = REPOSITORY / "csdl_keras"

CODE = '''
"""A module."""

import os as system

@staticmethod
def weigh(x: float, *rest, scale=1e-3, **more) -> str:
    """A function."""
    total = sum((it * scale for it in rest), start=x)
    match more:
        case {"unit": unit, **others}:
            return f"{total!r:>{len(others)}} " f"{unit} per {system.sep} {'a'}"
    return "none" if total is None else f"{total:.3f}"
'''

SAME = [
    CODE.replace('"""A function."""', '"""Another text."""'),
    CODE.replace('    """A function."""\n', ""),
    CODE.replace("    total =", "    # Why.\n    total ="),
    CODE.replace("(x: float, *rest", "(\n    x: float,\n    *rest"),
    CODE.replace("**more)", "**more,\n)"),
    CODE.replace("scale=1e-3", "scale=0.001").replace('"none"', "'none'"),
]
OTHER = [
    CODE.replace("1e-3", "1e-2"),
    CODE.replace(".3f", ".2f"),
    CODE.replace("it * scale", "it / scale"),
    CODE.replace('    return "none"', '            return "none"'),
    CODE.replace("is None", "is not None"),
    CODE.replace("@staticmethod\n", ""),
]


def digest(code):
    return hashlib.sha256(json.dumps(plain_code(code)).encode()).hexdigest()[:12]


@pytest.mark.parametrize("code", SAME)
def test_how_code_is_written_changes_nothing(code):
    assert code != CODE and plain_code(code) == plain_code(CODE)


@pytest.mark.parametrize("code", OTHER)
def test_what_code_does_changes_it(code):
    assert plain_code(code) != plain_code(CODE)


def test_an_empty_body_is_no_missing_statement():
    assert plain_code("def f():\n    'a'\n") != plain_code("'a'\n")
    assert plain_code("f(a, None)") != plain_code("f(a)")
    assert plain_code("{**a}") != plain_code("{}")


def test_every_version_of_python_finds_the_same():
    assert digest(CODE) == "73567952e34d"


def test_every_room_is_in_a_part_or_changes_no_result():
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    listed = {path for paths in PARTS.values() for path in paths}
    assert rooms - listed == {"experiments", "plots", "sklearn", "tuning"}
    assert all((PACKAGE / path).exists() for path in (*listed, *WITHOUT_EFFECT))


def test_files_that_are_left_out_only_import():
    """A digest leaves out `__init__.py`."""
    for path in PACKAGE.rglob("*/__init__.py"):
        kinds = (ast.Import, ast.ImportFrom, ast.Assign, ast.Expr)
        assert all(isinstance(it, kinds) for it in ast.parse(path.read_text()).body), path


def test_changed_parts():
    version = code_version()
    assert all(re.fullmatch("[0-9a-f]{12}", it) for it in version.values())
    assert len(set(version.values())) == len(PARTS)
    assert changed_parts(version) == []
    assert changed_parts({**version, "training": "0"}) == ["training"]
    assert changed_parts(None) == list(PARTS)
