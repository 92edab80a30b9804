import keras
import numpy as np
import pytest
from keras import layers

from csdl_keras import decide
from csdl_keras.layers import CostOutput
from csdl_keras.models import serving_model
from tests.support.small_models import inputs, nested
from tests.support.testing import TestCase, to_numpy

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
X = inputs(40)


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

    @pytest.mark.parametrize(
        "ending,arguments,costs",
        [
            (lambda: CostOutput(3), {}, lambda found: found),
            (lambda: layers.Dense(1, "sigmoid"), {}, lambda p: np.hstack([p, 1 - p])),
            (lambda: layers.Dense(3), {"from_logits": True}, costs_of_logits),
        ],
        ids=["costs", "sigmoid", "logits"],
    )
    def test_decisions_and_costs(self, ending, arguments, costs):
        model = nested([ending()])
        served = serving_model(model, **arguments)
        self.check(served, X, costs(model.predict(X, verbose=0)))

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

    def test_no_number_and_no_distribution(self):
        ends = keras.Input((3,))
        x = np.array([[0.2, 0.5, 0.3], [0.2, np.nan, 0.3], [0.4, 0.4, 0.4]])
        served = serving_model(keras.Model(ends, layers.Identity()(ends)), output="probability")
        decision, costs = answer(served, x)
        assert decision.tolist() == [1, -1, -1]
        assert np.isnan(costs).any(axis=1).tolist() == [False, True, True]
