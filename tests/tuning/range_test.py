"""What may be searched: ranges, and values to choose from."""

import keras_tuner
import numpy as np
import pytest

from csdl_keras._utils.checks import check_integer
from csdl_keras.tuning import Range
from csdl_keras.tuning.space import check_share, check_space, declare


def declared(space):
    hp = keras_tuner.HyperParameters()
    value = declare(hp, "name", space)
    return value, hp.space[0]


class TestSpace:
    def test_ranges(self):
        value, hp = declared(Range(0.01, 1.0, sampling="log"))
        assert (value, hp.min_value, hp.max_value, hp.sampling) == (0.01, 0.01, 1.0, "log")
        value, hp = declared(Range(1, 5, step=2))
        assert (value, hp.min_value, hp.max_value, hp.step) == (1, 1, 5, 2)
        assert isinstance(value, int)

    def test_mixed_numbers_to_choose_from(self):
        """KerasTuner takes no list of integers and floats together."""
        value, hp = declared(check_space("beta", (0, 0.25, np.float32(1)), check_share))
        assert list(hp.values) == [0.0, 0.25, 1.0] and isinstance(value, float)

    @pytest.mark.parametrize("space", [3, [3], np.array([3])])
    def test_one_value_is_fixed(self, space):
        value, hp = declared(check_space("depth", space, check_integer))
        assert value == 3 and type(value) is int and type(hp).__name__ == "Fixed"

    @pytest.mark.parametrize(
        "space,message",
        [
            ([], "a value to try; received"),
            ([0.5, 0.5], "each value once"),
            ([0.5, 2], "received 2"),
            (Range(0.5, 2), "received 2"),
            ("0.5", "received '0.5'"),
            (None, "received None"),
        ],
    )
    def test_refuses(self, space, message):
        with pytest.raises(ValueError, match=f"`beta`.*{message}"):
            check_space("beta", space, check_share)
