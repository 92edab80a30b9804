"""What a call comes to, a result or a refusal, and whether it is what is documented."""

import dataclasses
import inspect
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result, or the `ValueError`; any other exception, and any warning of NumPy, fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            return function(*arguments)
        except ValueError as error:
            assert str(error).startswith("Expected"), f"not a message of this package: {error}"
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
    if isinstance(first, tuple):
        assert len(first) == len(second)
        for one, other in zip(first, second, strict=True):
            assert_same(one, other, rtol, atol)
    elif isinstance(first, (str, types.NoneType)):
        assert first == second
    else:
        np.testing.assert_allclose(first, second, rtol=rtol, atol=atol)
        assert np.shape(first) == np.shape(second)


@dataclasses.dataclass(frozen=True)
class Case:
    """A function, how to call it rightly, and what its documentation says.

    Args:
        function: the function.
        arguments: from a generator and the number of classes to a tuple of arguments.
        documented: whether it takes these arguments.
        reference: its result by a literal loop; `None` where other tests have it, and
            then bounds are in `holds`.
        holds: whether a result may be one of these arguments.
        tolerance: of what computes in float32, absolute and relative.
    """

    function: Callable[..., Any]
    arguments: Callable[[np.random.Generator, int], tuple[Any, ...]]
    documented: Callable[..., bool]
    reference: Callable[..., Any] | None = None
    holds: Callable[..., bool] | None = None
    tolerance: float = 0.0

    def check(self, arguments: tuple[Any, ...]) -> None:
        """Calls the function: a result if and only if the documentation says so, and that one."""
        result = outcome(self.function, *arguments)
        refused = isinstance(result, ValueError)
        assert self.documented(*arguments) != refused, result
        if not refused and self.reference is not None:
            rtol = max(self.tolerance, 1e-9)
            assert_same(result, self.reference(*arguments), rtol, self.tolerance)
        if not refused and self.holds is not None:
            assert self.holds(result, *arguments)


def public_functions(module: types.ModuleType) -> set[str]:
    """Names of a module's public functions."""
    return {name for name in module.__all__ if inspect.isfunction(getattr(module, name))}
