"""Pre-training on inputs without labels beside those that have them."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.pretraining.hidden_layers import hidden_layers
from tests.pretraining.pretrain_test import COSTS, QUICK, X, make_net
from tests.support.trainers import DATA, MATRICES, SETTINGS, make_trainer
from tests.support.weights import assert_same_weights

MORE = np.random.default_rng(1).uniform(size=(37, X.shape[1])).astype("float32")


def sosr(outputs, costs):
    """The SOSR loss of one example, as the paper writes it, with z = 1 at the lowest cost."""
    total = 0.0
    for output, cost in zip(outputs, costs, strict=True):
        sign = 1.0 if cost == min(costs) else -1.0
        total += np.log(1.0 + np.exp(sign * (output - cost)))
    return total


class TestPretrain:
    def test_reconstruction_is_that_of_all_inputs(self):
        nets = []
        for arrays, unlabelled in ((X, MORE), (np.concatenate([X, MORE]), None)):
            keras.utils.set_random_seed(0)
            nets.append(make_net(seed=0))
            keras.utils.set_random_seed(1)
            csdl.pretrain(nets[-1], arrays, seed=0, unlabelled=unlabelled, **QUICK)
        assert_same_weights(*nets)

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

    @pytest.mark.parametrize("matrix", [None, csdl.costs.zero_one(3)])
    @pytest.mark.usefixtures("run_eagerly")
    def test_they_change_what_is_learnt(self, matrix):
        costs = COSTS if matrix is None else np.arange(len(X)) % 3
        kernels = []
        for unlabelled in (None, MORE, MORE[:0]):
            net = make_net(seed=0)
            keras.utils.set_random_seed(1)
            csdl.pretrain(
                net, X, costs, 0.5, cost_matrix=matrix, unlabelled=unlabelled, seed=0, **QUICK
            )
            kernels.append(hidden_layers(net)[0].get_weights()[0])
        assert np.isfinite(kernels[1]).all()
        assert np.abs(kernels[0] - kernels[1]).max() > 1e-3
        np.testing.assert_array_equal(kernels[0], kernels[2])

    @pytest.mark.parametrize(
        "unlabelled,match",
        [
            (MORE[:, 1:], "Expected `unlabelled` of shape"),
            (MORE[0], "Expected `unlabelled` of shape"),
            (MORE.astype(str), "Expected `unlabelled` to hold real numbers"),
            (MORE + 1.0, r"lie in \[0, 1\]"),
            (MORE * np.nan, "to be finite"),
        ],
    )
    def test_what_it_refuses(self, unlabelled, match):
        with pytest.raises(ValueError, match=match):
            csdl.pretrain(make_net(), X, unlabelled=unlabelled, **QUICK)

    def test_a_dataset_beside_it(self):
        tf = pytest.importorskip("tensorflow")
        batches = tf.data.Dataset.from_tensor_slices(X).batch(10)
        with pytest.raises(ValueError, match="Expected `unlabelled` only with arrays"):
            csdl.pretrain(make_net(), batches, unlabelled=MORE, **QUICK)


class TestTrainer:
    @pytest.mark.parametrize("name", ["sdae_bayes", "csdnn"])
    def test_it_is_a_part_of_pretraining_alone(self, name, run_eagerly):
        trainers = [make_trainer(unlabelled=more) for more in (None, DATA.x_test[:50])]
        stages = [trainer.stages(name, MATRICES[0]) for trainer in trainers]
        assert stages[0]["pretraining"] != stages[1]["pretraining"]
        models = [trainer.train(name, MATRICES[0]).model for trainer in trainers]
        kernels = [hidden_layers(model)[0].get_weights()[0] for model in models]
        assert np.abs(kernels[0] - kernels[1]).max() > 1e-3
        plain = [trainer.stages("dnn_bayes", MATRICES[0]) for trainer in trainers]
        assert plain[0] == plain[1]

    def test_the_cache_tells_one_from_another(self, tmp_path):
        keys = set()
        for more in (None, DATA.x_test[:50], DATA.x_test[50:100]):
            cache = csdl.StageCache(tmp_path)
            trainer = make_trainer(unlabelled=more, cache=cache)
            keys.add(cache.key(trainer.stages("csdnn", MATRICES[0])["training"]))
        assert len(keys) == 3

    def test_what_it_refuses(self):
        with pytest.raises(ValueError, match="Expected unlabelled inputs of shape"):
            make_trainer(unlabelled=DATA.x_test[:, :5])
        with pytest.raises(ValueError, match="entry of `unlabelled` to be finite"):
            make_trainer(unlabelled=DATA.x_test * np.nan)

    def test_train(self, run_eagerly):
        own = (DATA.x_train, DATA.y_train, MATRICES[0])
        arguments = {"settings": SETTINGS, "seed": 0, "unlabelled": DATA.x_test[:50]}
        found = csdl.train("sdae_bayes", *own, **arguments)
        expected = make_trainer(unlabelled=DATA.x_test[:50]).train("sdae_bayes", MATRICES[0])
        assert_same_weights(found, expected.model)
        with pytest.raises(ValueError, match="with an algorithm that pre-trains only.*'dnn_bayes'"):
            csdl.train("dnn_bayes", *own, **arguments)
