"""Functions of `plots` with right and wrong arguments of every kind."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.robustness.outcome import outcome, public_functions
from tests.robustness.properties import (
    check_a_thousand_classes,
    check_anything,
    check_containers,
    check_spoilings,
)
from tests.robustness.spoiled import JUNK, SCALARS

plots = pytest.importorskip("csdl_keras.plots")

from tests.robustness.plots_cases import BLANK, CASES  # noqa: E402


def test_every_public_function_is_here():
    assert CASES.keys() == public_functions(plots)


@pytest.mark.parametrize("name", CASES)
class TestRobustness:
    @settings(max_examples=50)
    @given(data=st.data())
    def test_containers(self, name, data):
        check_containers(CASES[name], data)

    @settings(max_examples=200)
    @given(data=st.data())
    def test_anything(self, name, data):
        check_anything(CASES[name], data)

    def test_spoilings(self, name):
        check_spoilings(CASES[name])

    def test_a_thousand_classes(self, name):
        if name != "beta_curve":  # no more betas than float16 tells apart
            check_a_thousand_classes(CASES[name])


class TestOtherArguments:
    @settings(max_examples=200)
    @given(data=st.data())
    def test_names(self, data):
        table = np.ones((2, 3)) - np.eye(2, 3)
        named = st.lists(st.text(max_size=3), max_size=4) | st.sampled_from(SCALARS + JUNK)
        for which, size in (("class_names", 2), ("decision_names", 3)):
            names = data.draw(named)
            result = outcome(
                lambda names: plots.cost_matrix_heatmap(table, ax=BLANK, **names), {which: names}
            )
            right = np.iterable(names) and not isinstance(names, str) and len(list(names)) == size
            assert isinstance(result, ValueError) != (names is None or right)

    def test_names_without_end(self):
        with pytest.raises(ValueError, match="`class_names` to be 2 names; received more"):
            plots.cost_matrix_heatmap([[0, 1], [1, 0]], itertools.count())

    @pytest.mark.parametrize("name", CASES)
    def test_axes(self, name):
        arguments = CASES[name].arguments(np.random.default_rng(0), 2)
        arguments = arguments[: 2 if name == "beta_curve" else 3]
        for wrong in SCALARS + JUNK:
            if wrong is not None:
                result = outcome(lambda ax: getattr(plots, name)(*arguments, ax=ax), wrong)
                assert "`ax`" in str(result)
