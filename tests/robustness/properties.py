"""What must hold of every function: the same result from any container, and no surprise."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.robustness.containers import CONTAINERS, contained
from tests.robustness.outcome import Case, assert_same, outcome
from tests.robustness.spoiled import spoil, spoilings

seeds = st.integers(0, 2**32 - 1)


def check_containers(
    case: Case, data: st.DataObject, containers: Iterable[str] = CONTAINERS
) -> None:
    """Right arguments give the documented result, from whatever holds them."""
    arguments = case.arguments(
        np.random.default_rng(data.draw(seeds)), data.draw(st.integers(2, 5))
    )
    expected = case.check(arguments)
    kinds = [data.draw(st.sampled_from(sorted(containers))) for _ in arguments]
    held = [contained(one, kind) for one, kind in zip(arguments, kinds, strict=True)]
    result = outcome(case.function, *held)
    if isinstance(expected, ValueError):
        assert str(result) == str(expected)
    else:
        assert_same(result, expected, case.tolerance, case.tolerance)


def check_anything(case: Case, data: st.DataObject) -> None:
    """One argument of any kind: the documented result or the documented refusal."""
    rng = np.random.default_rng(data.draw(seeds))
    arguments = list(case.arguments(rng, data.draw(st.integers(2, 5))))
    which = data.draw(st.integers(0, len(arguments) - 1))
    arguments[which] = data.draw(spoil(arguments[which]))
    case.check(tuple(arguments))


def check_a_thousand_classes(case: Case) -> None:
    """Many classes in the containers that people keep tables in."""
    arguments = case.arguments(np.random.default_rng(0), 1000)
    expected = outcome(case.function, *arguments)
    for kind in ("Fortran order", "pandas, shuffled index", "polars"):
        result = outcome(case.function, *(contained(one, kind) for one in arguments))
        assert_same(result, expected, case.tolerance, case.tolerance)


def check_spoilings(case: Case) -> None:
    """Each argument as everything that it may be, one after the other."""
    arguments = case.arguments(np.random.default_rng(0), 3)
    for which in range(len(arguments)):
        for one in spoilings(arguments[which]):
            case.check((*arguments[:which], one, *arguments[which + 1 :]))


def check_arguments(case: Case, data: st.DataObject) -> None:
    """One of the two; of functions whose every call takes a backend a millisecond."""
    data.draw(st.sampled_from([check_containers, check_anything]))(case, data)


def is_wrong(case: Case, arguments: tuple[Any, ...], which: int, one: Any) -> bool:
    return not case.documented(*arguments[:which], one, *arguments[which + 1 :])


def check_wrong_arguments(case: Case, data: st.DataObject) -> None:
    """One argument that the documentation does not allow: the refusal, of what is slow to call."""
    arguments = case.arguments(np.random.default_rng(data.draw(seeds)), 3)
    which = data.draw(st.integers(0, len(arguments) - 1))
    wrong = spoil(arguments[which]).filter(lambda one: is_wrong(case, arguments, which, one))
    case.check((*arguments[:which], data.draw(wrong), *arguments[which + 1 :]))


def check_refusals(case: Case) -> None:
    """Each argument as everything that it may not be, one after the other."""
    arguments = case.arguments(np.random.default_rng(0), 3)
    for which in range(len(arguments)):
        for one in spoilings(arguments[which]):
            if is_wrong(case, arguments, which, one):
                case.check((*arguments[:which], one, *arguments[which + 1 :]))


def robustness_tests(cases: Mapping[str, Case]) -> type:
    """A class of tests: every case with everything that an argument may be."""

    @pytest.mark.parametrize("name", cases)
    class TestRobustness:
        @settings(max_examples=200)
        @given(data=st.data())
        def test_anything(self, name, data):
            check_anything(cases[name], data)

        def test_spoilings(self, name):
            check_spoilings(cases[name])

    return TestRobustness


def container_tests(
    cases: Mapping[str, Case], examples: int = 100, containers: Iterable[str] = CONTAINERS
) -> Callable[..., None]:
    """A test of right arguments in the containers that people keep them in."""

    @pytest.mark.parametrize("name", cases)
    @settings(max_examples=examples)
    @given(data=st.data())
    def test_containers(name, data):
        check_containers(cases[name], data, containers)

    return test_containers


def many_classes_tests(cases: Mapping[str, Case]) -> Callable[..., None]:
    """A test of 1,000 classes."""

    @pytest.mark.parametrize("name", cases)
    def test_a_thousand_classes(name):
        check_a_thousand_classes(cases[name])

    return test_a_thousand_classes
