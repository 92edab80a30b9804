import keras
import numpy as np
import pytest
from keras import Sequential, layers

from csdl_keras import decide
from csdl_keras.layers import BayesDecision, CostOutput, Decision
from csdl_keras.models import bayes_classifier, decision_model, mlp
from tests.support.small_models import BUILDERS, Subclassed, Twice, functional, inputs, randomized
from tests.support.testing import TestCase, dtype_policy, to_numpy

X = inputs(40)
MATRIX = [[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]]
ENDINGS = {
    "softmax": (lambda: [layers.Dense(3, "softmax")], np.argmax),
    "cost": (lambda: [CostOutput(3)], np.argmin),
    "bayes": (lambda: [layers.Dense(3, "softmax"), BayesDecision(MATRIX)], np.argmin),
    "sigmoid": (lambda: [layers.Dense(1, "sigmoid")], lambda p, axis: (p > 0.5).sum(axis)),
}


class TestDecisionModel(TestCase):
    @pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
    @pytest.mark.parametrize("ending", ENDINGS)
    def test_decides_like_numpy_and_decide(self, build, ending):
        make, choose = ENDINGS[ending]
        model = build(make())
        if ending == "bayes":
            model.set_weights([*model.get_weights()[:-1], np.array(MATRIX)])
        decided = decision_model(model).predict(X, verbose=0)
        expected = choose(model.predict(X, verbose=0), axis=1)
        assert len(set(expected.tolist())) > 1, "a test that every constant would pass"
        assert (decided.shape, decided.dtype) == ((40,), np.int32)
        np.testing.assert_array_equal(decided, expected)
        np.testing.assert_array_equal(decide(model, X), expected)

    @pytest.mark.parametrize(
        ("output", "choose"), [("cost", np.argmin), ("probability", np.argmax)]
    )
    def test_explicit_output(self, output, choose):
        model = functional([Twice()] if output == "cost" else [layers.Softmax(), layers.Identity()])
        decided = decision_model(model, output=output).predict(X, verbose=0)
        np.testing.assert_array_equal(decided, choose(model.predict(X, verbose=0), axis=1))
        np.testing.assert_array_equal(decided, decide(model, X, output=output))

    def test_of_a_bayes_classifier(self):
        careful = bayes_classifier(functional([layers.Dense(3, "softmax")]), MATRIX)
        decided = decision_model(careful).predict(X, verbose=0)
        np.testing.assert_array_equal(decided, careful.predict(X, verbose=0).argmin(axis=1))

    def test_shares_layers(self):
        model = mlp((3,), 3, (4,), output="cost")
        deciding = decision_model(model)
        assert deciding.name == "mlp_decision"
        assert isinstance(deciding.layers[-1], Decision)
        for layer in model.layers:
            assert deciding.get_layer(layer.name) is layer

    def test_nan_gives_minus_one(self):
        x = X.copy()
        x[3] = np.nan
        decided = to_numpy(decision_model(randomized(mlp((3,), 3, (4,))))(x))
        assert np.flatnonzero(decided == -1).tolist() == [3]

    def test_mixed_precision(self):
        with dtype_policy("mixed_float16"):
            model = functional([layers.Dense(3, "softmax")])
            decided = decision_model(model).predict(X, verbose=0)
        np.testing.assert_array_equal(decided, decide(model, X))

    def test_same_after_saving(self, tmp_path):
        deciding = decision_model(randomized(mlp((3,), 3, (4,), output="cost")))
        deciding.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        expected = deciding.predict(X, verbose=0)
        assert len(set(expected.tolist())) > 1
        np.testing.assert_array_equal(loaded.predict(X, verbose=0), expected)

    def test_unclear_output(self):
        with pytest.raises(ValueError, match="output='cost'"):
            decision_model(functional([layers.Dense(3)]))

    @pytest.mark.parametrize("make", [Subclassed, lambda *args: Sequential([layers.Dense(*args)])])
    def test_unknown_inputs(self, make):
        with pytest.raises(ValueError, match="Wrap it"):
            decision_model(make(3), output="cost")
