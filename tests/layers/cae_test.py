import keras
import numpy as np
import pytest

from csdl_keras import CAE, ReconstructionLoss, SOSRLoss
from tests.support.testing import TestCase, dtype_policy, to_numpy

FEATURES, UNITS, DECISIONS = 4, 5, 3
RNG = np.random.default_rng(0)
X = RNG.uniform(size=(6, FEATURES)).astype("float32")
COSTS = RNG.uniform(size=(6, DECISIONS)).astype("float32")
TARGETS = {"reconstruction": X, "cost": COSTS}
SHAPES = {"reconstruction": (6, FEATURES), "cost": (6, DECISIONS)}


def randomize(model: keras.Model) -> None:
    """Gives every weight, biases too, a value of its own."""
    rng = np.random.default_rng(1)
    model.set_weights([rng.normal(size=weight.shape) for weight in model.get_weights()])


def compiled(cae: CAE, beta: float = 0.25, learning_rate: float = 0.1) -> CAE:
    cae.compile(
        keras.optimizers.SGD(learning_rate),
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
    return {"reconstruction": logits, "cost": code @ cost_kernel + cost_bias}


def loss(cae: CAE, beta: float) -> float:
    """`(1 - beta) L_CE + beta L_SOSR` of equation 9, one number at a time."""
    outputs = forward(cae, X)
    total = 0.0
    for n in range(len(X)):
        for j in range(FEATURES):
            t = 1 / (1 + np.exp(-float(outputs["reconstruction"][n, j])))
            total -= (1 - beta) * (X[n, j] * np.log(t) + (1 - X[n, j]) * np.log(1 - t))
        for k in range(DECISIONS):
            z = 1 if COSTS[n, k] == COSTS[n].min() else -1
            total += beta * np.log1p(np.exp(z * float(outputs["cost"][n, k] - COSTS[n, k])))
    return total / len(X)


@pytest.mark.parametrize("tied", [False, True])
class TestCAEForward(TestCase):
    def test_contract(self, tied):
        self.run_layer_test(lambda: CAE(UNITS, DECISIONS, tied=tied), X, SHAPES)

    def test_equals_numpy(self, tied):
        cae = CAE(UNITS, DECISIONS, corruption=0.5, tied=tied)
        cae(X)
        randomize(cae)
        self.assertAllClose(cae(X), forward(cae, X), atol=1e-4)
        self.assertAllClose(cae.predict(X, verbose=0), forward(cae, X), atol=1e-4)

    def test_parameters(self, tied):
        cae = CAE(UNITS, DECISIONS, tied=tied)
        cae.build((None, FEATURES))
        decoder = FEATURES if tied else UNITS * FEATURES + FEATURES
        assert cae.count_params() == (FEATURES + 1) * UNITS + decoder + (UNITS + 1) * DECISIONS
        assert len(cae.decoder_variables) == (1 if tied else 2)

    def test_encode_is_the_clean_code(self, tied):
        cae = CAE(UNITS, DECISIONS, corruption=1.0, tied=tied)
        cae(X)
        randomize(cae)
        kernel, bias = cae.encoder.get_weights()
        self.assertAllClose(cae.encode(X), 1 / (1 + np.exp(-(X @ kernel + bias))))

    def test_corruption_only_in_training(self, tied):
        cae = CAE(UNITS, DECISIONS, corruption=1.0, tied=tied)
        cae(X)
        randomize(cae)
        self.assertAllClose(cae(X, training=True), forward(cae, 0 * X), atol=1e-4)
        self.assertAllClose(cae(X, training=False), forward(cae, X), atol=1e-4)

    @pytest.mark.parametrize("beta", [0.0, 0.25, 1.0])
    def test_loss_is_equation_9(self, tied, beta):
        cae = compiled(CAE(UNITS, DECISIONS, corruption=0.5, tied=tied), beta)
        cae.build((None, FEATURES))
        randomize(cae)
        value = cae.evaluate(X, TARGETS, verbose=0, return_dict=True)["loss"]
        self.assertAllClose(value, loss(cae, beta), rtol=1e-4)

    def test_fit_lowers_the_loss(self, tied):
        cae = compiled(CAE(UNITS, DECISIONS, tied=tied))
        cae.build((None, FEATURES))
        randomize(cae)
        before = loss(cae, 0.25)
        cae.fit(X, TARGETS, epochs=40, batch_size=6, verbose=0)
        assert loss(cae, 0.25) < 0.97 * before

    def test_mixed_precision_outputs_float32(self, tied):
        with dtype_policy("mixed_bfloat16"):
            cae = compiled(CAE(UNITS, DECISIONS, corruption=0.25, tied=tied))
            outputs = cae(X)
            history = cae.fit(X, TARGETS, verbose=0).history
        assert cae.encoder.compute_dtype == "bfloat16"
        for tensor in outputs.values():
            assert keras.backend.standardize_dtype(tensor.dtype) == "float32"
        self.assertFinite(history["loss"])


class TestCAE(TestCase):
    def test_config_keeps_arguments(self):
        cae = CAE(UNITS, DECISIONS, corruption=0.25, tied=True, seed=3, name="first")
        twin = self.run_config_round_trip(cae)
        assert (twin.encoder.units, twin.num_decisions, twin.corruption) == (UNITS, DECISIONS, 0.25)
        assert (twin.tied, twin.seed, twin.name) == (True, 3, "first")
        assert twin.noise.rate == 0.25

    def test_corruption_zeroes_inputs_of_the_encoder_in_fit(self):
        # At corruption 1 the encoder sees zeros alone: its kernel gets no gradient.
        for corruption, moves in ((1.0, False), (0.0, True)):
            cae = compiled(CAE(UNITS, DECISIONS, corruption))
            cae.build((None, FEATURES))
            kernel, bias = cae.encoder.get_weights()
            cae.fit(X, TARGETS, verbose=0)
            assert bool(np.any(kernel != cae.encoder.get_weights()[0])) == moves
            assert np.any(bias != cae.encoder.get_weights()[1])

    @pytest.mark.parametrize("tied", [False, True])
    def test_training_changes_the_network_that_lends_the_layer(self, tied):
        hidden = keras.layers.Dense(UNITS, activation="sigmoid", name="hidden")
        network = keras.Sequential([keras.Input((FEATURES,)), hidden, keras.layers.Dense(2)])
        before = network.predict(X, verbose=0)
        kernel, head = hidden.get_weights()[0], network.layers[-1].get_weights()[0]
        cae = compiled(CAE(hidden, DECISIONS, tied=tied))
        cae.fit(X, TARGETS, verbose=0)
        assert cae.encoder is hidden
        assert np.any(hidden.get_weights()[0] != kernel)
        np.testing.assert_array_equal(network.layers[-1].get_weights()[0], head)
        assert np.max(np.abs(network.predict(X, verbose=0) - before)) > 1e-5

    def test_activation_of_a_lent_layer_is_kept(self):
        cae = CAE(keras.layers.Dense(UNITS, activation="relu"), DECISIONS)
        cae(X)
        kernel, bias = cae.encoder.get_weights()
        self.assertAllClose(cae.encode(X), np.maximum(X @ kernel + bias, 0))

    def test_same_seeds_train_alike(self):
        def trained() -> list[np.ndarray]:
            keras.utils.set_random_seed(1)
            cae = compiled(CAE(UNITS, DECISIONS, corruption=0.5))
            cae.fit(X, TARGETS, epochs=2, verbose=0)
            return cae.get_weights()

        for first, second in zip(trained(), trained(), strict=True):
            np.testing.assert_allclose(first, second, rtol=1e-6, atol=1e-7)

    @pytest.mark.parametrize(
        ("kwargs", "name"),
        [
            ({"encoder": 0}, "encoder"),
            ({"encoder": "5"}, "encoder"),
            ({"encoder": None}, "encoder"),
            ({"num_decisions": 0}, "num_decisions"),
            ({"num_decisions": 2.0}, "num_decisions"),
            ({"tied": "yes"}, "tied"),
            ({"tied": None}, "tied"),
            ({"corruption": 1.5}, "rate"),
            ({"corruption": -0.5}, "rate"),
            ({"corruption": None}, "rate"),
        ],
    )
    def test_wrong_arguments(self, kwargs, name):
        with pytest.raises(ValueError, match=f"`{name}`"):
            CAE(**{"encoder": UNITS, "num_decisions": DECISIONS, **kwargs})

    @pytest.mark.parametrize("shape", [(6,), (2, 4, 4), (2, 4, 4, 1)])
    def test_wrong_input_shape(self, shape):
        with pytest.raises(ValueError, match="Flatten"):
            CAE(UNITS, DECISIONS)(np.ones(shape, "float32"))

    def test_lent_layer_of_another_width(self):
        dense = keras.layers.Dense(UNITS)
        dense.build((None, FEATURES + 1))
        with pytest.raises(ValueError, match="incompatible"):
            CAE(dense, DECISIONS)(X)
