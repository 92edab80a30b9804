"""The search spaces of the HyperModels, and what their trials do."""

import keras
import keras_tuner
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras import tuning
from csdl_keras.tuning.hyper_models import declare
from tests.support.eager import eager_models
from tests.support.weights import assert_same_weights
from tests.tuning.searches import COSTS, FIT, TRAIN, VALIDATION, C, X, Y, made, search, small

PRETRAINING = {"corruption", "pretraining_learning_rate", "pretraining_epochs"}
NETWORK = {"units", "depth", "optimizer", "sgd_learning_rate", "adam_learning_rate", "momentum"}
LOSS = {"cost_scale", "alpha"}


def fitted(hyper_model, targets=Y, **arguments):
    """A trial outside a search: built and fitted with the default values."""
    hp = keras_tuner.HyperParameters()
    model = hyper_model.build(hp)
    arguments = {"x": X[TRAIN], "y": targets[TRAIN], **arguments}
    data = (X[VALIDATION], targets[VALIDATION])
    history = hyper_model.fit(hp, model, **{"validation_data": data, **FIT, **arguments})
    return model, history.history


class TestSpaces:
    def test_what_keras_tuner_is_given(self):
        hp = keras_tuner.HyperParameters()
        assert declare(hp, "rate", tuning.Range(0.01, 1.0, sampling="log")) == 0.01
        assert declare(hp, "depth", tuning.Range(1, 5, step=2)) == 1
        beta = declare(hp, "beta", (0, 0.25, np.float32(1)))
        rate, depth, chosen = hp.space
        assert (rate.sampling, depth.max_value, depth.step) == ("log", 5, 2)
        # KerasTuner takes no list of integers and floats together.
        assert list(chosen.values) == [0.0, 0.25, 1.0] and isinstance(beta, float)

    @pytest.mark.parametrize(
        "algorithm,names",
        [("csdnn", NETWORK | PRETRAINING | LOSS | {"beta"}), ("dnn_bayes", NETWORK)],
    )
    def test_spaces_of_an_algorithm(self, algorithm, names):
        hp = keras_tuner.HyperParameters()
        hyper_model = tuning.CSDNNHyperModel((6,), C, algorithm)
        hyper_model.build(hp)
        hp.values["optimizer"] = "adam"
        hp.ensure_active_values()
        hyper_model.build(hp)
        assert {each.name for each in hp.space} == names
        if "beta" in names:
            (beta,) = (each for each in hp.space if each.name == "beta")
            assert list(beta.values) == [0.0, 0.05, 0.1, 0.25, 0.4, 0.75, 1.0]  # the paper's

    def test_values_reach_the_network_and_its_training(self):
        chosen = {"units": 7, "depth": 3, "cost_scale": 3.0, "alpha": 4.0, "momentum": 0.9}
        hyper_model = tuning.CSDNNHyperModel(
            (6,), C, **chosen, optimizer=["sgd", "adam"], learning_rate={"sgd": 0.3, "adam": 0.002}
        )
        model = hyper_model.build(keras_tuner.HyperParameters())
        assert [layer.units for layer in csdl.hidden_layers(model)] == [7, 7, 7]
        assert isinstance(model.optimizer, keras.optimizers.SGD)
        assert float(keras.ops.convert_to_numpy(model.optimizer.learning_rate)) == np.float32(0.3)
        assert (model.loss.alpha, model.loss.cost_scale) == (4.0, 3.0 / 10.0)

    @pytest.mark.parametrize(
        "arguments,message",
        [
            ({"algorithm": "cnn_sosr"}, "'cnn_sosr' cannot be searched"),
            ({"cost_matrix": None, "num_classes": 3, "algorithm": "sdae_bayes"}, "`cost_matrix`"),
            ({"seed": None, "cache": csdl.StageCache()}, "`cache` needs a `seed`"),
        ],
    )
    def test_a_hyper_model_refuses(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            small(**arguments)


@pytest.fixture(scope="module")
def trained():
    with eager_models():
        return fitted(small())


class TestFit:
    @pytest.mark.parametrize("algorithm", ["seae_sosr", "sdae_bayes"])
    def test_pretrains_the_models_own_layers(self, algorithm):
        hyper_model = small(algorithm, beta=0.5, learning_rate=1e-30, momentum=0.0)
        hp = keras_tuner.HyperParameters()
        hyper_model.build(hp)
        model, _ = fitted(hyper_model)
        twin = hyper_model.network(hp, seed=0)
        before = twin.get_weights()
        matrix = 1 - np.eye(3) if algorithm == "seae_sosr" else C
        costs = {"costs": Y[TRAIN], "cost_matrix": matrix, "cost_scale": 1 / matrix.max()}
        optimizer = keras.optimizers.Adam(hp.get("pretraining_learning_rate"))
        beta = 0.0 if algorithm == "sdae_bayes" else 0.5
        fit = {"epochs": 1, "batch_size": 20, "seed": 0, "verbose": 0}
        csdl.pretrain(twin, X[TRAIN], **costs, beta=beta, optimizer=optimizer, **fit)
        assert_same_weights(model, twin, atol=1e-20)
        assert np.abs(model.get_weights()[0] - before[0]).max() > 1e-4

    def test_the_same_values_give_the_same_network(self, trained):
        (first, history), (again, told) = trained, fitted(small(cache=csdl.StageCache()))
        assert_same_weights(first, again)
        assert history == told
        other, _ = fitted(small(seed=1))
        assert np.abs(other.get_weights()[0] - first.get_weights()[0]).max() > 1e-3

    def test_cost_vectors_equal_a_matrix(self, trained):
        expected, history = trained
        vectors = small(cost_matrix=None, num_classes=3, max_cost=10.0)
        model, told = fitted(vectors, targets=COSTS)
        assert_same_weights(model, expected, atol=1e-5)
        np.testing.assert_allclose(told["val_average_cost"], history["val_average_cost"], rtol=1e-5)

    @pytest.mark.parametrize(
        "arguments,message",
        [
            ({"x": X[TRAIN] + 1}, "in \\[0, 1\\]"),
            ({"y": Y[TRAIN] + 1}, "received 3"),
            ({"validation_data": None}, "needs `validation_data`"),
        ],
    )
    def test_what_no_trial_could_use_ends_a_search(self, arguments, message):
        with pytest.raises(keras_tuner.errors.FatalValueError, match=message):
            fitted(small(), **arguments)


class TestSharedPretraining:
    def test_trials_share_the_layers_they_have_in_common(self, tmp_path):
        cache = csdl.StageCache(tmp_path / "stages")
        fixed = {"learning_rate": 0.5, "cost_scale": 1.0, "alpha": 1.0}
        hyper_model = small(cache=cache, beta=(0.0, 0.5), pretraining_learning_rate=1e-3, **fixed)
        tuner = search(made(tmp_path, hyper_model, tuning.GridSearch, max_trials=None), epochs=1)
        assert len(tuner.oracle.trials) == 4  # depths 1 and 2, with either beta
        assert len(list(cache.folder.rglob("*.npz"))) == 4
