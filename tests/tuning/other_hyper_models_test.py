"""The search spaces of convolutional algorithms and of decisions."""

import keras
import keras_tuner
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras import tuning
from tests.support.small_models import randomized
from tests.support.weights import assert_same_weights
from tests.tuning.searches import VALIDATION, C, X, Y

IMAGES = np.random.default_rng(1).uniform(size=(9, 8, 8, 1)).astype("float32")


def test_the_convolutional_network():
    mean = 255 * IMAGES.mean(axis=0)
    hyper_model = tuning.CNNHyperModel((8, 8, 1), C, "cnn_sosr", variant=["full"], mean=mean)
    model = hyper_model.build(keras_tuner.HyperParameters())
    twin = csdl.models.caffe_cifar10((8, 8, 1), 3, "full", "cost", mean=mean, seed=0)
    assert isinstance(model.loss, csdl.SOSRLoss)
    np.testing.assert_array_equal(model.predict(IMAGES, verbose=0), twin.predict(IMAGES, verbose=0))


@pytest.mark.parametrize(
    "arguments,message",
    [
        ({"algorithm": "csdnn"}, "body 'cnn'.*received 'csdnn'"),
        ({"variant": ["quick", "slow"]}, "`variant`.*received 'slow'"),
        ({"cost_matrix": None, "num_classes": 3}, "`cost_matrix` for 'cnn_bayes'"),
    ],
)
def test_what_the_cnn_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        tuning.CNNHyperModel((8, 8, 1), **{"cost_matrix": C, **arguments})


@pytest.fixture(scope="module")
def classifier():
    # The same weights on every backend, so spread that decisions differ.
    return randomized(csdl.models.mlp((6,), 3, (8,)))


class TestDecisionHyperModel:
    @pytest.mark.parametrize("prediction,temperature", [("argmax", 3.0), ("bayes", 0.5)])
    def test_decisions(self, prediction, temperature, classifier, tmp_path):
        """They are saved with the model; the classifier stays as it was."""
        before = classifier.get_weights()
        hyper_model = tuning.DecisionHyperModel(
            classifier, C, prediction=[prediction], temperature=[temperature]
        )
        hp = keras_tuner.HyperParameters()
        model = hyper_model.build(hp)
        p = classifier.predict(X, verbose=0) ** (1 / temperature)
        p /= p.sum(axis=1, keepdims=True)
        expected = p.argmax(axis=1) if prediction == "argmax" else (p @ C).argmin(axis=1)
        validation = (X[VALIDATION], Y[VALIDATION])
        told = hyper_model.fit(hp, model, validation_data=validation)["val_average_cost"]
        np.testing.assert_allclose(told, C[validation[1], expected[VALIDATION]].mean(), rtol=1e-6)
        model.save(tmp_path / "decider.keras")
        loaded = keras.saving.load_model(tmp_path / "decider.keras")
        np.testing.assert_array_equal(csdl.decide(loaded, X), expected)
        assert_same_weights(classifier, before)
        with pytest.raises(keras_tuner.errors.FatalValueError, match="received neither"):
            hyper_model.fit(hp, model, X, Y)

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
