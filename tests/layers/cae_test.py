import keras
import numpy as np
import pytest

from csdl_keras import CAE, ReconstructionLoss, SOSRLoss
from tests.support import loss_loops as loops
from tests.support.testing import TestCase, to_numpy

FEATURES, UNITS, DECISIONS = 4, 5, 3
RNG = np.random.default_rng(0)
X = RNG.uniform(size=(6, FEATURES)).astype("float32")
COSTS = RNG.uniform(size=(6, DECISIONS)).astype("float32")
TARGETS = {"reconstruction": X, "cost": COSTS}

pytestmark = pytest.mark.usefixtures("run_module_eagerly")


def built(encoder=UNITS, beta=0.25, **kwargs) -> CAE:
    """An auto-encoder whose weights, biases too, all have values of their own."""
    cae = CAE(encoder, DECISIONS, **kwargs)
    cae.build((None, FEATURES))
    rng = np.random.default_rng(1)
    cae.set_weights([rng.normal(size=weight.shape) for weight in cae.get_weights()])
    cae.compile(
        keras.optimizers.SGD(0.1),
        loss={"reconstruction": ReconstructionLoss(from_logits=True), "cost": SOSRLoss()},
        loss_weights={"reconstruction": 1 - beta, "cost": beta},
    )
    return cae


def forward(cae: CAE, x: np.ndarray) -> dict[str, np.ndarray]:
    """The outputs for clean inputs, from the weights."""
    kernel, bias = cae.encoder.get_weights()
    code = 1 / (1 + np.exp(-(x @ kernel + bias)))
    if cae.tied:
        logits = code @ kernel.T + to_numpy(cae.decoder_bias)
    else:
        decoder_kernel, decoder_bias = cae.decoder.get_weights()
        logits = code @ decoder_kernel + decoder_bias
    cost_kernel, cost_bias = cae.regressor.get_weights()
    return {"code": code, "reconstruction": logits, "cost": code @ cost_kernel + cost_bias}


def loss(cae: CAE, beta: float) -> float:
    """`(1 - beta) L_CE + beta L_SOSR` of equation 9."""
    outputs = forward(cae, X)
    reconstruction = loops.reconstructed(X, outputs["reconstruction"], from_logits=True)
    return np.mean((1 - beta) * reconstruction + beta * loops.smooth(COSTS, outputs["cost"]))


@pytest.mark.parametrize("tied", [False, True])
class TestCAE(TestCase):
    def test_outputs(self, tied):
        """Inputs are corrupted in training alone, and never in `encode`."""
        cae = built(corruption=1.0, tied=tied)
        for x, training in ((X, False), (0 * X, True)):
            expected = forward(cae, x)
            expected.pop("code")
            self.assertAllClose(cae(X, training=training), expected, atol=1e-4)
        self.assertAllClose(cae.encode(X), forward(cae, X)["code"])
        decoder = FEATURES if tied else UNITS * FEATURES + FEATURES
        assert cae.count_params() == (FEATURES + 1) * UNITS + decoder + (UNITS + 1) * DECISIONS
        assert sum(np.prod(weight.shape) for weight in cae.decoder_variables) == decoder

    @pytest.mark.parametrize("beta", [0.0, 0.25])
    def test_loss_is_equation_9(self, tied, beta):
        cae = built(beta=beta, corruption=0.5, tied=tied)
        value = cae.evaluate(X, TARGETS, verbose=0, return_dict=True)["loss"]
        self.assertAllClose(value, loss(cae, beta), rtol=1e-4)

    def test_training_changes_the_network_that_lends_the_layer(self, tied):
        hidden = keras.layers.Dense(UNITS, activation="relu", name="hidden")
        network = keras.Sequential([keras.Input((FEATURES,)), hidden, keras.layers.Dense(2)])
        cae = built(hidden, tied=tied)
        before = network.get_weights()
        self.assertAllClose(cae.encode(X), np.maximum(X @ before[0] + before[1], 0))
        cae.fit(X, TARGETS, verbose=0)
        kernel, _, *head = network.get_weights()
        assert cae.encoder is hidden and np.any(kernel != before[0])
        for weight, old in zip(head, before[2:], strict=True):
            np.testing.assert_array_equal(weight, old)
