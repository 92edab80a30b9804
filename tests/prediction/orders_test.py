"""What makes a model of another's parts, in every order, does each thing once or is refused."""

import dataclasses
import itertools
import random
from collections.abc import Callable

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.models import (
    bayes_classifier,
    decision_model,
    ensemble,
    expected_cost_model,
    serving_model,
    view_average,
)
from csdl_keras.prediction.bayes_classifier import probability_model
from csdl_keras.prediction.calibrate import fit_scaling
from tests.support.testing import to_numpy

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
PRICES = np.array([[0.0, 30.0, 1.0], [0.5, 0.0, 6.0], [2.0, 2.0, 0.0]])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 3, 3, 1)).astype("float32")
Y = np.arange(12) % 3
TRAINED = (0.2, 0.3, 0.5)
#: Class frequencies of successive adjustments.
LATER = ((0.6, 0.3, 0.1), (0.3, 0.1, 0.6), (0.1, 0.8, 0.1), (0.25, 0.5, 0.25))
#: Costs of each example, for models that take them beside the inputs.
KNOWN = RNG.uniform(1, 9, (12, 3, 3)).astype("float32")

Function = Callable[[np.ndarray], np.ndarray]


@dataclasses.dataclass
class Reference:
    """A model in NumPy, as functions of images."""

    rows: Function  # class probabilities
    costs: Function | None = None  # by class `(N, K, D)`, or `None` of a classifier
    takes: bool = False  # whether costs are an input
    mean: Function | None = None  # expected costs, where they follow from no probabilities
    frequencies: tuple[float, ...] = TRAINED  # under which its probabilities are right

    def __call__(self, x):
        if self.mean is not None:
            return self.mean(x)
        if self.costs is None:
            return self.rows(x)
        return np.stack([p @ c for p, c in zip(self.rows(x), self.costs(x), strict=True)])


def normalised(rows):
    return rows / rows.sum(axis=1, keepdims=True)


def softmax(logits):
    return normalised(np.exp(logits - logits.max(axis=1, keepdims=True)))


def classifier(seed, kind="softmax"):
    rng = np.random.default_rng(seed)
    kernel, bias = rng.normal(size=(9, 3)).astype("float32"), rng.normal(size=3).astype("float32")
    inputs = keras.Input((3, 3, 1))
    dense = keras.layers.Dense(3, "softmax")
    flat = keras.layers.Flatten()(inputs)
    model = keras.Model(inputs, dense(flat), name=f"network_{seed}")
    dense.set_weights([kernel, bias])

    def logits(x):
        return x.reshape(len(x), -1).astype("float64") @ kernel + bias

    found = Reference(lambda x: softmax(logits(x)))
    if kind == "cost model":
        body = keras.Model(inputs, keras.layers.Dense(4, "tanh", name=f"body_{seed}")(flat))
        model = expected_cost_model(body, MATRIX + 0.1, seed=seed)
        outputs = keras.Model(
            model.input, [model.output[it] for it in ("probability", "class_costs")]
        )

        def part(index):
            return lambda x: to_numpy(outputs(x)[index]).astype("float64")

        return model.cost_model(), Reference(part(0), lambda x: np.exp(part(1)(x)))
    return model, found


def shifted(x):
    """The images and their shifts by a pixel, with the edge repeated."""
    padded = np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)], mode="edge")
    places = [(1, 1), (0, 1), (2, 1), (1, 0), (1, 2)]
    return [padded[:, i : i + 3, j : j + 3] for i, j in places]


class Chain:
    """A model, `"softmax"` or `"cost model"`, and its reference."""

    def __init__(self, kind, seed=0, steps=()):
        self.kind, self.steps = kind, []
        self.model, self.reference = classifier(seed, kind)
        for step in steps:
            self.take(step)

    def take(self, step):
        getattr(self, step)()
        self.steps.append(step)

    def inputs(self, x=X):
        return [x, KNOWN[: len(x)]] if self.reference.takes else x

    def adjust(self):
        old, rows = self.reference.frequencies, self.reference.rows
        new = LATER[self.steps.count("adjust")]
        self.model = csdl.adjust_priors(self.model, old, new)
        weights = np.array(new) / np.array(old)
        self.replace(rows=lambda x: normalised(rows(x) * weights), frequencies=new)

    def calibrate(self, method="matrix"):
        self.model = csdl.calibrate(self.model, X, Y, method)
        rows = self.reference.rows
        matrix, bias = fit_scaling(rows(X), Y, method)
        least = 1e-4 if method == "matrix" else 0.0
        self.replace(rows=lambda x: softmax(np.log(np.maximum(rows(x), least)) @ matrix + bias))

    def bias(self):
        self.calibrate("bias_corrected")

    def bayes(self):
        self.model = bayes_classifier(self.model, MATRIX)
        self.replace(costs=lambda x: np.broadcast_to(MATRIX, (len(x), 3, 3)))

    def cost_input(self):
        self.model = bayes_classifier(self.model, cost_input=True)
        self.replace(costs=lambda x: KNOWN[: len(x)], takes=True)

    def set_matrix(self):
        self.model.set_cost_matrix(PRICES)
        self.replace(costs=lambda x: np.broadcast_to(PRICES, (len(x), 3, 3)))

    def views(self):
        self.model = view_average(self.model)
        rows, costs = self.reference.rows, self.reference.costs
        self.replace(rows=lambda x: np.mean([rows(it) for it in shifted(x)], axis=0))
        if costs is not None:  # of a cost model, whose logarithms of costs are averaged
            self.replace(
                costs=lambda x: np.exp(np.mean([np.log(costs(it)) for it in shifted(x)], axis=0))
            )

    def mean(self):
        other = Chain(self.kind, 1, self.steps)
        self.model = ensemble([self.model, other.model])
        one, two = self.reference, other.reference
        rows = lambda x: (one.rows(x) + two.rows(x)) / 2  # noqa: E731
        if self.kind == "cost model":
            self.replace(mean=lambda x: (one(x) + two(x)) / 2)
        self.replace(rows=rows)

    def wrap(self):
        inputs = keras.Input((3, 3, 1))
        self.model = keras.Model(inputs, self.model(inputs), name=f"{self.model.name}_wrapped")

    def save(self):
        self.model.save(self.path)
        self.model = keras.saving.load_model(self.path)

    def replace(self, **changes):
        self.reference = dataclasses.replace(self.reference, **changes)

    def check(self):
        """Compares what it outputs, decides and serves; calls are faster than `predict`."""
        expected, given = self.reference(X), self.inputs()
        kind = "probability" if self.reference.costs is None else "cost"
        decisions = (expected if kind == "cost" else -expected).argmin(axis=1).tolist()
        assert csdl.output_kind(self.model) == kind
        np.testing.assert_allclose(to_numpy(self.model(given)), expected, rtol=2e-4, atol=2e-5)
        assert to_numpy(decision_model(self.model)(given)).tolist() == decisions
        named = {"inputs": X, "cost_matrix": KNOWN} if self.reference.takes else X
        served = serving_model(self.model)(named)
        assert to_numpy(served["decision"]).tolist() == decisions
        costs = expected if kind == "cost" else 1 - expected
        np.testing.assert_allclose(to_numpy(served["costs"]), costs, rtol=2e-4, atol=2e-5)
        if self.reference.mean is None:  # the probabilities by which other costs decide
            found = to_numpy(probability_model(self.model)(X))
            np.testing.assert_allclose(found, self.reference.rows(X), rtol=2e-4, atol=2e-5)


