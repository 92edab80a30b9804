"""The contract of every metric: values, weights, resets, 16 bits, NaN, configs and `evaluate`."""

from collections.abc import Callable
from typing import NamedTuple

import keras
import numpy as np
import pytest

from csdl_keras.metrics import AverageCost, DecisionAccuracy, NormalizedCost, Savings
from tests.support.testing import JIT_COMPILE, TestCase, floatx, to_numpy

C = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 4.0], [3.0, 6.0, 0.0]])
ABSTAIN = np.hstack([C, np.full((3, 1), 0.75)])
LABELS = np.array([0, 2, 1, 2, 0, 1, 1])
# The first and fifth rows have two cheapest decisions each.
COSTS = np.array([[0.0, 0, 2], [3, 0, 1], [2, 5, 2.5], [1, 5, 4], [7, 0, 0], [1, 2, 3], [4, 3, 4]])
# The second row ties two decisions, the third all.
OUTPUTS = np.array(
    [[1, 2, 3], [2, 1, 1], [4, 4, 4], [0.5, -1, 0], [3, 2, 1], [0, 0, 1], [9, 8, 9]], "float32"
)
# The second row ties two decisions as well, the sixth the first two.
P = np.array([[1, 2, 5], [4, 2, 2], [2, 3, 3], [0, 0, 8], [3, 4, 1], [4, 4, 0], [2, 2, 4]]) / 8
P = P.astype("float32")
ONE = np.array([[0.25], [0.75], [0.5], [1.0], [0.0], [0.625], [0.375]], "float32")


def two(outputs):
    """Probabilities of both classes, where outputs are one column."""
    outputs = np.asarray(outputs, "float64")
    return np.hstack([1 - outputs, outputs]) if outputs.shape[1] == 1 else outputs


def by_cost(outputs):
    """The lowest index of the smallest cost of each example."""
    return [min(range(len(row)), key=lambda k: row[k]) for row in outputs]


def by_probability(outputs):
    return by_cost(-two(outputs))


def by_bayes(matrix):
    return lambda outputs: by_cost(two(outputs) @ matrix)


def average(table, counted=slice(None)):
    """The average entry of decisions in a table `(N, D)`, over the examples that are `counted`."""

    def function(decided, weights):
        values = table[np.arange(7), decided][counted]
        return np.average(values, weights=None if weights is None else weights[counted])

    return function


def relative(costs):
    """The same relative to the best constant decision."""

    def function(decided, weights):
        best = min(np.average(costs[:, k], weights=weights) for k in range(costs.shape[1]))
        return average(costs)(decided, weights) / best

    return function


def savings(decided, weights):
    return 1 - relative(C[LABELS])(decided, weights)


def images(rows):
    """Two images of 7 x 1 pixels: all examples, and all of them backwards."""
    return np.stack([rows, rows[::-1]])[:, :, None]


class Case(NamedTuple):
    """A metric, arguments, the decision for outputs, and the score of decisions with weights."""

    make: Callable[[], keras.metrics.Metric]
    y_true: np.ndarray
    y_pred: np.ndarray
    decide: Callable[[np.ndarray], list[int]]
    score: Callable[[list[int], np.ndarray | None], float]


TWO, BINARY, PAID = LABELS % 2, C[:2, :2], average(C[LABELS])
LABEL_IS, CHEAPEST = np.eye(3)[LABELS], COSTS <= COSTS.min(axis=1, keepdims=True)
WIDE = np.hstack([OUTPUTS, OUTPUTS[::-1, 1:2]])


def probability(metric, *args, **kwargs):
    return lambda: metric(*args, output="probability", **kwargs)


