"""Models that take the costs of each example beside its features."""

import keras
import numpy as np
import pytest
from keras import layers

import csdl_keras as csdl
from csdl_keras import bayes_classifier, decide
from csdl_keras.layers import BayesDecision
from csdl_keras.prediction.probability_model import probability_model
from tests.prediction.known_costs import AFFINE, COSTS, MATRIX, PRICES, X, softmax
from tests.support.small_models import functional
from tests.support.testing import TestCase, dtype_policy

pytestmark = pytest.mark.usefixtures("run_module_eagerly")


class TestCostInput(TestCase):
    def make(self, model=None, **kwargs):
        kwargs = {"cost_input": True, "num_decisions": 4} | kwargs
        return bayes_classifier(functional([softmax()]) if model is None else model, **kwargs)

    def expected(self, costs=COSTS):
        p = functional([softmax()]).predict(X, verbose=0)
        return (p[:, None] @ costs)[:, 0]

    def test_expected_costs(self, tmp_path):
        model = self.make()
        assert model.output_shape == (None, 4) and csdl.output_kind(model) == "cost"
        assert [end.shape for end in model.inputs] == [(None, 3), (None, 3, 4)]
        model.save(tmp_path / "model.keras")
        for one in (model, keras.saving.load_model(tmp_path / "model.keras")):
            self.assertAllClose(one.predict([X, COSTS], verbose=0), self.expected())
            by = self.expected().argmin(axis=1)
            np.testing.assert_array_equal(decide(one, [X, COSTS]), by)
            np.testing.assert_array_equal(decide(one, X, costs=COSTS), by)
            decided = csdl.decision_model(one).predict([X, COSTS], verbose=0)
            np.testing.assert_array_equal(decided, by)
            found = decide(one, X, costs=AFFINE)
            np.testing.assert_array_equal(found, decide(functional([softmax()]), X, costs=AFFINE))

    def test_one_matrix_for_a_call_and_as_many_decisions_as_classes(self):
        model = self.make(num_decisions=None)
        assert model.output_shape == (None, 3)
        p = functional([softmax()]).predict(X, verbose=0)
        self.assertAllClose(model([X, MATRIX[None]]), p @ MATRIX)

    @pytest.mark.parametrize("keys", [("left", "right"), None])
    def test_several_inputs(self, keys):
        ends = [keras.Input((3,), name=name) for name in ("left", "right")]
        structure = dict(zip(keys, ends, strict=True)) if keys else ends
        network = keras.Model(structure, softmax()(layers.Concatenate()(ends)))
        x = dict(zip(keys, (X, -X), strict=True)) if keys else [X, -X]
        model = self.make(network)
        both = {**x, "cost_matrix": COSTS} if keys else [*x, COSTS]
        expected = (network.predict(x, verbose=0)[:, None] @ COSTS)[:, 0]
        self.assertAllClose(model.predict(both, verbose=0), expected)
        np.testing.assert_array_equal(decide(model, x, costs=COSTS), expected.argmin(axis=1))

    def test_inside_another_model(self):
        ends = [keras.Input((3,)), keras.Input((3, 4))]
        outer = keras.Model(ends, self.make()(ends))
        by = self.expected().argmin(axis=1)
        np.testing.assert_array_equal(decide(outer, [X, COSTS]), by)
        np.testing.assert_array_equal(decide(outer, X, costs=COSTS), by)

    def test_calibrated_before_and_after(self):
        network = functional([softmax()])
        labels = np.where(np.arange(30) % 4, decide(network, X), 0)
        calibrated = csdl.calibrate(network, X, labels, method="bias_corrected")
        expected = self.make(calibrated).predict([X, COSTS], verbose=0)
        after = csdl.calibrate(self.make(), X, labels, method="bias_corrected")
        self.assertAllClose(after.predict([X, COSTS], verbose=0), expected, atol=1e-4)
        assert np.abs(expected - self.expected()).max() > 0.01

    def test_logits_and_one_unit(self):
        network, binary = functional([layers.Dense(1)]), COSTS[:, :2]
        p = 1 / (1 + np.exp(-network.predict(X, verbose=0)))
        model = self.make(network, from_logits=True)
        expected = (np.hstack([1 - p, p])[:, None] @ binary)[:, 0]
        self.assertAllClose(model.predict([X, binary], verbose=0), expected)

    @pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16", "float64"])
    def test_policies(self, policy):
        with dtype_policy(policy):
            model = self.make()
            p = probability_model(model).predict(X, verbose=0)
            found = model.predict([X, 1e5 * COSTS], verbose=0)
        self.assertAllClose(found, (p[:, None] @ (1e5 * COSTS))[:, 0], rtol=1e-4)

    @pytest.mark.parametrize("wrong", [np.nan, np.inf, -1.0])
    def test_wrong_costs_raise_in_predict(self, wrong):
        costs = COSTS.copy()
        costs[7, 2, 1] = wrong
        for call in (lambda x: self.make().predict(x, verbose=0), lambda x: decide(self.make(), x)):
            with pytest.raises(ValueError, match="costs to be finite.*received 1 of 30 rows"):
                call([X, costs])

    @pytest.mark.parametrize("x", [X, X.tolist()[:1], [X], {"x": X}])
    def test_no_costs_raise_in_decide(self, x):
        with pytest.raises(ValueError, match="Expected `costs`, or x=.*; received x alone"):
            decide(self.make(), x)

    def test_evaluated_by_what_its_decisions_pay(self):
        model, labels = self.make(), np.arange(30) % 3
        model.compile(loss="mse", metrics=[csdl.AverageCost()], run_eagerly=True)
        vectors = COSTS[np.arange(30), labels]
        paid = vectors[np.arange(30), decide(model, X, costs=COSTS)].mean()
        result = model.evaluate([X, COSTS], vectors, verbose=0, return_dict=True)
        np.testing.assert_allclose(result["average_cost"], paid, rtol=1e-5)
        found = csdl.evaluation.average_cost(labels, decide(model, X, costs=COSTS), COSTS)
        np.testing.assert_allclose(found, paid)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"cost_matrix": MATRIX}, "neither `cost_matrix`.*received a matrix"),
            ({"mean_costs": True}, "neither `cost_matrix`.*received mean_costs"),
            ({"num_decisions": 1}, "`num_decisions`"),
            ({"cost_input": False}, "only with cost_input=True.*received 4"),
            ({"cost_input": None}, "`cost_input`"),
            ({"cost_input": False, "num_decisions": None}, "`cost_matrix`.*received None"),
        ],
    )
    def test_errors(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            self.make(**arguments)

    def test_an_input_of_that_name(self):
        ends = keras.Input((3,), name="cost_matrix")
        with pytest.raises(ValueError, match="without an input 'cost_matrix'"):
            self.make(keras.Model(ends, softmax()(ends)))

    def test_no_matrix_to_replace(self):
        decision = self.make().get_layer("bayes_decision")
        assert isinstance(decision, BayesDecision) and not decision.weights
        with pytest.raises(ValueError, match="whose costs are an input"):
            decision.set_cost_matrix(PRICES)