STEPS = ("adjust", "calibrate", "bias", "bayes", "cost_input", "set_matrix")
STEPS += ("views", "mean", "wrap", "save")
SLOW = [pytest.param(*it, marks=pytest.mark.slow) for it in ((2, 100), (3, 100))]


def is_refused(kind, before, step):
    """Tells whether a step makes no sense after others."""
    priced = "bayes" in before or "cost_input" in before
    if step in ("bayes", "cost_input"):
        return priced or kind == "cost model"
    if step == "set_matrix":  # A model around another is one of Keras', until it is changed again.
        changed = before[::-1].index("wrap") if "wrap" in before else len(before)
        again = {"adjust", "calibrate", "bias", "mean"} & {*before[len(before) - changed :]}
        return "bayes" not in before or ("wrap" in before and not again)
    if step == "views":
        return priced or (kind == "cost model" and "mean" in before)
    if step in ("mean", "wrap"):
        return "cost_input" in before
    return step != "save" and kind == "cost model" and "mean" in before


@pytest.mark.parametrize("kind", ["softmax", "cost model"])
@pytest.mark.parametrize(("length", "most"), [(2, 20), *SLOW])
def test_any_order(kind, length, most, tmp_path, monkeypatch, tried):
    """Some orders of two steps; all of two and some of three where time is no matter."""
    monkeypatch.setattr(Chain, "path", tmp_path / "model.keras", raising=False)
    orders = list(itertools.product(STEPS, repeat=length))
    for steps in random.Random(0).sample(orders, min(most, len(orders))):
        chain = Chain(kind)
        for number, step in enumerate(steps):
            if is_refused(kind, steps[:number], step):
                with pytest.raises((ValueError, AttributeError)):
                    chain.take(step)
                break
            chain.take(step)
        else:
            chain.check()
        tried("orders of steps from model to model", 1)


@pytest.mark.parametrize("change", ["adjust", "calibrate", "views"])
def test_a_model_of_parts_of_another_loads(change, tmp_path, monkeypatch):
    """Keras loads no file of nested models that share layers."""
    monkeypatch.setattr(Chain, "path", tmp_path / "model.keras", raising=False)
    Chain("cost model", steps=("wrap", change, "save")).check()


@pytest.mark.parametrize("activation", ["sigmoid", "layer", None])
@pytest.mark.parametrize(
    "change",
    [
        lambda model, x, y, **logits: csdl.calibrate(model, x, y, "bias_corrected", **logits),
        lambda model, x, y, **logits: csdl.adjust_priors(model, [1, 1], [1e6, 1], **logits),
    ],
)
def test_one_unit_before_and_behind_costs(activation, change):
    """A logit of 20 is a probability of 1 in float32, whether it is priced already or not."""
    logits = {"from_logits": True} if activation is None else {}
    unit = keras.layers.Dense(1, "sigmoid" if activation == "sigmoid" else None)
    ends = [keras.layers.Activation("sigmoid")] if activation == "layer" else []
    model = keras.Sequential([keras.Input((1,)), unit, *ends])
    unit.set_weights([np.ones((1, 1)), np.zeros(1)])
    x = np.linspace(-40, 40, 41)[:, None]
    y = (np.random.default_rng(0).uniform(size=41) < 1 / (1 + np.exp(-x[:, 0] / 15))).astype(int)
    costs = [[0, 1], [5, 0]]
    first = bayes_classifier(change(model, x, y, **logits), costs)
    last = change(bayes_classifier(model, costs, **logits), x, y)
    np.testing.assert_allclose(
        first.predict(x, verbose=0), last.predict(x, verbose=0), rtol=1e-4, atol=1e-6
    )
