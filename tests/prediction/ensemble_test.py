"""Tests of networks that decide together."""

import keras
import numpy as np
import pytest
from keras import layers

from csdl_keras import bayes_classifier, calibrate, decide, output_kind
from csdl_keras.layers import CostOutput
from csdl_keras.models import ensemble, mlp
from tests.support.small_models import FEATURES, functional, inputs, sequential
from tests.support.testing import TestCase

MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
X = inputs(20)


def members(number=3, **kwargs):
    return [mlp((FEATURES,), 3, (8,), "tanh", seed=seed, **kwargs) for seed in range(number)]


class TestEnsemble(TestCase):
    @pytest.mark.parametrize("output", ["probability", "cost"])
    @pytest.mark.parametrize("number", [1, 2, 5])
    def test_the_mean_of_its_members(self, output, number):
        models = members(number, output=output)
        together = ensemble(models)
        assert output_kind(together) == output
        expected = np.mean([model.predict(X, verbose=0) for model in models], axis=0)
        self.assertAllClose(together.predict(X, verbose=0), expected)

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

    def test_members_of_other_makes(self):
        models = [
            functional([layers.Dense(3, "softmax")]),
            sequential([layers.Dense(3, "softmax")]),
        ]
        expected = np.mean([model.predict(X, verbose=0) for model in models], axis=0)
        self.assertAllClose(ensemble(models).predict(X, verbose=0), expected)

    def test_the_same_member_twice(self):
        (model,) = members(1)
        self.assertAllClose(
            ensemble([model, model]).predict(X, verbose=0), model.predict(X, verbose=0)
        )

    def test_large_costs_do_not_overflow_in_mixed_precision(self):
        policy = keras.config.dtype_policy()
        keras.config.set_dtype_policy("mixed_float16")
        try:
            members = [mlp((4,), 3, (5,), seed=seed) for seed in (0, 1)]
            matrix = 1e5 * (1 - np.eye(3))
            costs = ensemble([bayes_classifier(m, matrix) for m in members])
            outputs = costs.predict(np.zeros((2, 4), "float32"), verbose=0)
        finally:
            keras.config.set_dtype_policy(policy)
        assert outputs.dtype == "float32" and np.isfinite(outputs).all()

    def test_saved_and_loaded(self, tmp_path):
        together = ensemble(members(output="cost"))
        together.save(tmp_path / "ensemble.keras")
        loaded = keras.saving.load_model(tmp_path / "ensemble.keras")
        assert output_kind(loaded) == "cost"
        self.assertAllClose(loaded.predict(X, verbose=0), together.predict(X, verbose=0))

    def test_what_it_refuses(self):
        with pytest.raises(ValueError, match="at least one member"):
            ensemble([])
        with pytest.raises(ValueError, match="of one kind"):
            ensemble([*members(1), *members(1, output="cost")])
        with pytest.raises(ValueError, match="same shapes"):
            ensemble([*members(1), functional([layers.Dense(2, "softmax")])])
        with pytest.raises(ValueError, match="Expected a model that ends in"):
            ensemble([functional([layers.Dense(3)])])
        assert output_kind(ensemble([functional([CostOutput(3)])])) == "cost"
