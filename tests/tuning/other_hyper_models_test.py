"""The search spaces of convolutional algorithms and of decisions."""

import keras
import keras_tuner
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras import tuning
from tests.support.small_models import randomized
from tests.tuning.searches import FIT, VALIDATION, C, X, Y, cost, outcomes

IMAGES = np.random.default_rng(1).uniform(size=(40, 8, 8, 1)).astype("float32")
LABELS = np.arange(40) % 3


class TestCNNHyperModel:
    @pytest.mark.parametrize("algorithm", ["cnn_bayes", "cnn_sosr"])
    def test_search(self, algorithm, tmp_path):
        hyper_model = tuning.CNNHyperModel(
            (8, 8, 1), C, algorithm, variant=["quick", "full"], mean=255 * IMAGES.mean(axis=0)
        )
        tuner = tuning.RandomSearch(hyper_model, max_trials=2, seed=1, directory=tmp_path)
        tuner.search(IMAGES, LABELS, validation_data=(IMAGES, LABELS), **FIT)
        assert [status for status, *_ in outcomes(tuner).values()] == ["COMPLETED"] * 2
        model = tuner.get_best_models()[0]
        best = tuner.oracle.get_best_trials()[0]
        scores = model.evaluate(IMAGES, LABELS, verbose=0, return_dict=True)
        np.testing.assert_allclose(scores["average_cost"], best.score, atol=1e-6)
        decided = csdl.decide(hyper_model.classifier(model), IMAGES)
        np.testing.assert_allclose(C[LABELS, decided].mean(), best.score, atol=1e-6)

    @pytest.mark.parametrize(
        "arguments,message",
        [
            ({"algorithm": "csdnn"}, "body 'cnn'.*received 'csdnn'"),
            ({"variant": ["quick", "slow"]}, "`variant`.*received 'slow'"),
            ({"cost_matrix": None, "num_classes": 3}, "`cost_matrix` for 'cnn_bayes'"),
        ],
    )
    def test_refuses(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            tuning.CNNHyperModel((8, 8, 1), **{"cost_matrix": C, **arguments})


@pytest.fixture(scope="module")
def classifier():
    # The same weights on every backend, so spread that decisions differ.
    return randomized(csdl.models.mlp((6,), 3, (8,)))


class TestDecisionHyperModel:
    def build(self, classifier, **values):
        hp = keras_tuner.HyperParameters()
        for name, value in values.items():
            hp.Fixed(name, value)
        hyper_model = tuning.DecisionHyperModel(classifier, C, prediction=["argmax", "bayes"])
        return hyper_model.build(hp)

    @pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
    @pytest.mark.parametrize("prediction", ["argmax", "bayes"])
    def test_decisions(self, classifier, prediction, temperature):
        model = self.build(classifier, prediction=prediction, temperature=temperature)
        p = classifier.predict(X, verbose=0) ** (1 / temperature)
        p /= p.sum(axis=1, keepdims=True)
        expected = p.argmax(axis=1) if prediction == "argmax" else (p @ C).argmin(axis=1)
        np.testing.assert_array_equal(csdl.decide(model, X), expected)

    def test_search(self, classifier, tmp_path):
        before = classifier.get_weights()
        hyper_model = tuning.DecisionHyperModel(
            classifier, C, prediction=["argmax", "bayes"], temperature=[0.5, 1.0, 2.0]
        )
        tuner = tuning.GridSearch(hyper_model, directory=tmp_path)
        tuner.search(validation_data=(X[VALIDATION], Y[VALIDATION]), verbose=0)
        assert [status for status, *_ in outcomes(tuner).values()] == ["COMPLETED"] * 6
        assert len({score for *_, score in outcomes(tuner).values()}) > 1
        model = tuner.get_best_models()[0]
        best = tuner.oracle.get_best_trials()[0]
        np.testing.assert_allclose(cost(model), best.score, atol=1e-6)
        for weight, old in zip(classifier.get_weights(), before, strict=True):
            np.testing.assert_array_equal(weight, old)
        model.save(tmp_path / "decider.keras")
        loaded = keras.saving.load_model(tmp_path / "decider.keras")
        np.testing.assert_array_equal(csdl.decide(loaded, X), csdl.decide(model, X))

    def test_decisions_that_are_no_classes(self, classifier):
        with_abstain = np.hstack([C, np.full((3, 1), 1.0)])
        hp = keras_tuner.HyperParameters()
        model = tuning.DecisionHyperModel(classifier, with_abstain).build(hp)
        assert model.output_shape == (None, 4)
        with pytest.raises(ValueError, match="`prediction`.*received 'argmax'"):
            tuning.DecisionHyperModel(classifier, with_abstain, prediction="argmax")

    @pytest.mark.parametrize(
        "arguments,message",
        [
            ({"temperature": [1.0, 0.0]}, "`temperature`.*received 0.0"),
            ({"prediction": "argmin"}, "`prediction`.*received 'argmin'"),
            ({"cost_matrix": C[:2, :2]}, "cost_matrix"),
        ],
    )
    def test_refuses(self, classifier, arguments, message):
        with pytest.raises(ValueError, match=message):
            tuning.DecisionHyperModel(classifier, **{"cost_matrix": C, **arguments})

    def test_needs_validation_data(self, classifier, tmp_path):
        hyper_model = tuning.DecisionHyperModel(classifier, C)
        tuner = tuning.RandomSearch(hyper_model, max_trials=1, directory=tmp_path)
        with pytest.raises(ValueError, match="received neither"):
            tuner.search(X, Y, verbose=0)
