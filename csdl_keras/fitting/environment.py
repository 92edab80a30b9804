"""Describes the settings of a process that change the results of training, and copies them.

These are environment variables, versions, and the global settings of Keras and its backend.
"""

import importlib
import json
import operator
import os
from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np

from csdl_keras._utils import __version__

#: Environment variables that change how backends and their libraries compute. Those of Keras
#: and JAX are missing because they are read at import and show in the settings.
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

#: Variables that `workers` sets for the processes that it starts; they do not affect this one.
set_for_workers: set[str] = set()

#: Functions that read and change a setting; `None` if it cannot be changed.
Setting = tuple[Callable[[], Any], Callable[[Any], None] | None]

#: Parts of the names of JAX's settings that change where and when it computes and what it
#: reports, but no numbers.
_NOT_NUMERICAL = (
    "cache debug device distributed dump guard log platform pprint serialization timeout "
    "traceback transfer"
).split()

#: Attributes of PyTorch's modules that change how it computes.
_TORCH_ATTRIBUTES = {
    "backends": ("fp32_precision",),
    "backends.cuda.matmul": (
        "allow_bf16_reduced_precision_reduction",
        "allow_fp16_accumulation",
        "allow_fp16_reduced_precision_reduction",
        "fp32_precision",
    ),
    "backends.cudnn": ("benchmark", "deterministic", "enabled", "fp32_precision"),
    "backends.cudnn.conv": ("fp32_precision",),
    "backends.cudnn.rnn": ("fp32_precision",),
    "backends.mkldnn": ("deterministic", "enabled", "fp32_precision"),
    "backends.mkldnn.conv": ("fp32_precision",),
    "backends.mkldnn.matmul": ("fp32_precision",),
    "backends.mkldnn.rnn": ("fp32_precision",),
    "backends.opt_einsum": ("enabled", "strategy"),
}


def environment() -> dict[str, Any]:
    """Describes the process as a dict that JSON can hold.

    The key of each stage contains it. The machine, its device, the number of processes and
    threads, and eager execution are left out: they change results by rounding only, so that
    different machines can share a folder.
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


def adopt(wanted: Mapping[str, Any]) -> None:
    """Changes the settings of this process to those of another one.

    Args:
        wanted: the `environment()` of the other process.

    Raises:
        ValueError: if a difference cannot be changed, such as the version of Keras.
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


def _plain(value: object) -> object:
    """Converts NumPy's numbers, members of enumerations and types to what JSON can hold."""
    if isinstance(value, np.generic):
        return value.item()
    return getattr(value, "value", None) or str(value)


def _difference(found: Any, wanted: object) -> str:
    if not isinstance(wanted, dict):
        return f"{found!r}, not {wanted!r}"
    names = [it for it in {**found, **wanted} if found.get(it) != wanted.get(it)]
    return ", ".join(f"{it} {found.get(it)!r}, not {wanted.get(it)!r}" for it in names)


def settings() -> dict[str, Setting]:
    """Returns the global settings of Keras and its backend that change results, by name."""
    of_backend = {"tensorflow": _tensorflow, "jax": _jax, "torch": _torch}
    backend = of_backend.get(keras.backend.backend())
    return {**_keras(), **({} if backend is None else backend())}


def _keras() -> dict[str, Setting]:
    config, policies = keras.config, keras.dtype_policies

    def set_flash_attention(value: bool | None) -> None:
        if value is False:
            config.disable_flash_attention()
        else:
            config.enable_flash_attention()

    def distribution() -> list[Any] | None:
        found = keras.distribution.distribution()
        return found and [type(found).__name__, list(found.device_mesh.shape)]

    return {
        "dtype_policy": (
            lambda: policies.serialize(config.dtype_policy()),
            lambda value: config.set_dtype_policy(policies.deserialize(value)),
        ),
        "epsilon": (config.epsilon, config.set_epsilon),
        "floatx": (config.floatx, config.set_floatx),
        "image_data_format": (config.image_data_format, config.set_image_data_format),
        "is_flash_attention_enabled": (config.is_flash_attention_enabled, set_flash_attention),
        "is_nnx_enabled": (config.is_nnx_enabled, None),
        "max_epochs": (config.max_epochs, config.set_max_epochs),
        "max_steps_per_epoch": (config.max_steps_per_epoch, config.set_max_steps_per_epoch),
        "distribution": (distribution, None),
    }


def _tensorflow() -> dict[str, Setting]:
    import tensorflow as tf
    from tensorflow.python.framework.config import is_op_determinism_enabled

    config, optimizer = tf.config.experimental, tf.config.optimizer
    strategy = tf.distribute.get_strategy()
    return {
        "op_determinism": (is_op_determinism_enabled, lambda _: config.enable_op_determinism()),
        "tensor_float_32": (
            config.tensor_float_32_execution_enabled,
            config.enable_tensor_float_32_execution,
        ),
        "jit": (optimizer.get_jit, optimizer.set_jit),
        "optimizer_options": (
            optimizer.get_experimental_options,
            optimizer.set_experimental_options,
        ),
        "strategy": (lambda: [type(strategy).__name__, strategy.num_replicas_in_sync], None),
    }


def _jax() -> dict[str, Setting]:
    import jax

    def setting(name: str) -> Setting:
        def get() -> Any:
            # Settings that contexts change are attributes; a few others are only in `values`.
            return getattr(jax.config, name, jax.config.values[name])

        return get, lambda value: jax.config.update(name, value)

    names = [it for it in jax.config.values if not any(part in it for part in _NOT_NUMERICAL)]
    return {name: setting(name) for name in names}


def _torch() -> dict[str, Setting]:
    import torch

    def attribute(module: str, name: str) -> Setting:
        owner = operator.attrgetter(module)(torch)
        return lambda: getattr(owner, name), lambda value: setattr(owner, name, value)

    def autocast(device: str) -> Setting:
        def put(value: tuple[bool, str]) -> None:
            torch.set_autocast_enabled(device, value[0])
            torch.set_autocast_dtype(device, getattr(torch, value[1].removeprefix("torch.")))

        return lambda: [torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)], put

    return {
        "deterministic_algorithms": (
            torch.get_deterministic_debug_mode,
            torch.set_deterministic_debug_mode,
        ),
        "float32_matmul_precision": (
            torch.get_float32_matmul_precision,
            torch.set_float32_matmul_precision,
        ),
        "default_dtype": (
            torch.get_default_dtype,
            lambda name: torch.set_default_dtype(getattr(torch, name.removeprefix("torch."))),
        ),
        **{f"{device}_autocast": autocast(device) for device in ("cpu", "cuda")},
        **{
            f"{module}.{name}": attribute(module, name)
            for module, names in _TORCH_ATTRIBUTES.items()
            for name in names
        },
    }
