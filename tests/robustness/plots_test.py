"""Functions of `plots` with right and wrong arguments of every kind."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.robustness.outcome import outcome, public_functions
from tests.robustness.properties import container_tests, many_classes_tests, robustness_tests
from tests.robustness.spoiled import JUNK, SCALARS

plots = pytest.importorskip("csdl_keras.plots")

from tests.robustness.plots_cases import BLANK, CASES  # noqa: E402


def test_every_public_function_is_here():
    assert CASES.keys() == public_functions(plots)


TestRobustness = robustness_tests(CASES)
test_containers = container_tests(CASES, 50)
# Not a thousand betas, which float16 does not tell apart.
test_a_thousand_classes = many_classes_tests(
    {name: case for name, case in CASES.items() if name != "beta_curve"}
)


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
