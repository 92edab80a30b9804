"""The contract of every loss: values, reductions, weights, 16 bits, configs, names and `fit`."""

import contextlib
import functools
from collections.abc import Callable
from typing import NamedTuple

import keras
import numpy as np
import pytest

from csdl_keras import losses
from csdl_keras.losses.base import CostLoss
from csdl_keras.models import labelled_costs
from tests.support import loss_loops as loops
from tests.support.eager import eager_models
from tests.support.testing import (
    JIT_COMPILE,
    MIXED_POLICIES,
    TestCase,
    dtype_policy,
    floatx,
    to_numpy,
)

RNG = np.random.default_rng(0)
# Another class costs nothing in the second row.
C = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 0.0], [3.0, 6.0, 0.0]])
PRIORS = np.array([0.2, 0.7, 0.1])
LABELS = np.array([0, 2, 1, 2, 0])
# The third row ties all decisions, the fourth is cheapest at more than zero.
COSTS = np.array([[0.0, 1, 2], [3, 0, 0], [2, 2, 2], [1, 5, 4], [7, 0.5, 0]])
OUTPUTS = np.float32([[0.5, 1.5, 1], [3, 0, -1], [2, 1, 3], [0, 0, 0], [-2, 4, 0.25]])
SHARES = RNG.dirichlet(np.ones(3), size=5).astype("float32")
LOGS = RNG.normal(size=(5, 3, 4)).astype("float32")
LOGS[:, 0, 0] = -np.inf
INPUTS = RNG.uniform(size=(5, 2, 3, 2)).astype("float32")
INPUTS[0], INPUTS[1] = 0.0, 1.0


class Case(NamedTuple):
    """A loss by its `reduction`, arguments, the value of each example, and a fitting activation."""

    make: Callable[..., keras.losses.Loss]
    y_true: np.ndarray
    y_pred: np.ndarray
    values: Callable[[np.ndarray, np.ndarray], np.ndarray]
    activation: str | None = None


def of_labels(loss, outputs, values, activation=None, **kwargs):
    """A loss with a cost matrix; `values` takes cost vectors."""
    make = functools.partial(loss, C, **kwargs)
    return Case(make, LABELS, outputs, lambda y, r: values(C[y], r), activation)


def of_class(labels, outputs):
    return loops.minimized(C[labels], outputs, PRIORS, np.eye(3)[labels])


CASES = {
    "sosr": Case(losses.SOSRLoss, COSTS, OUTPUTS, loops.smooth),
    "sosr_labels": of_labels(
        losses.SOSRLoss, OUTPUTS, lambda c, r: loops.smooth(c, r, 2.0), alpha=2.0
    ),
    "one_sided": Case(losses.OneSidedLoss, COSTS, OUTPUTS, loops.one_sided),
    "min": Case(losses.MINLoss, COSTS, SHARES, loops.minimized, "softmax"),
    "min_labels": Case(
        functools.partial(losses.MINLoss, C, PRIORS), LABELS, SHARES, of_class, "softmax"
    ),
    "poisson": Case(losses.PoissonCostLoss, COSTS, OUTPUTS, loops.poisson),
    "poisson_labels": of_labels(
        losses.PoissonCostLoss, OUTPUTS, lambda c, u: loops.poisson(c / 2, u), cost_scale=0.5
    ),
    "logistic": Case(losses.LogisticCostLoss, COSTS / 7, OUTPUTS, loops.logistic),
    "observed": Case(
        losses.ObservedCostLoss,
        labelled_costs(LABELS, RNG.uniform(size=(5, 4)))["class_costs"],
        LOGS,
        loops.observed,
    ),
    "squared": Case(losses.SquaredErrorLoss, INPUTS - 0.5, 2 * INPUTS[::-1], loops.squared),
    "reconstruction": Case(
        losses.ReconstructionLoss,
        INPUTS[:, 0],
        RNG.uniform(0.1, 0.9, size=(5, 3, 2)).astype("float32"),
        loops.reconstructed,
        "sigmoid",
    ),
    "reconstruction_logits": Case(
        functools.partial(losses.ReconstructionLoss, from_logits=True),
        INPUTS,
        RNG.normal(scale=3, size=INPUTS.shape).astype("float32"),
        functools.partial(loops.reconstructed, from_logits=True),
    ),
}


