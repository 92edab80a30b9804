"""Tests of the share of right decisions."""

import keras
import numpy as np
import pytest

from csdl_keras.metrics import DecisionAccuracy
from tests.metrics.loops import BY_KIND, LABELS, ONE_COLUMN, OUTPUTS, decide
from tests.support.testing import TestCase, floatx, to_numpy

# The first and fifth rows have two cheapest decisions each.
COSTS = np.array([[0.0, 0, 2], [3, 0, 1], [2, 5, 2.5], [1, 5, 4], [7, 0, 0], [1, 2, 3], [4, 3, 4]])


def example_score(output="cost"):
    """Whether one decision is right, from a label or from costs."""

    def score(target, outputs):
        decision = decide(outputs, output)
        if np.ndim(target) == 0:
            return float(decision == target)
        return float(all(target[decision] <= cost for cost in target))

    return score


class TestDecisionAccuracy(TestCase):
    @pytest.mark.parametrize("targets", [LABELS, COSTS], ids=["labels", "costs"])
    @pytest.mark.parametrize("output", ["cost", "probability"])
    def test_contract(self, targets, output):
        make = lambda: DecisionAccuracy(output=output)  # noqa: E731
        outputs, activation = BY_KIND[output]
        self.run_metric_test(make, targets, outputs, example_score(output), activation)

    def test_contract_on_one_sigmoid_column(self):
        self.run_metric_test(
            lambda: DecisionAccuracy("probability"),
            LABELS % 2,
            ONE_COLUMN,
            example_score("probability"),
            activation="sigmoid",
        )

    @pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float32"])
    @pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
    def test_forms_of_labels(self, dtype, shape):
        score = example_score()
        expected = np.mean([score(y, r) for y, r in zip(LABELS, OUTPUTS, strict=True)])
        assert 0 < expected < 1
        value = DecisionAccuracy()(LABELS.astype(dtype).reshape(shape), OUTPUTS)
        self.assertAllClose(value, expected)

    def test_every_cheapest_decision_is_right(self):
        costs = np.array([[1.0, 1.0, 2.0]] * 3)
        self.assertAllClose(DecisionAccuracy()(costs, 1.0 - np.eye(3)), 2 / 3)

    def test_ties_take_the_lowest_index(self):
        for output, row in (("cost", [2.0, 1.0, 1.0]), ("probability", [0.2, 0.4, 0.4])):
            outputs = np.array([row])
            values = [float(DecisionAccuracy(output)(np.array([y]), outputs)) for y in range(3)]
            assert values == [0.0, 1.0, 0.0]

    def test_is_not_the_argmax_of_costs(self):
        labels, estimates = np.array([0, 1]), np.array([[0.0, 2.0], [2.0, 0.0]])
        self.assertAllClose(DecisionAccuracy()(labels, estimates), 1.0)
        self.assertAllClose(keras.metrics.SparseCategoricalAccuracy()(labels, estimates), 0.0)

    @pytest.mark.parametrize("targets", [LABELS, COSTS], ids=["labels", "costs"])
    @pytest.mark.parametrize("column", [0, 1, 2])
    def test_nan_prediction_gives_nan(self, targets, column):
        for output in ("cost", "probability"):
            outputs = BY_KIND[output][0].copy()
            outputs[3, column] = np.nan
            assert np.isnan(to_numpy(DecisionAccuracy(output)(targets, outputs)))

    def test_reset_state(self):
        metric = DecisionAccuracy()
        metric.update_state(np.array([1]), np.array([[0.0, 2.0]]))
        self.assertAllClose(metric.result(), 0.0)
        metric.reset_state()
        metric.update_state(np.array([0]), np.array([[0.0, 2.0]]))
        self.assertAllClose(metric.result(), 1.0)

    def test_evaluate_on_labels_in_a_column(self):
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3)])
        model.compile("sgd", loss=lambda _, outputs: outputs, metrics=[DecisionAccuracy()])
        logs = model.evaluate(OUTPUTS, LABELS[:, None], batch_size=3, verbose=0, return_dict=True)
        expected = DecisionAccuracy()(LABELS, model.predict(OUTPUTS, verbose=0))
        self.assertAllClose(logs["decision_accuracy"], float(expected))

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
    def test_16_bit_floatx(self, dtype):
        """Counts above 2048 and labels above 256 are beyond 16 bits."""
        labels = np.tile([3, 257, 999, 513], 1000)
        outputs = keras.ops.one_hot(labels[:1000], 1000, dtype=dtype)
        with floatx(dtype):
            metric = DecisionAccuracy("probability")
            assert metric.dtype == "float32"
            for shift in (0, 0, 0, 1):
                metric.update_state(labels[:1000] - shift, outputs)
        self.assertAllClose(metric.result(), 0.75)

    @pytest.mark.parametrize("output", ["costs", "logits", 0])
    def test_unknown_output(self, output):
        with pytest.raises(ValueError, match="`output`.*'cost', 'probability'"):
            DecisionAccuracy(output=output)

    def test_widths_differ(self):
        with pytest.raises(ValueError, match=r"\(7, 2\) and \(7, 3\).*integer labels or cost"):
            DecisionAccuracy().update_state(COSTS[:, :2], OUTPUTS)

    def test_outputs_of_one_dimension(self):
        with pytest.raises(ValueError, match=r"`y_pred` of shape .*received \(3,\)"):
            DecisionAccuracy().update_state(LABELS, OUTPUTS[0])
