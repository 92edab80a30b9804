"""Modules that only some installations have."""

import importlib
import importlib.util
from typing import Any


def optional_module(name: str, extra: str) -> Any:
    """Imports a module of an optional dependency.

    Args:
        name: the module, such as `"sklearn.model_selection"`.
        extra: the extra of this package that installs it.

    Raises:
        ModuleNotFoundError: with the command that installs it.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise _missing(name, extra, error.name) from error


def check_installed(name: str, extra: str) -> None:
    """Raises as `optional_module` does, for a package that another process will import."""
    if importlib.util.find_spec(name) is None:
        raise _missing(name, extra, name)


def _missing(name: str, extra: str, package: str | None) -> ModuleNotFoundError:
    return ModuleNotFoundError(
        f"Expected the module {name!r}, which is not installed: pip install 'csdl_keras[{extra}]'",
        name=package,
    )