def dense(case, shape):
    """The same loss where each pixel, or time, has the target and outputs of some example."""
    targets, outputs = RNG.integers(5, size=(2, *shape))

    def values(y, r):
        rows = [one.reshape(-1, *like.shape[1:]) for one, like in ((y, case.y_true), (r, OUTPUTS))]
        return case.values(*rows).reshape(shape)

    return case._replace(y_true=case.y_true[targets], y_pred=case.y_pred[outputs], values=values)


OF_COSTS = [name for name in CASES if issubclass(type(CASES[name].make()), CostLoss)]
CASES |= {
    f"{name}_dense": dense(CASES[name], (5, 2, 3) if "labels" in name else (5, 4))
    for name in OF_COSTS
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
class TestContract(TestCase):
    def test_values(self, case):
        values = case.values(case.y_true, case.y_pred)
        weights = np.arange(5) / 2.0
        weighted = (values.T * weights).T
        for reduction, reduce in ((None, np.asarray), ("sum", np.sum)):
            loss = self.run_config_round_trip(case.make(reduction=reduction))
            self.assertAllClose(loss(case.y_true, case.y_pred, weights), reduce(weighted))
        self.assertAllClose(case.make()(case.y_true, case.y_pred), values.mean())

    def test_16_bits(self, case):
        """Outputs of 16 bits give what the same, rounded numbers give in float64."""
        for dtype in ("float16", "bfloat16"):
            outputs = keras.ops.cast(case.y_pred, dtype)
            expected = case.values(case.y_true, to_numpy(outputs)).mean()
            with floatx(dtype):
                loss = case.make()
            assert loss.dtype == "float32"
            self.assertAllClose(loss(case.y_true, outputs), expected)

    def test_name(self, case):
        """Without a number that depends on what was made before."""
        names = {losses.SOSRLoss: "sosr_loss", losses.MINLoss: "min_loss"}
        first, second = case.make(), case.make()
        assert first.name == second.name == names.get(type(first), first.name)
        assert self.run_config_round_trip(case.make(name="mine")).name == "mine"


#: One of each class, and one of pixels.
FITTED = """sosr_labels one_sided min_labels poisson_labels logistic observed squared
reconstruction_logits sosr_labels_dense""".split()


class TestFit(TestCase):
    @pytest.mark.parametrize("policy", ["float32", *MIXED_POLICIES])
    def test_all(self, policy):
        """A model of an output for each loss; one policy is compiled, the others are for types."""
        cases = {name: case for name, case in CASES.items() if name in FITTED}
        x = {name: np.maximum(case.y_pred, -9.0) for name, case in cases.items()}
        targets = {name: case.y_true for name, case in cases.items()}
        eagerly = contextlib.nullcontext() if policy == "float32" else eager_models()
        with dtype_policy(policy), eagerly:
            ends = {name: keras.Input(values.shape[1:], name=name) for name, values in x.items()}
            outputs = {
                name: keras.layers.Dense(x[name].shape[-1], case.activation)(ends[name])
                for name, case in cases.items()
            }
            model = keras.Model(ends, outputs)
            # A loss scale may overflow in the first step, which is then skipped.
            made = {name: case.make() for name, case in cases.items()}
            model.compile("sgd", made, jit_compile=JIT_COMPILE, auto_scale_loss=False)
            found = model(x)
            before = [np.array(weight) for weight in model.get_weights()]
            logs = model.fit(x, targets, batch_size=5, verbose=0).history
            self.assertFinite(model.get_weights())
            for name, case in cases.items():
                expected = case.values(case.y_true, to_numpy(found[name])).mean()
                rtol = 1e-4 if policy == "float32" else 0.02
                self.assertAllClose(np.array(logs[f"{name}_loss"]), [expected], rtol=rtol)
            for weight, old in zip(model.get_weights(), before, strict=True):
                assert np.any(weight != old)
