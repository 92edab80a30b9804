"""What pre-training does to a model, and the models and arguments that it takes."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from tests.support.interruptions import Stop
from tests.support.testing import dtype_policy
from tests.support.weights import assert_same_weights, changed_layers, weights_by_layer

pytestmark = pytest.mark.usefixtures("run_module_eagerly")

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


class Watcher(keras.callbacks.Callback):
    """Keeps the weights of a model as they were before and after each stage."""

    def __init__(self, net):
        super().__init__()
        self.net = net
        self.stages = []

    def on_train_begin(self, logs=None):
        self.before = weights_by_layer(self.net)

    def on_train_end(self, logs=None):
        self.stages.append(changed_layers(self.net, self.before))


class Batches(keras.utils.PyDataset):
    def __init__(self, targets=COSTS):
        super().__init__()
        self.targets = targets

    def __len__(self):
        return 3

    def __getitem__(self, index):
        part = slice(20 * index, 20 * index + 20)
        targets = self.targets[part]
        return X[part], targets if targets.ndim == 1 else targets.astype("float32")


@pytest.fixture
def net():
    keras.utils.set_random_seed(0)
    return make_net()


@pytest.fixture(params=["array", "dataset"])
def data(request):
    """The same data as the first arguments of `pretrain`, in both forms."""
    return {"x": X, "costs": COSTS} if request.param == "array" else {"x": Batches()}


class TestPretrain:
    def test_each_stage_changes_its_own_layer_and_no_other(self, net, data):
        layer = net.get_layer("hidden_1")
        watcher = Watcher(net)
        # Weight decay would move every variable that is left trainable, without a gradient too.
        adam = keras.optimizers.AdamW(0.01, weight_decay=0.5)
        csdl.pretrain(net, **data, beta=0.25, optimizer=adam, callbacks=[watcher], **QUICK)
        assert watcher.stages == [["hidden_1"], ["hidden_2"]]
        assert net.get_layer("hidden_1") is layer
        assert len(net.trainable_variables) == 6

    def test_everything_is_trainable_after_an_exception(self, net):
        with pytest.raises(InterruptedError):
            csdl.pretrain(net, Batches(), beta=0.25, callbacks=[Stop(1, 0)], **QUICK)
        assert len(net.trainable_variables) == 6
        assert all(variable.trainable for variable in net.variables)

    def test_layers_that_are_frozen_stay_frozen(self, net):
        for layer in csdl.hidden_layers(net):
            layer.trainable = False
        with pytest.raises(ValueError, match="none is trainable.*Set `trainable = True`"):
            csdl.pretrain(net, Batches(), beta=0.25, **QUICK)
        net.get_layer("hidden_2").trainable = True  # as the message advises
        before = weights_by_layer(net)
        with pytest.warns(UserWarning, match="not trainable stay as they are: .'hidden_1'."):
            histories = csdl.pretrain(net, Batches(), beta=0.25, **QUICK)
        assert len(histories) == 1 and changed_layers(net, before) == ["hidden_2"]
        assert not net.get_layer("hidden_1").trainable
        assert len(net.trainable_variables) == 4

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

    @pytest.mark.parametrize("beta", [0, 0.25, 1])
    def test_histories(self, beta):
        net, adam = make_net((5,), seed=0), keras.optimizers.Adam(0.05)
        arguments = {**QUICK, "epochs": 4, "optimizer": adam}
        [history] = csdl.pretrain(net, X, costs=COSTS, beta=beta, **arguments)
        values = history.history
        assert set(values) <= {"loss", "reconstruction_loss", "cost_loss"}
        assert len(values["loss"]) == 4 and values["loss"][-1] < values["loss"][0]
        if beta == 0.25:
            parts = np.array([values["reconstruction_loss"], values["cost_loss"]])
            np.testing.assert_allclose(values["loss"], [0.75, 0.25] @ parts, rtol=1e-4)

    def test_a_seed_makes_it_reproducible(self):
        one, again, other = (weights_after(seed, costs=COSTS, beta=0.25) for seed in (5, 5, 6))
        assert_same_weights(one, again)
        assert np.any(one[0] != other[0])

    def test_headings(self, net, capsys):
        csdl.pretrain(net, X, **{**QUICK, "verbose": 1, "epochs": 1})
        lines = [line for line in capsys.readouterr().out.splitlines() if "Pre-training" in line]
        assert lines == [
            "Pre-training hidden_1 (1 of 2): 6 -> 5 units",
            "Pre-training hidden_2 (2 of 2): 5 -> 4 units",
        ]

    def test_an_optimizer_by_its_config(self, capsys):
        sgd = {"class_name": "SGD", "config": {"learning_rate": 0.01}}
        found = weights_after(optimizer=sgd)
        assert_same_weights(found, weights_after(optimizer="sgd"))
        assert np.any(found[0] != weights_after()[0])
        assert capsys.readouterr().out == ""

    def test_an_optimizer_is_not_used_up(self, net):
        optimizer = keras.optimizers.SGD(0.0)
        before = weights_by_layer(net)
        csdl.pretrain(net, X, optimizer=optimizer, **QUICK)
        assert not changed_layers(net, before)  # its learning rate is the one in use
        assert int(optimizer.iterations) == 0
        net.compile(optimizer, loss="mse")
        net.fit(X, COSTS, batch_size=20, verbose=0)
        assert int(optimizer.iterations) == 3

    @pytest.mark.parametrize("policy,tied", [("mixed_bfloat16", True), ("mixed_float16", False)])
    def test_mixed_precision(self, policy, tied):
        with dtype_policy(policy):
            weights = weights_after(costs=COSTS, beta=0.25, tied=tied)
        assert np.isfinite(weights[0]).all()

    def test_the_model_trains_as_a_whole_afterwards(self):
        net = make_net(output="cost", seed=0)
        csdl.pretrain(net, X, costs=COSTS, beta=0.25, **QUICK)
        before = weights_by_layer(net)
        net.compile(keras.optimizers.Adam(0.05), loss=csdl.SOSRLoss())
        losses = net.fit(X, COSTS, epochs=5, batch_size=20, verbose=0).history["loss"]
        assert losses[-1] < losses[0]
        assert changed_layers(net, before) == ["hidden_1", "hidden_2", "cost"]

    @pytest.mark.parametrize(
        "arguments,match",
        [
            ({"beta": -0.1}, "Expected `beta`"),
            ({"beta": np.nan}, "Expected `beta`"),
            ({"corruption": 1.5}, "Expected `corruption`"),
            ({"epochs": 0}, "Expected `epochs`"),
            ({"batch_size": 1.5}, "Expected `batch_size`"),
            ({"reconstruction": "mse"}, "Expected `reconstruction`"),
            ({"cost_scale": 0}, "Expected `cost_scale`"),
            ({"cost_matrix": C, "costs": LABELS + 1}, "below 3.*received 3"),
            ({"cost_matrix": C}, "labels"),
            ({"cost_matrix": C, "costs": None}, "integer labels of shape"),
            ({"cost_matrix": C, "costs": LABELS[:-1]}, r"received shape \(59,\)"),
            ({"cost_matrix": C - 1, "costs": LABELS}, "cost_matrix"),
        ],
        ids=str,
    )
    def test_errors(self, net, arguments, match):
        before = weights_by_layer(net)
        with pytest.raises(ValueError, match=match):
            csdl.pretrain(net, X, **{"costs": COSTS, "beta": 0.25, **QUICK, **arguments})
        assert not changed_layers(net, before)
