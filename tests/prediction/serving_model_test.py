import keras
import numpy as np
import pytest
from keras import layers

from csdl_keras import calibrate, decide
from csdl_keras.layers import CostOutput, Decision
from csdl_keras.models import (
    bayes_classifier,
    decision_model,
    ensemble,
    expected_cost_model,
    mlp,
    serving_model,
)
from csdl_keras.prediction.probability_model import probability_model
from tests.support.small_models import BUILDERS, Subclassed, functional, inputs, nested
from tests.support.testing import TestCase, dtype_policy, to_numpy

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
X = inputs(40)
MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
PRICES = np.array([[0.0, 3.0, 1.0, 0.5], [1.0, 0.0, 6.0, 0.5], [2.0, 2.0, 0.0, 0.1]])
EVERY_BUILDER = pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)


def softmax() -> layers.Layer:
    return layers.Dense(3, "softmax")


def answer(served: keras.Model, x) -> tuple[np.ndarray, np.ndarray]:
    outputs = served(x)
    assert set(outputs) == {"decision", "costs"}
    dtypes = [keras.backend.standardize_dtype(outputs[name].dtype) for name in sorted(outputs)]
    assert dtypes == ["float32", "int32"]
    return to_numpy(outputs["decision"]), to_numpy(outputs["costs"])


def costs_of_logits(scores: np.ndarray) -> np.ndarray:
    scores = scores if scores.shape[1] > 1 else np.hstack([0 * scores, scores])
    powers = np.exp(scores.astype("float64"))
    return 1 - powers / powers.sum(axis=1, keepdims=True)


class TestServingModel(TestCase):
    def check(self, served, x, costs):
        decision, found = answer(served, x)
        self.assertAllClose(found, costs)
        np.testing.assert_array_equal(decision, costs.argmin(axis=1))
        assert len(set(decision.tolist())) > 1, "a test that every constant would pass"

    @EVERY_BUILDER
    @pytest.mark.parametrize(
        "ending,arguments,costs",
        [
            (lambda: CostOutput(3), {}, lambda found: found),
            (lambda: layers.Dense(3), {"output": "cost"}, lambda found: found),
            (softmax, {}, lambda found: 1 - found),
            (lambda: layers.Dense(1, "sigmoid"), {}, lambda p: np.hstack([p, 1 - p])),
            (lambda: layers.Dense(1), {"from_logits": True}, costs_of_logits),
            (lambda: layers.Dense(3), {"from_logits": True}, costs_of_logits),
        ],
        ids=["costs", "explicit", "softmax", "sigmoid", "logit", "logits"],
    )
    def test_decisions_and_costs(self, build, ending, arguments, costs):
        model = build([ending()])
        served = serving_model(model, **arguments)
        self.check(served, X, costs(model.predict(X, verbose=0)))

    def test_bayes_decision(self):
        model = bayes_classifier(functional([softmax()]), PRICES)
        served = serving_model(model)
        self.check(served, X, model.predict(X, verbose=0))
        predicted = served.predict(X, batch_size=7, verbose=0)
        np.testing.assert_array_equal(predicted["decision"], decide(model, X))

    @pytest.mark.parametrize("keys", [("left", "right"), None])
    def test_inputs_keep_their_structure_and_names(self, keys):
        ends = [keras.Input((3,), name=name) for name in ("left", "right")]
        outputs = softmax()(layers.Concatenate()(ends))
        structure = dict(zip(keys, ends, strict=True)) if keys else ends
        x = dict(zip(keys, (X, -X), strict=True)) if keys else [X, -X]
        model = keras.Model(structure, outputs)
        served = serving_model(model)
        assert [end.name for end in served.inputs] == ["left", "right"]
        decision, _ = answer(served, x)
        np.testing.assert_array_equal(decision, decide(model, x))

    def test_shares_layers(self):
        model = mlp((3,), 3, (4,))
        served = serving_model(model)
        assert served.input.name == "inputs"
        assert {id(weight) for weight in served.weights} == {id(w) for w in model.weights}
        assert isinstance(served.get_layer("decision"), Decision)

    def test_layers_of_any_name(self):
        """Those that it adds may be there already, in a model that was loaded."""
        names = ("decision", "costs", "serving", "rescaling", "inputs")
        model = functional([layers.Dense(4, name=name) for name in names] + [softmax()])
        self.check(serving_model(model), X, 1 - model.predict(X, verbose=0))

    @pytest.mark.parametrize("policy", ["mixed_bfloat16", "float64"])
    def test_other_policies_give_float32(self, policy):
        with dtype_policy(policy):
            model = bayes_classifier(functional([softmax()]), MATRIX)
            decision, _ = answer(serving_model(model), X)  # which checks dtypes
            np.testing.assert_array_equal(decision, decide(model, X))

    def test_no_number_and_no_distribution(self):
        ends = keras.Input((3,))
        x = np.array([[0.2, 0.5, 0.3], [0.2, np.nan, 0.3], [0.4, 0.4, 0.4]])
        served = serving_model(keras.Model(ends, layers.Identity()(ends)), output="probability")
        decision, costs = answer(served, x)
        assert decision.tolist() == [1, -1, -1]
        assert np.isnan(costs).any(axis=1).tolist() == [False, True, True]


