"""The state of the process on which the numbers of a training depend, beside its arguments."""

import importlib
import json
import os
import threading
import time
from typing import Any

import keras
import numpy as np

from csdl_keras._utils import __version__
from csdl_keras.fitting.global_settings import settings

#: Environment variables that change how backends and their libraries compute. Those of Keras
#: and JAX are not among them: they are read at import, and found in the settings.
VARIABLES = (
    "ATEN_CPU_CAPABILITY",
    "CUBLAS_WORKSPACE_CONFIG",
    "DNNL_DEFAULT_FPMATH_MODE",
    "DNNL_MAX_CPU_ISA",
    "LIBTPU_INIT_ARGS",
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "NVIDIA_TF32_OVERRIDE",
    "ONEDNN_DEFAULT_FPMATH_MODE",
    "ONEDNN_MAX_CPU_ISA",
    "OPENBLAS_CORETYPE",
    "TF_CUDNN_DETERMINISTIC",
    "TF_CUDNN_USE_AUTOTUNE",
    "TF_DETERMINISTIC_OPS",
    "TF_DISABLE_CUBLAS_TENSOR_OP_MATH",
    "TF_DISABLE_CUDNN_TENSOR_OP_MATH",
    "TF_ENABLE_AUTO_MIXED_PRECISION",
    "TF_ENABLE_ONEDNN_OPTS",
    "TF_ENABLE_WINOGRAD_NONFUSED",
    "TF_SET_ONEDNN_FPMATH_MODE",
    "TF_XLA_FLAGS",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "XLA_FLAGS",
)


_SECONDS_BETWEEN_LOOKS = 0.5

#: Those that `workers` has set for the processes that it starts; this one computes without them.
set_for_workers: set[str] = set()


def environment() -> dict[str, Any]:
    """Describes the process: versions, environment variables, settings of Keras and the backend.

    Every key of a stage holds it. Left out are the machine, its device, the number of processes
    and threads, and whether functions run eagerly, which change no more than rounding: so
    machines can share a folder.

    Returns:
        A dict of names and values, fit for JSON.
    """
    backend = keras.backend.backend()
    names = [it for it in VARIABLES if it in os.environ and it not in set_for_workers]
    found = {
        "backend": backend,
        "versions": {
            "csdl_keras": __version__,
            "keras": keras.__version__,
            "numpy": np.__version__,
            backend: importlib.import_module(backend).__version__,
        },
        "variables": {name: os.environ[name] for name in names},
        "settings": {name: get() for name, (get, _) in settings().items()},
    }
    return json.loads(json.dumps(found, default=_plain))


def adopt(wanted: dict[str, Any]) -> None:
    """Makes a process compute as another one, whose `environment()` is given.

    Raises:
        ValueError: if it cannot, such as with another version of Keras.
    """
    if environment() == wanted:
        return
    if environment()["backend"] == wanted["backend"]:
        for name in VARIABLES:
            os.environ.pop(name, None)
        os.environ.update(wanted["variables"])
        before = environment()["settings"]
        for name, (_, put) in settings().items():
            value = wanted["settings"].get(name)
            if put is not None and value != before[name]:
                put(value)
    found = environment()
    for part, value in wanted.items():
        if found[part] != value:
            raise ValueError(
                "Expected processes that compute like the one that sends them work; received one "
                f"with the {part} {_difference(found[part], value)}."
            )


def end_with(parent: int) -> None:
    """Ends this process soon after `parent`, the process that started it, has ended.

    A signal may end the parent at once, so that it cannot stop its workers. They would go on
    training beside those of the same command when it is run again.
    """

    def watch() -> None:
        # A process whose parent has ended gets another one.
        while os.getppid() == parent:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, name="end with parent", daemon=True).start()


def _plain(value: Any) -> Any:
    """A value of a type that JSON does not know as one that it does."""
    if hasattr(value, "item"):  # a number of NumPy
        return value.item()
    return getattr(value, "value", None) or str(value)  # of an enumeration, or a type


def _difference(found: Any, wanted: Any) -> str:
    if not isinstance(wanted, dict):
        return f"{found!r}, not {wanted!r}"
    names = [it for it in {**found, **wanted} if found.get(it) != wanted.get(it)]
    return ", ".join(f"{it} {found.get(it)!r}, not {wanted.get(it)!r}" for it in names)
