"""Tables of public functions: right arguments, and the wrong ones that they are to refuse."""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars
import pytest

from tests.robustness.containers import contained
from tests.robustness.outcome import assert_same, outcome
from tests.robustness.spoiled import masked


@dataclasses.dataclass(frozen=True)
class Row:
    """A public function or class, how to call it rightly, and what it documents to refuse.

    Args:
        function: the function or class, whose arguments are all listed in `right` or `free`.
        right: from a generator and the number of classes to right keyword arguments.
        errors: changed arguments, and a regular expression of the message.
        also: changed arguments that are right, too.
        free: arguments that Keras or scikit-learn check, or that take anything.
        call: calls it and returns what can be compared. Defaults to the function itself.
        containers: kinds of containers that hold right arguments as well.
        tolerance: absolute and relative tolerance of results that are computed in float32.
    """

    function: Callable[..., Any]
    right: Callable[[np.random.Generator, int], dict[str, Any]]
    errors: tuple[tuple[dict[str, Any], str], ...] = ()
    also: tuple[dict[str, Any], ...] = ()
    free: tuple[str, ...] = ()
    call: Callable[..., Any] | None = None
    tolerance: float = 0.0
    containers: tuple[str, ...] = ("list", "polars", "pandas, shuffled index")

    def outcome(self, **arguments: Any) -> Any:
        return outcome(self.call or self.function, **arguments)

    @property
    def parameters(self) -> set[str]:
        """Names of all arguments, of the function and of what calls it."""
        both = [inspect.signature(one) for one in (self.function, self.call) if one is not None]
        found = [one for signature in both for one in signature.parameters.values()]
        return {one.name for one in found if one.kind is not one.VAR_KEYWORD}

    def arguments(self, num_classes: int = 3) -> dict[str, Any]:
        return self.right(np.random.default_rng(0), num_classes)


def named(**wrong: list[Any]) -> tuple[tuple[dict[str, Any], str], ...]:
    """Returns errors of which the message says the argument's name, with each wrong value."""
    return tuple(({name: one}, f"`{name}`") for name, values in wrong.items() for one in values)


def wrong_kinds(value: Any) -> list[Any]:
    """What nothing that takes `value` may take."""
    kinds: list[Any] = [object()]
    if isinstance(value, np.ndarray):
        kinds += ["ab", [[1], [1, 2]], masked(value), polars.Series(["x", "y"])]
    elif isinstance(value, bool):
        kinds += [1, "True", None]
    elif isinstance(value, int):
        kinds += [-7, 2.5, "2"]
    elif isinstance(value, float):
        kinds += [np.nan, "0.5", [0.5]]
    elif isinstance(value, (list, tuple)):
        kinds += [3, "ab"]
    elif isinstance(value, str):
        kinds.append(3)
    return kinds


def table_tests(rows: Mapping[str, Row], large: bool = True) -> type:
    """Returns a class of the tests that every row has to pass; `large` adds 1,000 classes."""
    listed = [(name, *error) for name, row in rows.items() for error in row.errors]
    held = [(name, 3, kind) for name in rows for kind in rows[name].containers]
    if large:
        held += [(name, 1000, kind) for name in rows for kind in ("polars", "Fortran order")]

    class TestTable:
        @pytest.mark.parametrize("name", rows)
        def test_each_argument_is_checked(self, name):
            row, right = rows[name], rows[name].arguments()
            assert {*right, *row.free} == row.parameters - {"classes"}  # of any type
            for argument, value in right.items():
                for wrong in wrong_kinds(value):
                    result = row.outcome(**right | {argument: wrong})
                    assert isinstance(result, ValueError), (argument, wrong)

        @pytest.mark.parametrize(("name", "changes", "message"), listed)
        def test_documented_errors(self, name, changes, message):
            result = rows[name].outcome(**rows[name].arguments() | changes)
            with pytest.raises(ValueError, match=message):
                raise result

        @pytest.mark.parametrize("name", [name for name in rows if rows[name].also])
        def test_other_right_arguments(self, name):
            for changes in rows[name].also:
                result = rows[name].outcome(**rows[name].arguments() | changes)
                assert not isinstance(result, ValueError), (changes, result)

        @pytest.mark.parametrize(("name", "num_classes", "kind"), held)
        def test_containers(self, name, num_classes, kind):
            row, right = rows[name], rows[name].arguments(num_classes)
            held = {argument: contained(value, kind) for argument, value in right.items()}
            assert_same(row.outcome(**held), row.outcome(**right), row.tolerance, row.tolerance)

    return TestTable


def names_of(rows: Mapping[str, Row]) -> set[str]:
    """The names of the functions, without what follows a comma in the names of rows."""
    return {name.partition(",")[0] for name in rows}
