"""Global settings of Keras and its backend that change the numbers of a training."""

from collections.abc import Callable
from typing import Any

import keras

#: How a setting is read, and how it is set; `None` where a process cannot change it.
Setting = tuple[Callable[[], Any], Callable[[Any], None] | None]


#: Parts of the names of JAX's settings that say where and when it computes and what it tells.
_NOT_NUMERICAL = (
    "cache",
    "debug",
    "device",
    "distributed",
    "dump",
    "guard",
    "log",
    "platform",
    "pprint",
    "serialization",
    "timeout",
    "traceback",
    "transfer",
)


#: Attributes of the module `torch` that change how it computes.
_TORCH_ATTRIBUTES = (
    "backends.cuda.matmul.allow_bf16_reduced_precision_reduction",
    "backends.cuda.matmul.allow_fp16_accumulation",
    "backends.cuda.matmul.allow_fp16_reduced_precision_reduction",
    "backends.cuda.matmul.fp32_precision",
    "backends.cudnn.benchmark",
    "backends.cudnn.conv.fp32_precision",
    "backends.cudnn.deterministic",
    "backends.cudnn.enabled",
    "backends.cudnn.fp32_precision",
    "backends.cudnn.rnn.fp32_precision",
    "backends.fp32_precision",
    "backends.mkldnn.conv.fp32_precision",
    "backends.mkldnn.deterministic",
    "backends.mkldnn.enabled",
    "backends.mkldnn.fp32_precision",
    "backends.mkldnn.matmul.fp32_precision",
    "backends.mkldnn.rnn.fp32_precision",
    "backends.opt_einsum.enabled",
    "backends.opt_einsum.strategy",
)


def settings() -> dict[str, Setting]:
    """The global settings of Keras and its backend that change results, by name."""
    of_backend = {"tensorflow": _tensorflow, "jax": _jax, "torch": _torch}
    backend = of_backend.get(keras.backend.backend())
    return {**_keras(), **({} if backend is None else backend())}


def _keras() -> dict[str, Setting]:
    config = keras.config
    return {
        "dtype_policy": (_dtype_policy, _set_dtype_policy),
        "epsilon": (config.epsilon, config.set_epsilon),
        "floatx": (config.floatx, config.set_floatx),
        "image_data_format": (config.image_data_format, config.set_image_data_format),
        "is_flash_attention_enabled": (config.is_flash_attention_enabled, _set_flash_attention),
        "is_nnx_enabled": (config.is_nnx_enabled, None),
        "max_epochs": (config.max_epochs, config.set_max_epochs),
        "max_steps_per_epoch": (config.max_steps_per_epoch, config.set_max_steps_per_epoch),
        "distribution": (_distribution, None),
    }


def _dtype_policy() -> dict[str, Any]:
    return keras.dtype_policies.serialize(keras.config.dtype_policy())


def _set_dtype_policy(value: dict[str, Any]) -> None:
    keras.config.set_dtype_policy(keras.dtype_policies.deserialize(value))


def _set_flash_attention(value: bool | None) -> None:
    if value is False:
        keras.config.disable_flash_attention()
    else:
        keras.config.enable_flash_attention()


def _distribution() -> list[Any] | None:
    distribution = keras.distribution.distribution()
    return distribution and [type(distribution).__name__, list(distribution.device_mesh.shape)]


def _tensorflow() -> dict[str, Setting]:
    import tensorflow as tf
    from tensorflow.python.framework.config import is_op_determinism_enabled

    config, strategy = tf.config, tf.distribute.get_strategy()
    options = config.optimizer.get_experimental_options
    return {
        "op_determinism": (
            is_op_determinism_enabled,
            lambda _: config.experimental.enable_op_determinism(),
        ),
        "tensor_float_32": (
            config.experimental.tensor_float_32_execution_enabled,
            config.experimental.enable_tensor_float_32_execution,
        ),
        "jit": (config.optimizer.get_jit, config.optimizer.set_jit),
        "optimizer_options": (options, config.optimizer.set_experimental_options),
        "strategy": (lambda: [type(strategy).__name__, strategy.num_replicas_in_sync], None),
    }


def _jax() -> dict[str, Setting]:
    import jax

    def get(name: str) -> Any:
        # What a context of JAX sets is an attribute; a few settings without contexts are not.
        return getattr(jax.config, name) if hasattr(jax.config, name) else jax.config.values[name]

    def setting(name: str) -> Setting:
        return lambda: get(name), lambda value: jax.config.update(name, value)

    names = [it for it in jax.config.values if not any(part in it for part in _NOT_NUMERICAL)]
    return {name: setting(name) for name in names}


def _torch() -> dict[str, Setting]:
    import torch

    def attribute(path: str) -> Setting:
        *modules, name = path.split(".")
        owner = torch
        for module in modules:
            owner = getattr(owner, module)
        return lambda: getattr(owner, name), lambda value: setattr(owner, name, value)

    def autocast(device: str) -> Setting:
        def put(value: list[Any]) -> None:
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
        **{path: attribute(path) for path in _TORCH_ATTRIBUTES},
    }
