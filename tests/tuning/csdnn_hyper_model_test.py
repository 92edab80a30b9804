"""The search space of the fully-connected algorithms, and what its trials do."""

import keras
import keras_tuner
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras import tuning
from tests.pretraining.data_test import as_tf_data
from tests.support.eager import eager_models
from tests.support.weights import assert_same_weights
from tests.tuning.searches import (
    COSTS,
    FIT,
    TRAIN,
    VALIDATION,
    C,
    X,
    Y,
    cost,
    made,
    search,
    small,
)

#: Whether `fit` has executions of several steps.
ON_SEVERAL = keras.backend.backend() != "torch"
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


class TestBuild:
    @pytest.mark.parametrize(
        "algorithm,names",
        [
            ("csdnn", NETWORK | PRETRAINING | LOSS | {"beta"}),
            ("scae_bayes", NETWORK | PRETRAINING | {"beta"}),
            ("sdae_sosr", NETWORK | PRETRAINING | LOSS),
            ("dnn_bayes", NETWORK),
        ],
    )
    def test_spaces_of_a_row(self, algorithm, names):
        hp = keras_tuner.HyperParameters()
        hyper_model = tuning.CSDNNHyperModel((6,), C, algorithm)
        hyper_model.build(hp)
        hp.values["optimizer"] = "adam"
        hp.ensure_active_values()
        hyper_model.build(hp)
        assert {each.name for each in hp.space} == names

    def test_the_papers_grid_is_the_default(self):
        hp = keras_tuner.HyperParameters()
        tuning.CSDNNHyperModel((6,), C).build(hp)
        spaces = {each.name: list(each.values) for each in hp.space if hasattr(each, "values")}
        assert spaces["beta"] == [0.0, 0.05, 0.1, 0.25, 0.4, 0.75, 1.0]
        assert spaces["depth"] == [1, 2, 3, 4, 5]

    def test_values_reach_the_network_and_its_training(self):
        chosen = {"units": 7, "depth": 3, "cost_scale": 3.0, "alpha": 4.0, "momentum": 0.9}
        hyper_model = tuning.CSDNNHyperModel(
            (6,), C, **chosen, optimizer=["sgd", "adam"], learning_rate={"sgd": 0.3, "adam": 0.002}
        )
        hp = keras_tuner.HyperParameters()
        model = hyper_model.build(hp)
        assert [layer.units for layer in csdl.hidden_layers(model)] == [7, 7, 7]
        assert isinstance(model.optimizer, keras.optimizers.SGD)
        assert float(model.optimizer.momentum) == 0.9
        assert float(keras.ops.convert_to_numpy(model.optimizer.learning_rate)) == np.float32(0.3)
        assert (model.loss.alpha, model.loss.cost_scale) == (4.0, 3.0 / 10.0)
        hp.values["optimizer"] = "adam"
        hp.ensure_active_values()
        assert isinstance(hyper_model.build(hp).optimizer, keras.optimizers.Adam)

    @pytest.mark.parametrize("algorithm", ["csdnn", "sdae_bayes", "sdae_blind"])
    def test_the_objective_is_what_the_classifiers_decisions_cost(self, algorithm):
        hyper_model = small(algorithm)
        model = hyper_model.build(keras_tuner.HyperParameters())
        decided = csdl.decide(hyper_model.classifier(model), X[VALIDATION])
        paid = C[Y[VALIDATION], decided].mean()
        np.testing.assert_allclose(cost(model), paid, rtol=1e-6)

    @pytest.mark.parametrize(
        "arguments,message",
        [
            ({"algorithm": "cnn_sosr"}, "body 'mlp'.*received 'cnn_sosr'"),
            ({"algorithm": "min"}, "NLL or SOSR; received 'min'"),
            ({"cost_matrix": None}, "`num_classes`.*received None"),
            ({"cost_matrix": None, "num_classes": 3, "algorithm": "sdae_bayes"}, "`cost_matrix`"),
            ({"cost_matrix": None, "num_classes": 3, "algorithm": "seae_sosr"}, "`cost_matrix`"),
            ({"num_classes": 4}, "num_classes=3.*received 4"),
            ({"beta": (0.0, 1.5)}, "`beta`.*received 1.5"),
            ({"depth": (0, 1)}, "`depth`.*received 0"),
            ({"optimizer": "rmsprop"}, "`optimizer`.*received 'rmsprop'"),
            ({"optimizer": "adam", "learning_rate": {"sgd": 0.1}}, "none for \\['adam'\\]"),
            ({"learning_rate": 0}, "`learning_rate`.*received 0"),
            ({"alpha": [1, -1]}, "`alpha`.*received -1"),
            ({"max_cost": 0}, "`max_cost`.*received 0"),
            ({"seed": -1}, "`seed`.*received -1"),
            ({"seed": None, "cache": csdl.StageCache()}, "`seed` with a `cache`"),
        ],
    )
    def test_refuses(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            small(**arguments)


@pytest.fixture(scope="module")
def trained():
    with eager_models():
        return fitted(small())


class TestFit:
    @pytest.mark.parametrize("algorithm", ["csdnn", "seae_sosr", "sdae_bayes"])
    def test_pretrains_the_models_own_layers(self, algorithm):
        hyper_model = small(algorithm, beta=0.5, learning_rate=1e-30, momentum=0.0)
        hp = keras_tuner.HyperParameters()
        layers = csdl.hidden_layers(hyper_model.build(hp))
        before = [layer.get_weights() for layer in layers]
        model, _ = fitted(hyper_model)
        twin = hyper_model.network(hp, seed=0)
        matrix = 1 - np.eye(3) if algorithm == "seae_sosr" else C
        costs = {"costs": Y[TRAIN], "cost_matrix": matrix, "cost_scale": 1 / matrix.max()}
        optimizer = keras.optimizers.Adam(hp.get("pretraining_learning_rate"))
        beta = 0.0 if algorithm == "sdae_bayes" else 0.5
        fit = {"epochs": 1, "batch_size": 20, "seed": 0, "verbose": 0}
        csdl.pretrain(twin, X[TRAIN], **costs, beta=beta, optimizer=optimizer, **fit)
        pairs = zip(csdl.hidden_layers(model), csdl.hidden_layers(twin), before, strict=True)
        for layer, other, start in pairs:
            assert_same_weights(layer.get_weights(), other.get_weights())
            assert np.abs(layer.get_weights()[0] - start[0]).max() > 1e-4

    def test_callbacks_do_not_see_pretraining(self):
        ends = []
        note = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: ends.append(epoch))
        fitted(small(pretraining_epochs=3), callbacks=[note])
        assert ends == [0, 1]

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

    def test_a_validation_split_is_those_examples_apart(self, trained):
        """Not even pre-training sees their costs."""
        expected, told = trained
        weights = {"sample_weight": np.ones(90), "validation_data": None}
        model, history = fitted(small(), x=X, y=Y, validation_split=1 / 3, **weights)
        # Arrays lie elsewhere in memory, and products may round otherwise.
        assert_same_weights(model, expected, 1e-6)
        np.testing.assert_allclose(history["val_loss"], told["val_loss"], rtol=1e-5)

    @pytest.mark.parametrize("chosen", [None, 2])
    def test_several_batches_an_execution(self, chosen):
        """As many as an epoch has, unless `build` says how many."""
        ends = []
        note = keras.callbacks.LambdaCallback(
            on_train_batch_end=lambda batch, logs: ends.append(batch)
        )

        hyper_model = small("dnn_sosr")
        build = hyper_model.build

        def choosing(hp):
            model = build(hp)
            if chosen is not None and ON_SEVERAL:
                model.steps_per_execution = chosen
            return model

        hyper_model.build = choosing
        model, _ = fitted(hyper_model, callbacks=[note])
        steps = {None: 3, 2: 2}[chosen] if ON_SEVERAL else 1
        assert len(ends) == 2 * -(-3 // steps)  # two epochs of three batches
        assert int(model.optimizer.iterations) == 6

    @pytest.mark.parametrize(
        "arguments,message",
        [
            ({"x": X[TRAIN] + 1}, "inputs to lie in \\[0, 1\\].*received values from"),
            ({"x": X[TRAIN][:, :5]}, "shape \\(N, 6\\).*received shape \\(60, 5\\)"),
            ({"x": np.full((60, 6), np.nan)}, "finite"),
            ({"y": Y[TRAIN] + 1}, "received 3"),
            ({"y": Y[:50]}, "`y` with an entry for each of"),
            ({"y": COSTS[TRAIN]}, "received"),
            ({"validation_data": None}, "received neither"),
            ({"validation_data": (X[VALIDATION], Y[VALIDATION] - 1)}, "received -1"),
        ],
    )
    def test_what_no_trial_could_use_ends_a_search(self, arguments, message):
        hp = keras_tuner.HyperParameters()
        model = small().build(hp)
        data = {"x": X[TRAIN], "y": Y[TRAIN], "validation_data": (X[VALIDATION], Y[VALIDATION])}
        with pytest.raises(keras_tuner.errors.FatalValueError, match=message):
            small().fit(hp, model, **{**FIT, **data, **arguments})


class TestSharedPretraining:
    def test_trials_share_the_layers_they_have_in_common(self, tmp_path):
        cache = csdl.StageCache(tmp_path / "stages")
        hyper_model = small(
            cache=cache,
            beta=(0.0, 0.5),
            learning_rate=0.5,
            cost_scale=1.0,
            alpha=1.0,
            pretraining_learning_rate=1e-3,
        )
        tuner = search(made(tmp_path, hyper_model, tuning.GridSearch, max_trials=None))
        assert len(tuner.oracle.trials) == 4  # depths 1 and 2, with either beta
        assert len(list(cache.folder.rglob("*.npz"))) == 4

    def test_a_dataset_needs_a_name(self):
        hp = keras_tuner.HyperParameters()
        hyper_model = small(cache=csdl.StageCache())
        dataset = as_tf_data(X[TRAIN], Y[TRAIN])
        with pytest.raises(ValueError, match="`data_id`"):
            hyper_model.fit(hp, hyper_model.build(hp), dataset, validation_data=dataset)
