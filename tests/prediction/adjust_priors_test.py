import keras
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keras import layers

import csdl_keras as csdl
from csdl_keras import adjust_priors, bayes_classifier, calibrate, decide, output_kind
from csdl_keras.layers import PriorAdjustment
from csdl_keras.models import BayesClassifier, ensemble, expected_cost_model
from csdl_keras.prediction.probability_model import probability_model
from tests.support.fresh_process import run_python
from tests.support.small_models import functional, inputs, nested
from tests.support.testing import TestCase, dtype_policy
from tests.support.trainers import SETTINGS

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
X = inputs(40)
LABELS = np.arange(40) % 3
TRAINED, USED, LATER = [0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [5, 1, 2]


def softmax():
    return functional([layers.Dense(3, "softmax")])


def loop(probabilities, from_priors, to_priors):
    """The equation, example by example."""
    found = np.zeros(np.shape(probabilities))
    for n, row in enumerate(np.asarray(probabilities, "float64")):
        weights = [
            p * (to / sum(to_priors)) / (old / sum(from_priors))
            for p, old, to in zip(row, from_priors, to_priors, strict=True)
        ]
        found[n] = np.array(weights) / sum(weights)
    return found


def saved(model, path):
    model.save(path)
    return keras.saving.load_model(path)


def wrapped(model, path):
    data = keras.Input((3,))
    return keras.Model(data, model(data))


def of_two(model, path):
    keras.utils.set_random_seed(1)
    other = keras.models.clone_model(model)
    other.set_weights(model.get_weights())
    return ensemble([model, other])


#: What may be done to a model between two adjustments of its frequencies.
BETWEEN = {
    "calibrate": lambda model, _: calibrate(model, X, LABELS),
    "calibrate with biases": lambda model, _: calibrate(model, X, LABELS, "bias_corrected"),
    "calibrate twice": lambda model, _: calibrate(calibrate(model, X, LABELS), X, LABELS),
    "calibrate and save": lambda model, path: saved(calibrate(model, X, LABELS), path),
    "ensemble": of_two,
    "ensemble and calibrate": lambda model, path: calibrate(of_two(model, path), X, LABELS),
    "calibrate and ensemble": lambda model, path: of_two(calibrate(model, X, LABELS), path),
    "another model": wrapped,
    "another model and calibrate": lambda model, path: calibrate(wrapped(model, path), X, LABELS),
    "save": saved,
}


class TestProbabilities(TestCase):
    @pytest.mark.parametrize("to_priors", [USED, LATER, [0.0, 1.0, 1.0]])
    def test_equals_a_loop(self, to_priors):
        rows = np.random.default_rng(0).dirichlet([0.5] * 3, 30)
        found = adjust_priors(rows, TRAINED, to_priors)
        self.assertAllClose(found, loop(rows, TRAINED, to_priors), atol=1e-12)

    def test_of_class_1(self):
        p = np.array([0.0, 0.2, 1.0])
        expected = loop(np.stack([1 - p, p], axis=1), [1, 1], [9, 1])
        for given_as in (p, p[:, None], p.tolist()):
            self.assertAllClose(adjust_priors(given_as, [1, 1], [9, 1]), expected)

    def test_subsampled_negatives(self):
        """A posterior that is computed from densities, under both frequencies."""
        x = np.linspace(-3, 5, 50)
        densities = np.exp(-0.5 * np.stack([x, x - 2], axis=1) ** 2)
        balanced, rare = (
            (d := densities * np.array(p)) / d.sum(axis=1, keepdims=True)
            for p in ([0.5, 0.5], [0.99, 0.01])
        )
        self.assertAllClose(adjust_priors(balanced, [500, 500], [0.99, 0.01]), rare, atol=1e-12)

    @given(st.lists(st.floats(0.001, 1.0), min_size=9, max_size=9))
    def test_two_steps_are_one_and_the_way_back_is_none(self, numbers):
        first, second, third = np.reshape(numbers, (3, 3))
        rows = np.random.default_rng(0).dirichlet(np.ones(3), 5)
        step = adjust_priors(rows, first, second)
        twice, once = adjust_priors(step, second, third), adjust_priors(rows, first, third)
        np.testing.assert_allclose(twice, once, atol=1e-9)
        np.testing.assert_allclose(adjust_priors(step, second, first), rows, atol=1e-9)

    def test_extreme_frequencies_and_probabilities(self):
        rows = [[1.0, 0.0, 0.0], [0.0, 1e-300, 1.0]]
        for before, after in (([1e-320, 1, 1], [1, 1, 1]), ([1, 1e300, 1e300], [0, 1, 3])):
            found = adjust_priors(rows, before, after)
            assert np.isfinite(found).all()
            self.assertAllClose(found.sum(axis=1), np.ones(2))
        # All probability is on a class that does not occur: the others are as likely as before.
        self.assertAllClose(adjust_priors(rows, [1, 1, 1], [0, 1, 3])[0], [0, 0.25, 0.75])


class TestModels(TestCase):
    @pytest.mark.parametrize("build", [functional, nested])
    def test_a_classifier(self, build):
        model = build([layers.Dense(3, "softmax")])
        before = model.predict(X, verbose=0)
        adjusted = adjust_priors(model, TRAINED, USED)
        assert output_kind(adjusted) == "probability"
        expected = loop(before, TRAINED, USED)
        self.assertAllClose(adjusted.predict(X, verbose=0), expected)
        np.testing.assert_array_equal(decide(adjusted, X), expected.argmax(axis=1))
        self.assertAllClose(model.predict(X, verbose=0), before)
        kernel, bias = model.get_weights()[-2:]
        model.set_weights([*model.get_weights()[:-2], 0 * kernel, 0 * bias])
        self.assertAllClose(adjusted.predict(X[:1], verbose=0), loop([[1 / 3] * 3], TRAINED, USED))

    @pytest.mark.parametrize("activation", ["sigmoid", None])
    def test_one_unit_that_rounds_to_1(self, activation):
        """A logit of 20 is a probability of 1 in float32, which no ratio could change."""
        unit = layers.Dense(1, activation, kernel_initializer="ones")
        model = keras.Sequential([keras.Input((1,)), unit])
        adjusted = adjust_priors(model, [1, 1], [1e6, 1], from_logits=activation is None)
        odds = np.exp([20.0, -20.0, 0.0]) / 1e6
        found = adjusted.predict(np.array([[20.0], [-20.0], [0.0]]), verbose=0)
        self.assertAllClose(found[:, 1], odds / (1 + odds), rtol=1e-4)

    @pytest.mark.parametrize("kind", ["bayes", "calibrated", "ensemble", "cost model"])
    def test_expected_costs(self, kind):
        """The costs of what decides by costs are those of its adjusted probabilities."""
        if kind == "cost model":
            head = expected_cost_model(functional([layers.Dense(5, "tanh")]), MATRIX, seed=0)
            careful, rows = head.cost_model(), head.predict(X, verbose=0)["probability"]
        else:
            model = softmax() if kind != "ensemble" else ensemble([softmax(), softmax()])
            if kind == "calibrated":
                model = calibrate(model, X, LABELS)
            careful, rows = bayes_classifier(model, MATRIX), model.predict(X, verbose=0)
        adjusted = adjust_priors(careful, TRAINED, USED)
        assert isinstance(adjusted, BayesClassifier) and output_kind(adjusted) == "cost"
        expected = loop(rows, TRAINED, USED) @ MATRIX
        self.assertAllClose(adjusted.predict(X, verbose=0), expected, atol=1e-4)

    def test_costs_that_are_known_when_deciding(self):
        """Costs beside the inputs, or in a call of `decide`, meet adjusted probabilities."""
        model = softmax()
        expected = loop(model.predict(X, verbose=0), TRAINED, USED)
        costs = np.random.default_rng(0).uniform(1, 9, (40, 3, 4)).astype("float32")
        with_input = bayes_classifier(model, cost_input=True, num_decisions=4)
        found = adjust_priors(with_input, TRAINED, USED).predict([X, costs], verbose=0)
        self.assertAllClose(found, np.einsum("nk,nkd->nd", expected, costs), atol=1e-4)
        adjusted = adjust_priors(bayes_classifier(model, MATRIX), TRAINED, USED)
        decided = csdl.bayes_decisions(expected, costs)
        np.testing.assert_array_equal(decide(adjusted, X, costs=costs), decided)

    def test_what_train_returns(self):
        x = np.random.default_rng(0).normal(size=(60, 3)) + LABELS[np.arange(60) % 40, None]
        y = LABELS[np.arange(60) % 40]
        for algorithm in ("dnn_bayes", "dnn_blind"):
            model = csdl.train(algorithm, x, y, MATRIX, settings=SETTINGS, seed=0)
            adjusted = adjust_priors(model, [20, 20, 20], USED)
            assert type(adjusted) is type(model) and adjusted.output_shape == model.output_shape
            assert np.abs(adjusted.predict(x, verbose=0) - model.predict(x, verbose=0)).max() > 0.1

    def test_again(self):
        """The second adjustment takes the place of the first, also with rounded frequencies."""
        model = softmax()
        rows = model.predict(X, verbose=0)
        for end in (model, bayes_classifier(model, MATRIX)):
            first = adjust_priors(end, TRAINED, [2 / 3, 1 / 3, 0])
            second = adjust_priors(first, [0.667, 0.333, 0.0], LATER)
            assert sum(isinstance(layer, PriorAdjustment) for layer in second.layers) == 1
            expected = loop(rows, TRAINED, LATER)
            expected = expected if end is model else expected @ MATRIX
            self.assertAllClose(second.predict(X, verbose=0), expected, atol=1e-4)
            with pytest.raises(ValueError, match=r"adjusted to, \[0.666667, .*\[0.2, 0.3, 0.5\]"):
                adjust_priors(first, TRAINED, LATER)

    @pytest.mark.parametrize("between", BETWEEN)
    def test_no_frequencies_are_applied_twice(self, between, tmp_path):
        """Whatever lies between two adjustments, the second goes on from the first."""
        for end in (lambda it: it, lambda it: bayes_classifier(it, MATRIX)):
            first = adjust_priors(end(softmax()), TRAINED, USED)
            later = BETWEEN[between](first, tmp_path / "model.keras")
            with pytest.raises(ValueError, match=r"adjusted to, \[0.6, 0.3, 0.1\]; received"):
                adjust_priors(later, TRAINED, LATER)
            rows = probability_model(later).predict(X, verbose=0)
            expected = loop(rows, USED, LATER)
            if output_kind(later) == "cost":
                expected = expected @ MATRIX
            found = adjust_priors(later, USED, LATER).predict(X, verbose=0)
            self.assertAllClose(found, expected, atol=1e-4)

    @pytest.mark.slow
    def test_loaded_in_a_fresh_process(self, tmp_path):
        adjusted = adjust_priors(bayes_classifier(softmax(), MATRIX), TRAINED, USED)
        adjusted.save(tmp_path / "model.keras")
        np.save(tmp_path / "x.npy", X)
        run_python(f"""
import csdl_keras, keras, numpy as np
model = keras.saving.load_model({str(tmp_path / "model.keras")!r})
again = csdl_keras.adjust_priors(model, {USED}, {LATER})
x = np.load({str(tmp_path / "x.npy")!r})
outputs = [each.predict(x, verbose=0) for each in (model, again)]
np.save({str(tmp_path / "outputs.npy")!r}, outputs)
""")
        loaded, again = np.load(tmp_path / "outputs.npy")
        self.assertAllClose(loaded, adjusted.predict(X, verbose=0))
        expected = adjust_priors(adjusted, USED, LATER).predict(X, verbose=0)
        self.assertAllClose(again, expected)

    def test_mixed_precision(self):
        with dtype_policy("mixed_float16"):
            adjusted = adjust_priors(softmax(), [1, 1, 1], [1, 1e-6, 1])
        outputs = adjusted.predict(X, verbose=0)
        assert outputs.dtype == "float32"
        self.assertAllClose(outputs.sum(axis=1), np.ones(40))

    @pytest.mark.parametrize(
        "model,changes,match",
        [
            (None, {}, "real numbers"),
            ("cost", {}, "outputs costs: it ends in CostOutput"),
            ("softmax", {"from_priors": [1, 1]}, "each of 3 classes; received 2"),
            ("softmax", {"to_priors": [1, 1, -1]}, "`to_priors`.*at least 0"),
            ("softmax", {"from_priors": [1, 0, 1]}, "`from_priors`.*above 0"),
            ("softmax", {"from_logits": True}, "outputs probabilities"),
            ("softmax", {"from_logits": 1}, "`from_logits`"),
            ("linear", {}, "from_logits=True"),
        ],
    )
    def test_errors(self, model, changes, match):
        ends = {"cost": csdl.CostOutput(3), "linear": layers.Dense(1)}
        if model is not None:
            model = functional([ends.get(model, layers.Dense(3, "softmax"))])
        with pytest.raises(ValueError, match=match):
            adjust_priors(model, **{"from_priors": TRAINED, "to_priors": USED, **changes})
