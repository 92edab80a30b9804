"""Metrics with costs of each example that are known when deciding."""

import importlib

import keras
import numpy as np
import pytest

from csdl_keras.costs import AffineCosts
from csdl_keras.metrics import AverageCost, DecisionAccuracy, Savings
from tests.support.testing import TestCase, to_numpy

RNG = np.random.default_rng(0)
SIZE = 9
AMOUNT = RNG.uniform(1, 9, size=SIZE)
# Three classes and four decisions, of which the last is no class; right ones cost something.
AFFINE = AffineCosts(AMOUNT, 1 - np.eye(3, 4), RNG.uniform(0, 2, size=(3, 4)))
MATRICES = np.array([AFFINE.fixed + amount * AFFINE.per_unit for amount in AMOUNT])
SAME = np.hstack([5 * (1 - np.eye(3)), np.ones((3, 1))])
LABELS = RNG.integers(3, size=SIZE)
WEIGHTS = RNG.uniform(size=SIZE)
P = (RNG.multinomial(8, np.ones(3) / 3, size=SIZE) / 8).astype("float32")
ESTIMATED = RNG.normal(size=(SIZE, 4)).astype("float32")
MAKES = {
    "average_cost": lambda kind: AverageCost(output=kind),
    # The costs of a batch replace the metric's own.
    "average_cost_replaced": lambda kind: AverageCost(SAME + 1 - np.eye(3, 4), output=kind),
    "savings": lambda kind: Savings(num_decisions=4, output=kind),
    "accuracy": lambda kind: DecisionAccuracy(output=kind),
}
FORMS = {
    "matrices": (MATRICES, MATRICES),
    "affine": (AFFINE, MATRICES),
    "matrix": (SAME, np.tile(SAME, (SIZE, 1, 1))),
}


def decided(outputs, matrices, kind):
    rows = np.asarray(outputs, "float64")
    if kind == "probability":
        rows = [row @ matrix for row, matrix in zip(rows, matrices, strict=True)]
    return [min(range(4), key=row.__getitem__) for row in rows]


def expected(make, decisions, matrices, weights):
    """The result of a metric, by loops."""
    weights = np.ones(SIZE) if weights is None else weights
    if make == "accuracy":
        return np.average(np.array(decisions) == LABELS, weights=weights)
    rows = np.array([matrices[n][LABELS[n]] for n in range(SIZE)])
    paid = sum(weights[n] * rows[n][d] for n, d in enumerate(decisions))
    constant = min(sum(weights[n] * rows[n][k] for n in range(SIZE)) for k in range(4))
    return 1 - paid / constant if make == "savings" else paid / sum(weights)


def part_of(costs, part):
    return costs if costs is SAME else costs[part]


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["probability", "cost"])
class TestKnownCosts(TestCase):
    def test_values(self, make, form, kind):
        costs, matrices = FORMS[form]
        outputs = P if kind == "probability" else ESTIMATED
        decisions = decided(outputs, matrices, kind)
        metric = self.run_config_round_trip(MAKES[make](kind))
        for part in (slice(0, 4), slice(4, None)):
            metric.update_state(LABELS[part], outputs[part], costs=part_of(costs, part))
        self.assertAllClose(metric.result(), expected(make, decisions, matrices, None))
        metric.reset_state()
        metric.update_state(LABELS[:, None], outputs, WEIGHTS, costs=costs)
        self.assertAllClose(metric.result(), expected(make, decisions, matrices, WEIGHTS))


class TestForms(TestCase):
    def test_tensors_inside_a_compiled_step(self):
        """As in a loop of one's own, with the functions that do not keep state."""
        compiler = {"tensorflow": ("tensorflow", "function"), "jax": ("jax", "jit")}
        module, name = compiler.get(keras.backend.backend(), ("builtins", "staticmethod"))
        compiled = getattr(importlib.import_module(module), name)
        tensors = [keras.ops.convert_to_tensor(one) for one in (LABELS, P, MATRICES.astype("f4"))]
        wrong = keras.ops.convert_to_tensor(np.where(np.arange(SIZE) == 5, 3, LABELS))
        for make in MAKES:
            metric = MAKES[make]("probability")

            def step(variables, labels, outputs, costs, metric=metric):
                return metric.stateless_update_state(variables, labels, outputs, costs=costs)

            start = [variable.value for variable in metric.variables]
            step = compiled(step)
            found = metric.stateless_result(step(start, *tensors))
            decisions = decided(P, MATRICES, "probability")
            self.assertAllClose(found, expected(make, decisions, MATRICES, None))
            found = metric.stateless_result(step(start, wrong, *tensors[1:]))
            assert np.isnan(to_numpy(found))

    def test_class_id_and_nan(self):
        metric = AverageCost(SAME, output="probability", class_id=1)
        metric.update_state(LABELS, P, costs=MATRICES)
        decisions = decided(P, MATRICES, "probability")
        of_class = [MATRICES[n][1][decisions[n]] for n in np.flatnonzero(LABELS == 1)]
        self.assertAllClose(metric.result(), np.mean(of_class))
        missing = P.copy()
        missing[2] = np.nan
        metric = AverageCost(output="probability")
        metric.update_state(LABELS, keras.ops.convert_to_tensor(missing), costs=MATRICES)
        assert np.isnan(to_numpy(metric.result()))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"costs": MATRICES[:4]}, "a matrix for each of 9 examples"),
        ({"costs": MATRICES[:, :, :2]}, "of 4 decisions"),
        ({"y_true": MATRICES[:, 0]}, "`labels`|labels of shape"),
    ],
)
def test_refused(changes, message):
    given = {"y_true": LABELS, "y_pred": P, "costs": MATRICES} | changes
    metric = Savings(num_decisions=4, output="probability")
    with pytest.raises(ValueError, match=message):
        metric.update_state(**given)
    assert float(metric.total) == 0.0
