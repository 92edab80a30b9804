"""Packages import from those of lower levels only, as the table in CONTRIBUTING.md says."""

import ast
import pathlib
import re

import pytest

from tests.support.fresh_process import REPOSITORY

PACKAGE = REPOSITORY / "csdl_keras"
TABLE = re.findall(
    r"^\| `(\w+)` \| (\d+) \|", (REPOSITORY / "CONTRIBUTING.md").read_text(), flags=re.MULTILINE
)
LEVELS = {package: int(level) for package, level in TABLE}
# The package itself and its version belong to no such package.
FILES = [
    it for it in sorted(PACKAGE.rglob("*.py")) if it.stem != "version" and it.parent != PACKAGE
]


def package_of(path: pathlib.Path) -> str:
    """The first folder below the package."""
    return path.relative_to(PACKAGE).parts[0]


def imported_packages(source: str) -> set[str]:
    """The packages that a file of the package imports from, wherever in the file."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole path"
            below = node.module == "csdl_keras"
            names |= {f"csdl_keras.{it.name}" for it in node.names} if below else {node.module}
    parts = [name.split(".") for name in names if f"{name}.".startswith("csdl_keras.")]
    return {part[1] if len(part) > 1 else "__init__" for part in parts}


def test_imported_packages():
    inside = (
        "import csdl_keras.costs.checks\ndef f():\n    from csdl_keras import layers\nimport os"
    )
    assert imported_packages(inside) == {"costs", "layers"}
    assert imported_packages("import csdl_keras") == {"__init__"}


def test_every_package_is_in_the_table():
    packages = {package_of(path) for path in FILES}
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "version"}
    assert packages | modules | {"csdl_keras_cli"} == set(LEVELS)
    assert len(TABLE) == len(LEVELS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_from_lower_levels(path):
    package = package_of(path)
    found = imported_packages(path.read_text()) - {package, "version"}
    assert {it for it in found if LEVELS.get(it, 99) >= LEVELS[package]} == set()