class TestCostMatrixInput(TestCase):
    def check(self, model, probabilities, matrix, **arguments):
        served = serving_model(model, cost_matrix_input=True, **arguments)
        for prices in (matrix, matrix[:, ::-1].copy()):
            x = {"inputs": X, "cost_matrix": prices}
            decision, costs = answer(served, x)
            self.assertAllClose(costs, probabilities @ prices)
            np.testing.assert_array_equal(decision, costs.argmin(axis=1))
        return served

    @EVERY_BUILDER
    def test_of_a_classifier(self, build):
        model = build([softmax()])
        self.check(model, model.predict(X, verbose=0), MATRIX)

    def test_of_one_logit(self):
        model = functional([layers.Dense(1)])
        p = 1 / (1 + np.exp(-model.predict(X, verbose=0)))
        matrix = np.array([[0.0, 1.0], [9.0, 0.0]])
        self.check(model, np.hstack([1 - p, p]), matrix, from_logits=True)

    def test_leaves_out_the_matrix_inside(self):
        model = functional([softmax()])
        careful = bayes_classifier(model, np.full((3, 4), 5.0) * (1 - np.eye(3, 4)))
        served = self.check(careful, model.predict(X, verbose=0), PRICES)
        assert not any("cost_matrix" in weight.path for weight in served.weights)

    def test_finds_the_bayes_decision_in_nested_models(self):
        model, ends = functional([softmax()]), keras.Input((3,))
        inner = keras.Model(ends, bayes_classifier(model, MATRIX)(ends))
        careful = keras.Sequential([keras.Input((3,)), keras.Sequential([inner])])
        for wrapped in (inner, careful):
            self.check(wrapped, model.predict(X, verbose=0), MATRIX)

    def test_keeps_calibration_and_members(self):
        members = [functional([layers.Dense(4, "tanh"), softmax()]) for _ in range(2)]
        labels = np.where(np.arange(40) % 4, decide(members[0], X), 0)
        calibrated = calibrate(ensemble(members), X, labels)
        careful = bayes_classifier(calibrated, MATRIX)
        self.check(careful, calibrated.predict(X, verbose=0), MATRIX)

    def test_instead_of_estimated_costs(self):
        model = expected_cost_model(functional([layers.Dense(4)]), MATRIX).cost_model()
        self.check(model, probability_model(model).predict(X, verbose=0), MATRIX)

    def test_wrong_costs(self):
        served = serving_model(functional([softmax()]), cost_matrix_input=True)
        for wrong in (np.nan, np.inf, -1.0):
            matrix = np.where(MATRIX == 9, wrong, MATRIX)
            decision, costs = answer(served, {"inputs": X, "cost_matrix": matrix})
            assert set(decision.tolist()) == {-1} and np.isnan(costs).all()

    def test_same_after_saving(self, tmp_path):
        served = serving_model(functional([softmax()]), cost_matrix_input=True)
        served.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        x = {"inputs": X, "cost_matrix": MATRIX}
        self.assertAllClose(answer(loaded, x)[1], answer(served, x)[1])
        assert sorted(end.name for end in loaded.inputs) == ["cost_matrix", "inputs"]


