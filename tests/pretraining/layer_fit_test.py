"""What pre-training computes, against CAEs that are trained by hand."""

import types

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.fitting import fit as _fit
from csdl_keras.pretraining import data as pretraining_data
from csdl_keras.pretraining.hidden_layers import hidden_layers
from csdl_keras.pretraining.layer_fit import LayerFit
from tests.support.interruptions import Stop
from tests.support.weights import assert_same_weights

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(40, 6)).astype("float32")
COSTS = RNG.uniform(size=(40, 3)) * (1 - np.eye(3))[RNG.integers(3, size=40)]


def make_net(hidden_units=(5, 4), **kwargs):
    return csdl.models.mlp((6,), 3, hidden_units, **kwargs)


def pretrain_by_hand(model, beta, reconstruction, tied):
    """Algorithm 1 with nothing but public classes: CAE after CAE on clean codes."""
    squared = csdl.losses.SquaredErrorLoss()
    cross_entropy = csdl.ReconstructionLoss(from_logits=True)
    error = squared if reconstruction == "squared_error" else cross_entropy
    codes = X
    for layer in hidden_layers(model):
        cae = csdl.CAE(layer, num_decisions=3, corruption=0.3, tied=tied)
        cae.compile(
            keras.optimizers.Adam(0.01),
            loss={"reconstruction": error, "cost": csdl.SOSRLoss()},
            loss_weights={"reconstruction": 1 - beta, "cost": beta},
        )
        targets = {"reconstruction": codes, "cost": COSTS}
        cae.fit(codes, targets, batch_size=20, epochs=2, verbose=0)
        # By predict and not by a call, which on PyTorch would leave another random state.
        codes = keras.Model(model.input, layer.output).predict(X, verbose=0)


class Batch(keras.utils.PyDataset):
    """All pairs in one batch."""

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return X, COSTS.astype("float32")


@pytest.mark.usefixtures("run_eagerly")
class TestStage:
    @pytest.mark.parametrize(
        "beta,reconstruction,tied",
        [
            (0.0, "cross_entropy", False),
            (0.25, "cross_entropy", True),
            (0.25, "squared_error", False),
            (1.0, "cross_entropy", False),
        ],
    )
    def test_equals_caes_trained_by_hand(self, beta, reconstruction, tied):
        models = []
        for by_hand in (True, False):
            keras.utils.set_random_seed(2)
            models.append(make_net())
            if by_hand:
                pretrain_by_hand(models[-1], beta, reconstruction, tied)
            else:
                arguments = {"reconstruction": reconstruction, "tied": tied, "verbose": 0}
                adam = keras.optimizers.Adam(0.01)
                csdl.pretrain(models[-1], X, COSTS, beta, 0.3, 2, 20, adam, **arguments)
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
                net, x, costs, beta=0.25, corruption=0.0, epochs=2, batch_size=len(X), verbose=0
            )
            results.append(net.get_weights())
        assert_same_weights(*results, atol=1e-5, rtol=1e-4)


@pytest.mark.skipif(keras.backend.backend() == "torch", reason="compiles nothing")
def test_later_epochs_compile_nothing(monkeypatch):
    """Python runs a stage only where it is traced: as often in three epochs as in one."""
    traced = []
    call = LayerFit.call

    def counted(stage, inputs, training=False):
        traced.append(stage.name)
        return call(stage, inputs, training)

    monkeypatch.setattr(LayerFit, "call", counted)
    for epochs in (1, 3):
        net = make_net((5,), seed=0)
        csdl.pretrain(net, X, COSTS, 0.25, epochs=epochs, batch_size=10, seed=0, verbose=0)
    half = len(traced) // 2
    assert 1 <= half < 4 and traced[:half] == traced[half:]


@pytest.mark.usefixtures("run_eagerly")
class TestCodesThatDoNotFit:
    """They are computed for each batch, and training is the same."""

    @staticmethod
    def pretrained(*callbacks, cache=None):
        net = make_net(seed=0)
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
        monkeypatch.setattr(_fit, "_SECONDS", 0.0)
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
