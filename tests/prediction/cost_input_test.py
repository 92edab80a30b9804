"""Models that take the costs of each example beside its features."""

import keras
import numpy as np
import pytest
from keras import layers

import csdl_keras as csdl
from csdl_keras import bayes_classifier, decide
from tests.prediction.known_costs import AFFINE, COSTS, X, softmax
from tests.support.small_models import functional
from tests.support.testing import TestCase

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