def taking_costs():
    return bayes_classifier(functional([softmax()]), cost_input=True)


def own_matrix():
    ends = [keras.Input((3,), name="cost_matrix"), keras.Input((3,), name="other")]
    return keras.Model(ends, softmax()(layers.Add()(ends)))


class TestCostsOfExamples(TestCase):
    COSTS = np.random.default_rng(0).uniform(0, 9, size=(40, 3, 4))

    @pytest.mark.parametrize("several", [False, True])
    def test_keeps_the_input(self, several):
        model = functional([softmax()])
        if several:
            ends = [keras.Input((3,), name=name) for name in ("left", "right")]
            model = keras.Model(ends, softmax()(layers.Subtract()(ends)))
        careful = bayes_classifier(model, cost_input=True, num_decisions=4)
        x = {"left": X, "right": -X} if several else {"inputs": X}
        p = model.predict(list(x.values()) if several else X, verbose=0)
        served = serving_model(careful)
        assert {end.name for end in served.inputs} == {*x, "cost_matrix"}
        for costs in (self.COSTS, self.COSTS[:1]):
            decision, found = answer(served, {**x, "cost_matrix": costs})
            self.assertAllClose(found, (p[:, None] @ costs)[:, 0])
            np.testing.assert_array_equal(decision, found.argmin(axis=1))
        single = serving_model(careful, cost_matrix_input=True)
        _, found = answer(single, {**x, "cost_matrix": PRICES})
        self.assertAllClose(found, p @ PRICES)

    def test_wrong_costs_and_ties(self):
        costs = self.COSTS.copy()
        costs[3, 1, 2], costs[4, 0, 0], costs[5, 2, 3], costs[6] = np.nan, np.inf, -1.0, 2.0
        careful = bayes_classifier(functional([softmax()]), cost_input=True, num_decisions=4)
        decision, found = answer(serving_model(careful), {"inputs": X, "cost_matrix": costs})
        assert np.flatnonzero(decision == -1).tolist() == [3, 4, 5] and decision[6] == 0
        assert np.flatnonzero(np.isnan(found).any(axis=1)).tolist() == [3, 4, 5]
        predicted = serving_model(careful).predict(
            {"inputs": X, "cost_matrix": costs}, batch_size=7, verbose=0
        )
        np.testing.assert_array_equal(predicted["decision"], decision)


PRICED = {"cost_matrix_input": True}


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        (layers.Dense(3), {}, "output='cost'"),
        (layers.Dense(3), {"output": "probability"}, "from_logits=True"),
        (layers.Dense(3), PRICED, "output='cost'"),
        (layers.Dense(3), {"output": "cost", "from_logits": True}, "only of a classifier"),
        (layers.Dense(3), {"output": "costs"}, "`output`"),
        (CostOutput(3), {"from_logits": True}, "outputs costs"),
        (CostOutput(3), {"output": "probability"}, "outputs costs"),
        (softmax(), {"cost_matrix_input": MATRIX}, "`cost_matrix_input`"),
        (lambda: nested([CostOutput(3)]), PRICED, "probabilities inside.*CostOutput"),
        (own_matrix, PRICED, "without an input 'cost_matrix'"),
        (taking_costs, {"from_logits": True}, "outputs costs"),
        (taking_costs, {"output": "probability"}, "outputs costs"),
        (lambda: serving_model(mlp((3,), 3, (4,))), {}, "Expected"),
        (lambda: decision_model(mlp((3,), 3, (4,))), {"output": "cost"}, "Expected"),
        (lambda: Subclassed(3), {"output": "cost"}, "Wrap it"),
        (lambda: Subclassed(3), {"output": "cost", **PRICED}, "Wrap it"),
    ],
)
def test_errors(model, arguments, message):
    model = functional([model]) if isinstance(model, layers.Layer) else model()
    with pytest.raises(ValueError, match=message):
        serving_model(model, **arguments)
