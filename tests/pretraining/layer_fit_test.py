"""What pre-training computes, against NumPy and against CAEs that are trained by hand."""

import types

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.fitting import seeded_fit
from csdl_keras.pretraining import data as pretraining_data
from csdl_keras.pretraining.hidden_layers import hidden_layers
from csdl_keras.pretraining.layer_fit import LayerFit
from tests.support.interruptions import Stop
from tests.support.testing import to_numpy
from tests.support.weights import assert_same_weights

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(40, 6)).astype("float32")
COSTS = RNG.uniform(size=(40, 3)) * (1 - np.eye(3))[RNG.integers(3, size=40)]
PARTS = ("kernel", "bias", "decoder", "decoder_bias", "regressor", "regressor_bias")


def make_net(hidden_units=(5, 4), **kwargs):
    return csdl.models.mlp((6,), 3, hidden_units, **kwargs)


def softplus(values):
    return np.logaddexp(0.0, values)


def objective(parameters, beta, tied, reconstruction):
    """`(1 - beta) L_CE + beta L_SOSR` of the paper in float64, the mean over examples."""
    p = dict(zip(PARTS, parameters, strict=True))
    x = X.astype("float64")
    code = 1 / (1 + np.exp(-(x @ p["kernel"] + p["bias"])))
    output = code @ (p["kernel"].T if tied else p["decoder"]) + p["decoder_bias"]
    if reconstruction == "cross_entropy":
        error = softplus(output) - x * output
    else:
        error = (x - output) ** 2
    sign = np.where(COSTS == COSTS.min(axis=1, keepdims=True), 1.0, -1.0)
    sosr = softplus(sign * (code @ p["regressor"] + p["regressor_bias"] - COSTS))
    return (1 - beta) * error.sum(axis=1).mean() + beta * sosr.sum(axis=1).mean()


def gradient(parameters, *arguments, step=1e-5):
    """The gradient of `objective` by central differences."""
    parameters = [array.astype("float64") for array in parameters]
    gradients = [np.zeros_like(array) for array in parameters]
    for array, result in zip(parameters, gradients, strict=True):
        for index in np.ndindex(array.shape):
            value = array[index]
            array[index] = value + step
            above = objective(parameters, *arguments)
            array[index] = value - step
            below = objective(parameters, *arguments)
            array[index] = value
            result[index] = (above - below) / (2 * step)
    return gradients


class ReadWeights(keras.callbacks.Callback):
    """Keeps the CAE's weights from before and after `fit`, in the order of `PARTS`."""

    def read(self):
        cae = self.model.cae
        decoder = [None, cae.decoder_bias] if cae.tied else cae.decoder.weights
        weights = [*cae.encoder.weights, *decoder, *cae.regressor.weights]
        return [np.zeros(0) if w is None else np.array(to_numpy(w)) for w in weights]

    def on_train_begin(self, logs=None):
        self.before = self.read()

    def on_train_end(self, logs=None):
        self.after = self.read()


def pretrain_by_hand(model, x, costs, beta, corruption, epochs, batch_size):
    """Algorithm 1 with nothing but public classes: CAE after CAE on clean codes."""
    codes = x
    for layer in hidden_layers(model):
        cae = csdl.CAE(layer, num_decisions=costs.shape[1], corruption=corruption)
        cae.compile(
            keras.optimizers.Adam(0.01),
            loss={
                "reconstruction": csdl.ReconstructionLoss(from_logits=True),
                "cost": csdl.SOSRLoss(),
            },
            loss_weights={"reconstruction": 1 - beta, "cost": beta},
        )
        targets = {"reconstruction": codes, "cost": costs}
        cae.fit(codes, targets, batch_size=batch_size, epochs=epochs, verbose=0)
        # By predict and not by a call, which on PyTorch would leave another random state.
        codes = keras.Model(model.input, layer.output).predict(x, verbose=0)


class Batch(keras.utils.PyDataset):
    """All pairs in one batch."""

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return X, COSTS.astype("float32")


