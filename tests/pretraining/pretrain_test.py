"""What pre-training does to a model, and the models and arguments that it takes."""

import contextlib

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from tests.support.testing import dtype_policy
from tests.support.weights import assert_same_weights, changed_layers, weights_by_layer

pytestmark = pytest.mark.usefixtures("run_eagerly")

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(60, 6)).astype("float32")
COSTS = csdl.costs.cost_vectors(csdl.costs.zero_one(3), RNG.integers(3, size=60))
QUICK = {"epochs": 2, "batch_size": 20, "verbose": 0}


def make_net(hidden_units=(5, 4), **kwargs):
    return csdl.models.mlp((6,), 3, hidden_units, **kwargs)


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


class Raiser(keras.callbacks.Callback):
    """Fails in the second stage."""

    stages = 0

    def on_train_begin(self, logs=None):
        self.stages += 1

    def on_epoch_end(self, epoch, logs=None):
        if self.stages == 2:
            raise InterruptedError


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        part = slice(20 * index, 20 * index + 20)
        return X[part], COSTS[part].astype("float32")


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
        raiser = Raiser()
        with pytest.raises(InterruptedError):
            csdl.pretrain(net, Batches(), beta=0.25, callbacks=[raiser], **QUICK)
        assert raiser.stages == 2
        assert len(net.trainable_variables) == 6
        assert all(variable.trainable for variable in net.variables)

    def test_layers_that_are_frozen_stay_frozen(self, net):
        net.get_layer("hidden_1").trainable = False
        before = weights_by_layer(net)
        with pytest.warns(UserWarning, match="not trainable stay as they are: .'hidden_1'."):
            histories = csdl.pretrain(net, Batches(), beta=0.25, **QUICK)
        assert len(histories) == 1 and changed_layers(net, before) == ["hidden_2"]
        assert not net.get_layer("hidden_1").trainable
        assert len(net.trainable_variables) == 4

    @pytest.mark.parametrize("whole", [True, False])
    def test_nothing_to_train(self, net, whole):
        for part in [net] if whole else csdl.hidden_layers(net):
            part.trainable = False
        with pytest.raises(ValueError, match="none is trainable.*Set `trainable = True`"):
            csdl.pretrain(net, Batches(), beta=0.25, **QUICK)
        if whole:  # as the message advises
            net.trainable = True
        else:
            net.get_layer("hidden_2").trainable = True
        with contextlib.nullcontext() if whole else pytest.warns(UserWarning):
            histories = csdl.pretrain(net, Batches(), beta=0.25, **QUICK)
        assert len(histories) == 1 + whole

    def test_beta_0_does_not_see_costs(self):
        results = []
        for costs in (None, COSTS, 100 * COSTS[::-1], "neither read nor checked"):
            keras.utils.set_random_seed(1)
            net = make_net(hidden_units=(5,))
            csdl.pretrain(net, X, costs=costs, **QUICK)
            results.append(net.get_weights())
        for result in results[1:]:
            assert_same_weights(results[0], result)

    def test_costs_matter_with_beta_above_0(self):
        results = []
        for costs in (COSTS, COSTS[::-1]):
            keras.utils.set_random_seed(1)
            net = make_net(hidden_units=(5,))
            csdl.pretrain(net, X, costs=costs, beta=0.25, **QUICK)
            results.append(net.get_weights()[0])
        assert np.abs(results[0] - results[1]).max() > 1e-5

    @pytest.mark.parametrize(
        "beta,parts",
        [
            (0, {"loss"}),
            (0.25, {"loss", "reconstruction_loss", "cost_loss"}),
            (1, {"loss"}),
        ],
    )
    def test_histories(self, beta, parts):
        net = make_net(hidden_units=(5,))
        arguments = {**QUICK, "epochs": 8}
        adam = keras.optimizers.Adam(0.05)
        histories = csdl.pretrain(net, X, costs=COSTS, beta=beta, optimizer=adam, **arguments)
        (values,) = [history.history for history in histories]
        assert parts <= set(values) <= {"loss", "reconstruction_loss", "cost_loss"}
        assert len(values["loss"]) == 8
        assert values["loss"][-1] < values["loss"][0]
        if beta == 0.25:
            last = {name: losses[-1] for name, losses in values.items()}
            weighted = 0.75 * last["reconstruction_loss"] + 0.25 * last["cost_loss"]
            assert last["loss"] == pytest.approx(weighted, rel=1e-4)

    def test_a_seed_makes_it_reproducible(self):
        results = []
        for seed in (5, 5, 6):
            net = make_net(hidden_units=(5,))
            net.set_weights([np.full(w.shape, 0.1, "float32") for w in net.get_weights()])
            keras.utils.set_random_seed(seed)
            csdl.pretrain(net, X, costs=COSTS, beta=0.25, **QUICK)
            results.append(net.get_weights())
        assert_same_weights(results[0], results[1])
        assert np.any(results[0][0] != results[2][0])

    def test_headings(self, net, capsys):
        csdl.pretrain(net, X, **{**QUICK, "verbose": 1})
        lines = [line for line in capsys.readouterr().out.splitlines() if "Pre-training" in line]
        assert lines == [
            "Pre-training hidden_1 (1 of 2): 6 -> 5 units",
            "Pre-training hidden_2 (2 of 2): 5 -> 4 units",
        ]

    def test_silence(self, capsys):
        csdl.pretrain(make_net(hidden_units=(5,)), X, **QUICK)
        assert capsys.readouterr().out == ""

    @pytest.mark.parametrize(
        "optimizer", ["sgd", {"class_name": "SGD", "config": {"learning_rate": 0.01}}], ids=str
    )
    def test_optimizers_by_name_and_config(self, optimizer):
        net = make_net(hidden_units=(5,))
        before = weights_by_layer(net)
        csdl.pretrain(net, X, optimizer=optimizer, **QUICK)
        assert changed_layers(net, before) == ["hidden_1"]

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
            net = make_net(hidden_units=(5,))
            histories = csdl.pretrain(net, X, costs=COSTS, beta=0.25, tied=tied, **QUICK)
        assert np.isfinite([history.history["loss"] for history in histories]).all()
        assert np.isfinite(net.get_weights()[0]).all()

    def test_the_model_trains_as_a_whole_afterwards(self):
        keras.utils.set_random_seed(0)
        net = make_net(output="cost")
        csdl.pretrain(net, X, costs=COSTS, beta=0.25, **QUICK)
        before = weights_by_layer(net)
        net.compile(keras.optimizers.Adam(0.05), loss=csdl.SOSRLoss())
        losses = net.fit(X, COSTS, epochs=10, batch_size=20, verbose=0).history["loss"]
        assert losses[-1] < losses[0]
        assert changed_layers(net, before) == ["hidden_1", "hidden_2", "cost"]
        assert np.isfinite(net.predict(X, verbose=0)).all()

    @pytest.mark.parametrize(
        "argument",
        [
            {"beta": -0.1},
            {"beta": 1.1},
            {"beta": np.nan},
            {"corruption": 1.5},
            {"corruption": "0.25"},
            {"epochs": 0},
            {"epochs": 1.5},
            {"batch_size": 0},
            {"reconstruction": "mse"},
        ],
        ids=str,
    )
    def test_arguments_out_of_range(self, net, argument):
        before = weights_by_layer(net)
        (name,) = argument
        with pytest.raises(ValueError, match=f"Expected `{name}`"):
            csdl.pretrain(net, X, costs=COSTS, **{**QUICK, **argument})
        assert not changed_layers(net, before)
