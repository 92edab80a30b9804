"""Modules that only some installations have."""

import importlib
import importlib.util
from typing import Any

# Packages whose name is not that of their module.
_PACKAGES = {
    "PIL": "pillow",
    "keras_tuner": "keras-tuner",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "tensorflow_datasets": "tensorflow-datasets",
}


def optional_module(name: str, extra: str | None = None) -> Any:
    """Imports a module of an optional dependency, or names the command that installs it.

    `extra` is the extra of this package that does; `None` (default) for those that come with it or
    are a backend.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or name
        top = missing.partition(".")[0]
        # It may be there itself, and what it imports be missing.
        raise _missing(name if name.partition(".")[0] == top else missing, extra) from error


def check_installed(name: str, extra: str | None = None) -> None:
    """Raises as `optional_module` does, for a package that another process will import."""
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:  # of a package that it is in, or of a finder that hides it
        found = None
    if found is None:
        raise _missing(name, extra)


def _missing(name: str, extra: str | None) -> ModuleNotFoundError:
    top = name.partition(".")[0]
    package = _PACKAGES.get(top, top)
    command = f"pip install {package}" if extra is None else f"pip install 'csdl_keras[{extra}]'"
    return ModuleNotFoundError(
        f"Expected the module {name!r} of the package {package}, which is not installed: {command}",
        name=top,
    )
