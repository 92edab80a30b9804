"""Modules that only some installations have."""

import importlib
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
        raise ModuleNotFoundError(
            f"Expected the module {name!r}, which is not installed: "
            f"pip install 'csdl_keras[{extra}]'",
            name=error.name,
        ) from error
