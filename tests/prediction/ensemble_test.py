import keras
import numpy as np
import pytest
from keras import layers

from csdl_keras import bayes_classifier, calibrate, decide, output_kind
from csdl_keras.layers import CostOutput
from csdl_keras.models import ensemble, mlp
from tests.support.small_models import FEATURES, functional, inputs, sequential
from tests.support.testing import TestCase, dtype_policy

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
X = inputs(20)


def members(number=3, **kwargs):
    return [mlp((FEATURES,), 3, (8,), "tanh", seed=seed, **kwargs) for seed in range(number)]


class TestEnsemble(TestCase):
    @pytest.mark.parametrize(
        "models,output",
        [
            (members(1), "probability"),
            (members(3), "probability"),
            (members(3, output="cost"), "cost"),
            (
                [make([layers.Dense(3, "softmax")]) for make in (functional, sequential)],
                "probability",
            ),
        ],
    )
    def test_the_mean_of_its_members(self, models, output, tmp_path):
        ensemble(models).save(tmp_path / "ensemble.keras")
        loaded = keras.saving.load_model(tmp_path / "ensemble.keras")
        expected = np.mean([model.predict(X, verbose=0) for model in models], axis=0)
        for together in (ensemble(models), loaded):
            assert output_kind(together) == output
            self.assertAllClose(together.predict(X, verbose=0), expected)

    def test_members_that_share_layers(self):
        (model,) = members(1)
        with pytest.raises(ValueError, match="layers of their own"):
            ensemble([model, keras.Model(model.input, model.output)])

    def test_mean_of_expected_costs_is_expected_cost_of_the_mean(self):
        models = members()
        first = ensemble([bayes_classifier(model, MATRIX) for model in models])
        second = bayes_classifier(ensemble(models), MATRIX)
        assert output_kind(first) == output_kind(second) == "cost"
        self.assertAllClose(first.predict(X, verbose=0), second.predict(X, verbose=0))

    def test_is_calibrated_as_one_model(self):
        labels = np.arange(len(X)) % 3
        careful = bayes_classifier(calibrate(ensemble(members()), X, labels), MATRIX)
        assert decide(careful, X).shape == (len(X),)

    def test_large_costs_do_not_overflow_in_mixed_precision(self):
        with dtype_policy("mixed_float16"):
            careful = [bayes_classifier(one, 1e5 * (1 - np.eye(3))) for one in members(2)]
            outputs = ensemble(careful).predict(X, verbose=0)
        assert outputs.dtype == "float32" and np.isfinite(outputs).all()

    @pytest.mark.parametrize(
        "models,match",
        [
            ([], "at least one member"),
            (3, "`members` to be a sequence"),
            ([*members(1), *members(1, output="cost")], "of one kind"),
            ([*members(1), functional([layers.Dense(2, "softmax")])], "same shapes"),
            ([functional([layers.Dense(3)])], "Expected a model that ends in"),
            ([keras.Model(x := keras.Input((3,)), [x, CostOutput(3)(x)])], "one output"),
        ],
    )
    def test_errors(self, models, match):
        with pytest.raises(ValueError, match=match):
            ensemble(models)