CASES = {
    "cost": Case(AverageCost, COSTS, OUTPUTS, by_cost, average(COSTS)),
    "cost_labels": Case(lambda: AverageCost(C), LABELS, OUTPUTS, by_cost, PAID),
    "cost_labels_p": Case(probability(AverageCost, C), LABELS, P, by_probability, PAID),
    "cost_one": Case(
        probability(AverageCost, BINARY), TWO, ONE, by_probability, average(BINARY[TWO])
    ),
    "cost_abstain": Case(
        lambda: AverageCost(ABSTAIN), LABELS, WIDE, by_cost, average(ABSTAIN[LABELS])
    ),
    "bayes": Case(
        probability(AverageCost, ABSTAIN, bayes=True),
        LABELS,
        P,
        by_bayes(ABSTAIN),
        average(ABSTAIN[LABELS]),
    ),
    "class_1": Case(
        lambda: AverageCost(C, class_id=1),
        LABELS,
        OUTPUTS,
        by_cost,
        average(C[LABELS], LABELS == 1),
    ),
    "accuracy": Case(DecisionAccuracy, LABELS, OUTPUTS, by_cost, average(LABEL_IS)),
    "accuracy_costs": Case(DecisionAccuracy, COSTS, OUTPUTS, by_cost, average(CHEAPEST)),
    "normalized_costs": Case(
        lambda: NormalizedCost(num_decisions=3), COSTS, OUTPUTS, by_cost, relative(COSTS)
    ),
    "normalized_bayes": Case(
        probability(NormalizedCost, C, bayes=True), LABELS, P, by_bayes(C), relative(C[LABELS])
    ),
    "savings": Case(lambda: Savings(C), LABELS, OUTPUTS, by_cost, savings),
}
EVALUATED = {name: CASES[name] for name in ("cost_one", "bayes", "class_1", "accuracy", "savings")}
NAMES = {
    AverageCost: "average_cost",
    DecisionAccuracy: "decision_accuracy",
    NormalizedCost: "normalized_cost",
    Savings: "savings",
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
class TestContract(TestCase):
    def test_values(self, case):
        decided = case.decide(case.y_pred)
        weights = np.arange(7) / 2.0
        metric = self.run_config_round_trip(case.make())
        assert metric.name == NAMES[type(metric)]
        for part in (slice(0, 3), slice(3, None)):
            metric.update_state(case.y_true[part], case.y_pred[part])
        self.assertAllClose(metric.result(), case.score(decided, None))
        metric.reset_state()
        targets = case.y_true[:, None] if case.y_true.ndim == 1 else case.y_true
        metric.update_state(targets, case.y_pred, sample_weight=weights[:, None])
        self.assertAllClose(metric.result(), case.score(decided, weights))

    def test_pixels(self, case):
        """Each counts as an example, also in images of weight 0 and of other sizes."""
        decided, weights = case.decide(case.y_pred), np.arange(7) / 2.0
        y_true, y_pred, pixels = (images(it) for it in (case.y_true, case.y_pred, weights))
        metric = case.make()
        metric.update_state(y_true[:, :1], y_pred[:, :1])
        metric.update_state(y_true[:, 1:], y_pred[:, 1:])
        metric.update_state(y_true[:, 2:4], y_pred[:, 2:4], np.zeros(2))
        self.assertAllClose(metric.result(), case.score(decided, None))
        for given in (pixels, pixels[..., None], keras.ops.convert_to_tensor(pixels)):
            metric.reset_state()
            metric.update_state(y_true, y_pred, sample_weight=given)
            self.assertAllClose(metric.result(), case.score(decided, weights))

    def test_16_bits(self, case):
        for dtype in ("float16", "bfloat16"):
            outputs = keras.ops.cast(case.y_pred, dtype)
            expected = case.score(case.decide(to_numpy(outputs)), None)
            with floatx(dtype):
                metric = case.make()
            assert metric.dtype == "float32"
            self.assertAllClose(metric(case.y_true, outputs), expected)

    def test_nan_output_gives_nan(self, case):
        for column in range(case.y_pred.shape[1]):
            outputs = case.y_pred.copy()
            outputs[2, column] = np.nan
            assert np.isnan(to_numpy(case.make()(case.y_true, outputs)))


class TestAllAtOnce(TestCase):
    def test_forms_of_labels(self):
        column, tensor = LABELS[:, None].astype("float32"), keras.ops.convert_to_tensor(LABELS)
        for case in (CASES["cost_labels"], CASES["accuracy"], CASES["savings"]):
            expected = case.score(case.decide(OUTPUTS), None)
            for labels in (LABELS.astype("uint8"), column.tolist(), column, tensor):
                self.assertAllClose(case.make()(labels, OUTPUTS), expected)

    def test_evaluate(self):
        """One compiled model with an output for each metric, and an uneven last batch."""
        ends, outputs = {}, {}
        for name, case in EVALUATED.items():
            size = case.y_pred.shape[1]
            kind = case.make().kind
            activation = None if kind is None else "sigmoid" if size == 1 else "softmax"
            ends[name] = keras.Input((size,), name=name)
            outputs[name] = keras.layers.Dense(size, activation)(ends[name])
        model = keras.Model(ends, outputs)
        loss = dict.fromkeys(EVALUATED, lambda _, outputs: outputs)
        metrics = {name: case.make() for name, case in EVALUATED.items()}
        model.compile(loss=loss, metrics=metrics, jit_compile=JIT_COMPILE)
        x, y = ({name: it[i] for name, it in EVALUATED.items()} for i in (2, 1))
        logs = model.evaluate(x, y, batch_size=2, verbose=0, return_dict=True)
        found = model(x)
        for name, case in EVALUATED.items():
            expected = case.score(case.decide(to_numpy(found[name])), None)
            self.assertAllClose(logs[f"{name}_{NAMES[type(case.make())]}"], expected)

    def test_masked_times_do_not_count(self):
        inputs = keras.Input((4,), dtype="int32")
        embedded = keras.layers.Embedding(5, 3, mask_zero=True)(inputs)
        model = keras.Model(inputs, keras.layers.Dense(3)(embedded))
        metrics = [AverageCost(C), DecisionAccuracy(), Savings(C)]
        model.compile(loss="mse", metrics=metrics, run_eagerly=True)
        words = np.array([[1, 2, 0, 0], [3, 0, 0, 0]])
        labels = np.array([[0, 1, 2, 2], [1, 2, 2, 2]])
        targets = labels[..., None] * np.ones(1)
        logs = model.evaluate(words, targets, verbose=0, return_dict=True)
        outputs = to_numpy(model(words))[words > 0]
        for metric in metrics:
            metric.reset_state()
            self.assertAllClose(logs[metric.name], metric(labels[words > 0], outputs))
