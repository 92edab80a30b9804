"""Keeps functions out of what PyTorch compiles."""

from collections.abc import Callable
from typing import Any, TypeVar

import keras

Function = TypeVar("Function", bound=Callable[..., Any])


def uncompiled(function: Function) -> Function:
    """Makes `torch.compile` call a function that it cannot trace, without a warning."""
    if keras.backend.backend() != "torch":
        return function
    import torch

    return torch.compiler.disable(function)
