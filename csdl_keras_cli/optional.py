"""Modules that only some installations have."""

import importlib
import importlib.util
from typing import Any


def check_installed(name: str, extra: str | None = None) -> None:
    """Raises if the package of a module is missing, and names the command that installs it."""
    top = name.partition(".")[0]
    if importlib.util.find_spec(top) is None:
        wanted = top if extra is None else f"'csdl_keras[{extra}]'"
        raise ModuleNotFoundError(
            f"Expected the module {name!r}, which is not installed: pip install {wanted}", name=top
        )


def optional_module(name: str, extra: str | None = None) -> Any:
    """Imports a module of an optional dependency, see `check_installed`."""
    check_installed(name, extra)
    return importlib.import_module(name)
