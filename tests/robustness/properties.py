"""What must hold of every function: the same result from any container, and no surprise."""

from collections.abc import Iterable

import numpy as np
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
    case.check(arguments)
    kinds = [data.draw(st.sampled_from(sorted(containers))) for _ in arguments]
    held = [contained(one, kind) for one, kind in zip(arguments, kinds, strict=True)]
    expected = outcome(case.function, *arguments)
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
