"""What pre-training computes, against CAEs that are trained by hand, and does to a model."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.pretraining.hidden_layers import hidden_layers
from csdl_keras.pretraining.layer_fit import LayerFit
from tests.support.testing import dtype_policy
from tests.support.weights import assert_same_weights, changed_layers, weights_by_layer

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(60, 6)).astype("float32")
LABELS = RNG.integers(3, size=60)
C = np.array([[0.0, 0.1, 0.5], [1.0, 0.0, 0.3], [0.2, 0.7, 0.0]])
COSTS = C[LABELS]
QUICK = {"epochs": 2, "batch_size": 20, "verbose": 0}


def make_net(hidden_units=(5, 4), **kwargs):
    return csdl.models.mlp((6,), 3, hidden_units, **kwargs)


def weights_after(seed=1, **arguments):
    """The weights of a network with one hidden layer that was pre-trained with a global seed."""
    net = make_net((5,), seed=0)
    keras.utils.set_random_seed(seed)
    csdl.pretrain(net, **{"x": X, **QUICK, "epochs": 1, **arguments})
    return net.get_weights()


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


class Batches(keras.utils.PyDataset):
    def __init__(self, targets=COSTS, size=20):
        super().__init__()
        self.targets, self.size = targets, size

    def __len__(self):
        return len(X) // self.size

    def __getitem__(self, index):
        part = slice(self.size * index, self.size * (index + 1))
        targets = self.targets[part]
        return X[part], targets if targets.ndim == 1 else targets.astype("float32")


class Watcher(keras.callbacks.Callback):
    """Keeps the names of the layers that each stage changes."""

    def __init__(self, net):
        super().__init__()
        self.net = net
        self.stages = []

    def on_train_begin(self, logs=None):
        self.before = weights_by_layer(self.net)

    def on_train_end(self, logs=None):
        self.stages.append(changed_layers(self.net, self.before))


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
        csdl.pretrain(net, X, COSTS, 0.25, epochs=epochs, batch_size=15, seed=0, verbose=0)
    half = len(traced) // 2
    assert 1 <= half < 4 and traced[:half] == traced[half:]


@pytest.mark.usefixtures("run_module_eagerly")
class TestPretrain:
    @pytest.mark.parametrize(
        "beta,reconstruction,tied",
        [
            (0.0, "squared_error", False),
            (0.25, "cross_entropy", True),
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
        for x, costs in ((X, COSTS), (Batches(size=60), None)):
            keras.utils.set_random_seed(3)
            inputs = hidden = keras.Input((6,))
            for units in (5, 4):
                hidden = keras.layers.Dense(units, activation="sigmoid")(hidden)
                hidden = keras.layers.Dropout(0.5)(hidden)
            net = keras.Model(inputs, csdl.CostOutput(3)(hidden))
            fit = {"corruption": 0.0, "epochs": 2, "batch_size": 60, "verbose": 0}
            csdl.pretrain(net, x, costs, beta=0.25, **fit)
            results.append(net.get_weights())
        assert_same_weights(*results, atol=1e-5, rtol=1e-4)

    @pytest.mark.parametrize("data", [{"x": X, "costs": COSTS}, {"x": Batches()}])
    def test_each_stage_changes_its_own_layer_and_no_other(self, data):
        net = make_net(seed=0)
        watcher = Watcher(net)
        # Weight decay would move every variable that is left trainable, without a gradient too.
        adam = keras.optimizers.AdamW(0.01, weight_decay=0.5)
        csdl.pretrain(net, **data, beta=0.25, optimizer=adam, callbacks=[watcher], **QUICK)
        assert watcher.stages == [["hidden_1"], ["hidden_2"]]
        assert len(net.trainable_variables) == 6

    def test_layers_that_are_frozen_stay_frozen(self):
        net = make_net(seed=0)
        for layer in csdl.hidden_layers(net):
            layer.trainable = False
        with pytest.raises(ValueError, match="All hidden Dense layers are frozen"):
            csdl.pretrain(net, Batches(), beta=0.25, **QUICK)
        net.get_layer("hidden_2").trainable = True
        before = weights_by_layer(net)
        histories = csdl.pretrain(net, Batches(), beta=0.25, **QUICK)
        assert len(histories) == 1 and changed_layers(net, before) == ["hidden_2"]
        assert not net.get_layer("hidden_1").trainable

    def test_beta_0_does_not_see_costs(self):
        expected = weights_after()
        assert_same_weights(weights_after(costs="neither read nor checked"), expected)
        assert_same_weights(weights_after(cost_matrix=C), expected)

    def test_costs_matter_with_beta_above_0(self):
        """As cost vectors, or as labels with a matrix, in arrays or datasets."""
        expected = weights_after(costs=COSTS, beta=0.25)
        assert np.any(weights_after(costs=COSTS[::-1], beta=0.25)[0] != expected[0])
        labels = {"beta": 0.25, "cost_matrix": C}
        assert_same_weights(weights_after(costs=LABELS.astype("uint8"), **labels), expected)
        vectors = weights_after(x=Batches(COSTS), beta=0.25)
        assert_same_weights(weights_after(x=Batches(LABELS), **labels), vectors)

    @pytest.mark.parametrize("beta", [0, 0.25])
    def test_histories(self, beta):
        net, adam = make_net((5,), seed=0), keras.optimizers.Adam(0.05)
        arguments = {**QUICK, "epochs": 4, "optimizer": adam}
        [history] = csdl.pretrain(net, X, costs=COSTS, beta=beta, **arguments)
        values = history.history
        assert set(values) <= {"loss", "reconstruction_loss", "cost_loss"}
        assert history.epoch == [0, 1, 2, 3] and values["loss"][-1] < values["loss"][0]
        if beta == 0.25:
            parts = np.array([values["reconstruction_loss"], values["cost_loss"]])
            np.testing.assert_allclose(values["loss"], [0.75, 0.25] @ parts, rtol=1e-4)

    def test_a_seed_makes_it_reproducible(self):
        one, again, other = (weights_after(seed, costs=COSTS, beta=0.25) for seed in (5, 5, 6))
        assert_same_weights(one, again)
        assert np.any(one[0] != other[0])

    def test_an_optimizer_is_not_used_up(self):
        optimizer = keras.optimizers.SGD(0.0)
        net = make_net()
        before = weights_by_layer(net)
        csdl.pretrain(net, X, optimizer=optimizer, **QUICK)
        assert not changed_layers(net, before)  # its learning rate is the one in use
        assert int(optimizer.iterations) == 0

    def test_mixed_precision(self):
        with dtype_policy("mixed_bfloat16"):
            weights = weights_after(costs=COSTS, beta=0.25, tied=True)
        assert np.isfinite(weights[0]).all()


MORE = np.random.default_rng(1).uniform(size=(37, X.shape[1])).astype("float32")


def sosr(outputs, costs):
    """The SOSR loss of one example, as the paper writes it, with z = 1 at the lowest cost."""
    total = 0.0
    for output, cost in zip(outputs, costs, strict=True):
        sign = 1.0 if cost == min(costs) else -1.0
        total += np.log(1.0 + np.exp(sign * (output - cost)))
    return total


@pytest.mark.usefixtures("run_module_eagerly")
class TestUnlabelled:
    def test_reconstruction_is_that_of_all_inputs(self):
        expected = weights_after(x=np.concatenate([X, MORE]))
        assert_same_weights(weights_after(unlabelled=MORE), expected)

    def test_costs_are_those_of_labelled_inputs_alone(self, monkeypatch):
        # One batch, and a head whose outputs are known: those of a zero kernel.
        net = make_net(hidden_units=(5,), seed=0)
        arguments = {**QUICK, "epochs": 1, "batch_size": len(X) + len(MORE)}
        sgd = keras.optimizers.SGD(1e-12)
        seen = {}
        build_cae = csdl.layers.CAE.build

        def build(cae, input_shape):
            build_cae(cae, input_shape)
            cae.regressor.kernel.assign(0.0 * cae.regressor.kernel)
            seen["bias"] = np.array(cae.regressor.get_weights()[1])

        monkeypatch.setattr(csdl.layers.CAE, "build", build)
        [history] = csdl.pretrain(
            net, X, COSTS, beta=0.5, unlabelled=MORE, optimizer=sgd, seed=0, **arguments
        )
        expected = np.mean([sosr(seen["bias"], costs) for costs in COSTS])
        np.testing.assert_allclose(history.history["cost_loss"], [expected], rtol=1e-5)

    def test_they_change_what_is_learnt(self):
        arguments = {"costs": LABELS, "cost_matrix": C}
        weights = [weights_after(**arguments, beta=0.5, unlabelled=m) for m in (None, MORE[:0])]
        assert_same_weights(*weights)
        other = weights_after(**arguments, beta=0.5, unlabelled=MORE)
        assert np.abs(other[0] - weights[0][0]).max() > 1e-4

    def test_what_it_refuses(self):
        for unlabelled, match in ((MORE[:, 1:], "of shape"), (MORE + 1, r"lie in \[0, 1\]")):
            with pytest.raises(ValueError, match=match):
                csdl.pretrain(make_net(), X, unlabelled=unlabelled, **QUICK)
