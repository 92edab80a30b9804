"""What a call comes to, a result or a refusal, and whether two results are the same."""

import dataclasses
import inspect
import traceback
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np


def outcome(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """The result, or the `ValueError`; any other exception, and any warning of NumPy, fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            return function(*arguments, **named)
        except ValueError as error:
            *_, frame = traceback.extract_tb(error.__traceback__)
            own = "csdl_keras" in frame.filename or str(error).startswith("Expected")
            assert own, f"not a message of this package: {error}"
            return error


def assert_same(first: Any, second: Any, rtol: float = 0.0, atol: float = 0.0) -> None:
    """Same kind of result, and the same numbers, NaN included."""
    if isinstance(first, ValueError):
        raise AssertionError("a refusal is not a result") from first
    if dataclasses.is_dataclass(first):
        assert type(first) is type(second)
        first, second = vars(first), vars(second)
    if isinstance(first, dict):
        assert first.keys() == second.keys()
        first, second = tuple(first.values()), tuple(second.values())
    if isinstance(first, (tuple, list)):
        assert len(first) == len(second)
        for one, other in zip(first, second, strict=True):
            assert_same(one, other, rtol, atol)
    elif isinstance(first, (str, types.NoneType)):
        assert first == second
    else:
        np.testing.assert_allclose(first, second, rtol=rtol, atol=atol)
        assert np.shape(first) == np.shape(second)


def public_functions(module: types.ModuleType) -> set[str]:
    """Names of a module's public functions."""
    return {name for name in module.__all__ if inspect.isfunction(getattr(module, name))}