@pytest.mark.usefixtures("run_eagerly")
class TestStage:
    @pytest.mark.parametrize(
        "beta,tied,reconstruction",
        [
            (0.0, False, "cross_entropy"),
            (0.25, False, "cross_entropy"),
            (1.0, False, "cross_entropy"),
            (0.25, True, "cross_entropy"),
            (0.25, False, "squared_error"),
        ],
    )
    def test_one_step_is_the_gradient_of_the_papers_objective(self, beta, tied, reconstruction):
        rate = 8.0  # so large that the step of a float32 weight keeps its digits
        keras.utils.set_random_seed(1)
        reader = ReadWeights()
        csdl.pretrain(
            make_net(hidden_units=(4,)),
            X,
            costs=COSTS,
            beta=beta,
            corruption=0.0,
            epochs=1,
            batch_size=len(X),
            optimizer=keras.optimizers.SGD(rate),
            reconstruction=reconstruction,
            tied=tied,
            callbacks=[reader],
            verbose=0,
        )
        expected = gradient(reader.before, beta, tied, reconstruction)
        assert np.abs(expected[0]).max() > 1e-3
        for name, before, after, slope in zip(
            PARTS, reader.before, reader.after, expected, strict=True
        ):
            scale = np.abs(slope).max() if slope.any() else 1.0
            np.testing.assert_allclose(
                (before - after) / rate, slope, atol=1e-4 * scale, err_msg=name
            )

    def test_equals_caes_trained_by_hand(self):
        arguments = {"beta": 0.25, "corruption": 0.3, "epochs": 3, "batch_size": 20}
        models = []
        for by_hand in (True, False):
            keras.utils.set_random_seed(2)
            model = make_net()
            if by_hand:
                pretrain_by_hand(model, X, COSTS, **arguments)
            else:
                adam = keras.optimizers.Adam(0.01)
                csdl.pretrain(model, X, costs=COSTS, optimizer=adam, verbose=0, **arguments)
            models.append(model)
        assert_same_weights(*models, atol=1e-5, rtol=1e-4)

    def test_a_dataset_of_one_batch_equals_the_array(self):
        """Also with Dropout: the codes that layers learn from are those of prediction."""
        results = []
        for x, costs in ((X, COSTS), (Batch(), None)):
            keras.utils.set_random_seed(3)
            inputs = hidden = keras.Input((6,))
            for units in (5, 4):
                hidden = keras.layers.Dense(units, activation="sigmoid")(hidden)
                hidden = keras.layers.Dropout(0.5)(hidden)
            net = keras.Model(inputs, csdl.CostOutput(3)(hidden))
            csdl.pretrain(
                net, x, costs, beta=0.25, corruption=0.0, epochs=3, batch_size=len(X), verbose=0
            )
            results.append(net.get_weights())
        assert_same_weights(*results, atol=1e-5, rtol=1e-4)


@pytest.mark.skipif(keras.backend.backend() == "torch", reason="compiles nothing")
def test_later_epochs_compile_nothing(monkeypatch):
    """Python runs a stage only where it is traced: as often in four epochs as in one."""
    traced = []
    call = LayerFit.call

    def counted(stage, inputs, training=False):
        traced.append(stage.name)
        return call(stage, inputs, training)

    monkeypatch.setattr(LayerFit, "call", counted)
    for epochs in (1, 4):
        net = make_net(seed=0)
        csdl.pretrain(net, X, COSTS, 0.25, epochs=epochs, batch_size=10, seed=0, verbose=0)
    half = len(traced) // 2
    assert 2 <= half < 8 and traced[:half] == traced[half:]


@pytest.mark.usefixtures("run_eagerly")
class TestCodesThatDoNotFit:
    """They are computed for each batch, and training is the same."""

    @staticmethod
    def pretrained(*callbacks, cache=None):
        net = make_net(hidden_units=(5, 4, 3), seed=0)
        csdl.pretrain(
            net,
            X,
            COSTS,
            beta=0.25,
            corruption=0.3,
            epochs=2,
            batch_size=16,
            optimizer=keras.optimizers.Adam(0.01),
            seed=1,
            unlabelled=X[:7],
            callbacks=callbacks,
            cache=cache,
            verbose=0,
        )
        return net.get_weights()

    def test_same_training_also_if_resumed(self, monkeypatch, tmp_path):
        def predict(*args, **kwargs):
            raise AssertionError("all codes at once")

        expected = self.pretrained()
        monkeypatch.setattr(pretraining_data, "_MOST_CODES", 0)
        monkeypatch.setattr(keras.Model, "predict", predict)
        monkeypatch.setattr(seeded_fit, "SECONDS", 0.0)
        assert_same_weights(self.pretrained(), expected, atol=1e-5, rtol=1e-4)
        with pytest.raises(InterruptedError):
            self.pretrained(Stop(1, 1), cache=csdl.StageCache(tmp_path))
        found = self.pretrained(cache=csdl.StageCache(tmp_path))
        assert_same_weights(found, expected, atol=1e-5, rtol=1e-4)

    def test_what_fits(self):
        data = pretraining_data.PretrainingData(make_net(), X, None, False, None, 10, None)
        assert data.keeps_codes(None)
        for units, fit in ((2**24, True), (2**26, False)):  # 40 rows, of 2.7 and of 11 GB
            assert data.keeps_codes(types.SimpleNamespace(output_shape=(None, units))) == fit
