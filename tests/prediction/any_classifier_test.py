"""Somebody else's classifier becomes calibrated and cost-sensitive in one or two lines."""

import keras
import numpy as np
import pytest
from keras import layers

import csdl_keras as csdl
from tests.support.testing import TestCase, dtype_policy, to_numpy

RNG = np.random.default_rng(0)
IMAGES = RNG.uniform(0, 255, size=(12, 32, 32, 3)).astype("float32")
TOKENS = RNG.integers(50, size=(30, 8)).astype("int32")
FIVE = RNG.uniform(1, 9, size=(5, 5)) * (1 - np.eye(5))
WITH_ABSTAIN = csdl.costs.with_abstain(FIVE, 0.5)
TWO = np.array([[0.0, 1.0], [9.0, 0.0]])


def image_network() -> keras.Model:
    """Of Keras' own, as it comes, and not trained."""
    return keras.applications.MobileNetV3Small(
        input_shape=(32, 32, 3), weights=None, classes=5, minimalistic=True, alpha=0.35
    )


def text_network(units: int, activation: str | None) -> keras.Model:
    return keras.Sequential(
        [
            keras.Input((None,), dtype="int32"),
            layers.Embedding(50, 8, mask_zero=True, embeddings_initializer="normal"),
            layers.GlobalAveragePooling1D(),
            layers.Dense(units, activation),
        ]
    )


# The network, inputs, labels, a cost matrix, and arguments for logits.
CASES = {
    "MobileNetV3Small": (image_network, IMAGES, np.arange(12) % 5, WITH_ABSTAIN, {}),
    "text": (lambda: text_network(5, "softmax"), TOKENS, np.arange(30) % 5, WITH_ABSTAIN, {}),
    "text, sigmoid": (lambda: text_network(1, "sigmoid"), TOKENS, np.arange(30) % 2, TWO, {}),
    "text, logits": (
        lambda: text_network(5, None),
        TOKENS,
        np.arange(30) % 5,
        FIVE,
        {"from_logits": True},
    ),
    "text, one logit": (
        lambda: text_network(1, None),
        TOKENS,
        np.arange(30) % 2,
        TWO,
        {"from_logits": True},
    ),
}


def probabilities(outputs: np.ndarray, from_logits: bool = False) -> np.ndarray:
    """In float64, from one column or several."""
    outputs = outputs.astype("float64")
    if from_logits:
        scores = outputs if outputs.shape[1] > 1 else np.hstack([0 * outputs, outputs])
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)
    return outputs if outputs.shape[1] > 1 else np.hstack([1 - outputs, outputs])


class TestAnyClassifier(TestCase):
    @pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16"])
    @pytest.mark.parametrize("name", CASES)
    def test_calibrated_costs_saved_and_loaded(self, name, policy, tmp_path):
        make, x, labels, matrix, arguments = CASES[name]
        keras.utils.set_random_seed(0)
        with dtype_policy(policy):
            network = make()
            calibrated = csdl.calibrate(network, x, labels, **arguments)
            careful = csdl.bayes_classifier(calibrated, matrix)
        # 16 bits may round otherwise in the smaller graph of the network alone.
        atol = 1e-4 if policy == "float32" else 0.05 * matrix.max()

        p = probabilities(network.predict(x, verbose=0), **arguments)
        temperature = next(
            to_numpy(weight) for weight in calibrated.weights if "temperature" in weight.path
        )
        powers = np.maximum(p, 1e-30) ** (1 / temperature)
        expected = powers / powers.sum(axis=1, keepdims=True) @ matrix
        costs = careful.predict(x, verbose=0)
        assert costs.dtype == np.float32
        self.assertAllClose(costs, expected.astype("float32"), atol=atol)
        np.testing.assert_array_equal(csdl.decide(careful, x), costs.argmin(axis=1))

        careful.save(tmp_path / "careful.keras")
        loaded = keras.saving.load_model(tmp_path / "careful.keras")
        self.assertAllClose(loaded.predict(x, verbose=0), costs)
        assert csdl.output_kind(loaded) == "cost"

    @pytest.mark.parametrize("name", CASES)
    def test_costs_first_and_calibration_of_what_was_loaded(self, name, tmp_path):
        """The other order, and both steps on models that were loaded."""
        make, x, labels, matrix, arguments = CASES[name]
        keras.utils.set_random_seed(0)
        network = make()
        expected = csdl.bayes_classifier(
            csdl.calibrate(network, x, labels, **arguments), matrix
        ).predict(x, verbose=0)
        careful = csdl.bayes_classifier(network, matrix, **arguments)
        for step in ("careful", "calibrated"):
            careful.save(tmp_path / f"{step}.keras")
            careful = keras.saving.load_model(tmp_path / f"{step}.keras")
            if step == "careful":
                careful = csdl.calibrate(careful, x, labels)
        self.assertAllClose(careful.predict(x, verbose=0), expected, atol=1e-4)

    def test_trains_on(self):
        """The network that was made careful is the one that training goes on with."""
        keras.utils.set_random_seed(0)
        network = text_network(5, "softmax")
        careful = csdl.bayes_classifier(network, FIVE)
        before = careful.predict(TOKENS, verbose=0)
        network.compile(keras.optimizers.SGD(1.0), "sparse_categorical_crossentropy")
        network.fit(TOKENS, np.arange(30) % 5, epochs=1, verbose=0)
        after = careful.predict(TOKENS, verbose=0)
        assert np.abs(after - before).max() > 1e-4
        self.assertAllClose(after, network.predict(TOKENS, verbose=0) @ FIVE)
