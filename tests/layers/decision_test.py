import keras
import numpy as np
import pytest

from csdl_keras.layers import Decision
from tests.support.testing import TestCase, dtype_policy, to_numpy

NAN = float("nan")
INF = float("inf")


def decided(output: str, rows: list) -> list[int]:
    return to_numpy(Decision(output)(np.array(rows, "float32"))).tolist()


class TestDecision(TestCase):
    @pytest.mark.parametrize("output", ["cost", "probability"])
    def test_contract(self, output):
        x = np.random.default_rng(0).uniform(size=(5, 4)).astype("float32")
        outputs = self.run_layer_test(lambda: Decision(output), x, (5,))
        assert keras.backend.standardize_dtype(outputs.dtype) == "int32"

    def test_defaults_to_cost(self):
        assert Decision().get_config()["output"] == "cost"

    def test_lowest_cost_and_highest_probability(self):
        rows = [[0.5, 0.2, 0.3], [0.1, 0.2, 0.7], [0.3, 0.6, 0.1]]
        assert decided("cost", rows) == [1, 0, 2]
        assert decided("probability", rows) == [0, 2, 1]

    def test_lowest_index_wins_ties_of_costs(self):
        rows = {
            (2.0, 1.0, 1.0): 1,
            (0.0, 0.0, 0.0): 0,
            (0.0, -0.0, 1.0): 0,
            (INF, INF, INF): 0,
            (1.0, -INF, -INF): 1,
            (INF, 3.0, 3.0): 1,
        }
        assert decided("cost", list(rows)) == list(rows.values())

    def test_lowest_index_wins_ties_of_probabilities(self):
        rows = {(0.2, 0.4, 0.4): 1, (0.5, 0.0, 0.5): 0, (0.0, 0.0, 0.0): 0, (0.1, 0.1, 0.8): 2}
        assert decided("probability", list(rows)) == list(rows.values())

    @pytest.mark.parametrize("output", ["cost", "probability"])
    def test_nan_gives_minus_one_in_its_row_alone(self, output):
        rows = [[NAN, 1.0, 0.0], [0.4, 0.2, 0.4], [0.0, 1.0, NAN], [NAN, NAN, NAN]]
        middle = 1 if output == "cost" else 0
        assert decided(output, rows) == [-1, middle, -1, -1]

    def test_one_column_of_probabilities(self):
        rows = [[0.0], [0.49], [0.5], [0.51], [1.0], [NAN]]
        assert decided("probability", rows) == [0, 0, 0, 1, 1, -1]

    def test_neighbours_of_one_half(self):
        half = np.float32(0.5)
        below, above = np.nextafter(half, np.float32(0)), np.nextafter(half, np.float32(1))
        assert decided("probability", [[below], [above]]) == [0, 1]

    @pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16", "float64"])
    def test_tells_close_float32_costs_apart_under_any_policy(self, policy):
        x = np.array([[1.0001, 1.0], [1.0, 1.0001]], "float32")
        with dtype_policy(policy):
            assert to_numpy(Decision("cost")(x)).tolist() == [1, 0]

    def test_many_columns(self):
        x = np.random.default_rng(0).normal(size=(3, 3000)).astype("float32")
        np.testing.assert_array_equal(to_numpy(Decision("cost")(x)), x.argmin(axis=1))

    @pytest.mark.parametrize("output", [None, "costs", "", 0])
    def test_wrong_output(self, output):
        with pytest.raises(ValueError, match="`output`"):
            Decision(output)
