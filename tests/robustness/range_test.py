"""`tuning.Range` with right and wrong arguments of every kind."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from csdl_keras.tuning import Range
from tests.robustness.documented import is_integer, is_number
from tests.robustness.outcome import outcome
from tests.robustness.spoiled import ENTRIES, JUNK, SCALARS


@settings(max_examples=200)
@given(data=st.data())
def test_range(data):
    ends = st.sampled_from(SCALARS + JUNK + ENTRIES) | st.floats(-9, 9) | st.integers(-9, 9)
    low, high, step = (data.draw(ends) for _ in range(3))
    sampling = data.draw(st.sampled_from(["linear", "log"]) | st.sampled_from(SCALARS))
    log = str(sampling) == "log"
    documented = (
        str(sampling) in ("linear", "log")
        and is_number(low, 0 if log else -np.inf, np.inf)
        and is_number(high, low, np.inf)
        and (step is None or is_number(step, 1 if log else 0, np.inf))
    )
    result = outcome(Range, low, high, step, sampling)
    assert isinstance(result, Range) == documented
    if documented:
        ends = (low, high) if step is None else (low, high, step)
        assert result.is_whole == all(is_integer(end, -np.inf) for end in ends)
