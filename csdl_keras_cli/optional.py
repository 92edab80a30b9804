"""Optional dependencies."""

import importlib
import importlib.util
from typing import Any


def check_installed(name: str, extra: str | None = None) -> None:
    """Raises an error with the command that installs the package of a module, if it is missing."""
    top = name.partition(".")[0]
    if importlib.util.find_spec(top) is None:
        wanted = top if extra is None else f"'csdl_keras[{extra}]'"
        raise ModuleNotFoundError(f"{top} is not installed. Run: pip install {wanted}", name=top)


def optional_module(name: str, extra: str | None = None) -> Any:
    """Imports and returns a module of an optional dependency."""
    check_installed(name, extra)
    return importlib.import_module(name)
