"""Tests of costs of examples and of ensembles."""

import dataclasses

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.training.algorithms import Algorithm
from csdl_keras.training.ensemble import stack
from tests.support.trainers import (
    DATA,
    MATRICES,
    SETTINGS,
    VALIDATION,
    Counter,
    make_trainer,
    outputs,
)
from tests.support.weights import assert_same_weights

pytestmark = pytest.mark.usefixtures("run_module_eagerly")


def of(members):
    """Settings of that many networks."""
    return dataclasses.replace(SETTINGS, members=members)


class TestCostsOfExamples:
    """Algorithms trained on costs that differ from example to example."""

    FACTORS = np.random.default_rng(0).uniform(0.5, 1.5, size=(len(DATA.y_train), 1))
    COSTS = MATRICES[0][DATA.y_train] * FACTORS

    @pytest.mark.parametrize("name", ["dnn_bayes", "csosr", "min", "csdnn", "dnn_weighted"])
    def test_right_decisions_may_cost_something(self, name):
        model = make_trainer(costs=self.COSTS + 0.5).train(name).model
        assert csdl.decide(model, DATA.x_test).shape == DATA.y_test.shape
        if name == "dnn_bayes":
            plain = make_trainer(costs=self.COSTS).train(name).model
            np.testing.assert_allclose(outputs(model), outputs(plain), rtol=1e-4, atol=1e-4)

    @pytest.mark.parametrize("name", ["csdnn", "seae_sosr", "cost_model"])
    def test_costs_that_follow_from_a_matrix_give_what_the_matrix_gives(self, name):
        own = make_trainer(costs=MATRICES[0][DATA.y_train]).train(name).model
        other = make_trainer().train(name, MATRICES[0]).model
        np.testing.assert_allclose(outputs(own), outputs(other), rtol=1e-3, atol=1e-4)

    def test_algorithms_that_divide_costs_by_other_units_share_no_pretraining(self):
        first, second = (
            make_trainer(costs=self.COSTS)._plan(
                Algorithm(training, training, "mlp", "cae", training, "argmin"), None
            )
            for training in ("sosr", "poisson")
        )
        assert first[0].descriptions[0] != second[0].descriptions[0]

    @pytest.mark.parametrize(
        "arguments,request_,match",
        [
            ({}, ("csdnn",), "received neither"),
            ({"costs": COSTS}, ("csdnn", MATRICES[0]), "received both"),
            ({"costs": COSTS[1:]}, (), "`costs` with a row for each of 200 labels; received"),
            ({"costs": COSTS, "validation_data": VALIDATION}, (), "Expected validation data with"),
            ({"costs": COSTS.max() - COSTS}, ("dnn_weighted",), "on average the cheapest"),
            ({"costs": COSTS[:, :9]}, ("min",), "decides by costs, not for a class"),
        ],
    )
    def test_what_it_refuses(self, arguments, request_, match):
        with pytest.raises(ValueError, match=match):
            make_trainer(**arguments).train(*request_)


@pytest.mark.parametrize("training,own_costs", [("poisson", False), ("logistic", True)])
def test_networks_of_logarithms_and_logits_output_costs(training, own_costs):
    algorithm = Algorithm(training, training, "mlp", "none", training, "argmin")
    trainer = make_trainer(costs=MATRICES[0][DATA.y_train] if own_costs else None)
    matrix = None if own_costs else MATRICES[0]
    single, both = (trainer.train(algorithm, matrix, of(size)).model for size in (None, 2))
    assert csdl.output_kind(single) == "cost"
    found = outputs(single)
    assert found.min() > 0 and 0.01 < found.mean() < 1.0
    assert np.abs(outputs(both) - found).max() > 1e-4


class TestEnsembles:
    def test_members_differ_and_their_mean_decides(self):
        trainer = make_trainer()
        together, single = (trainer.train("dnn_sosr", MATRICES[0], of(n)) for n in (3, 1))
        assert together.seconds > single.seconds
        members = [layer for layer in together.model.layers if isinstance(layer, keras.Model)]
        assert_same_weights(members[0], single.model)
        found = [outputs(member) for member in members]
        assert len(found) == 3 and np.abs(found[1] - found[2]).max() > 1e-3
        np.testing.assert_allclose(outputs(together.model), np.mean(found, axis=0), rtol=1e-4)


class TestStackedMembers:
    """Members on tables, which train as one network."""

    X, X_VAL, X_TEST = (x.reshape(len(x), -1) for x in (DATA.x_train, DATA.x_val, DATA.x_test))
    ALGORITHM = dataclasses.replace(csdl.ALGORITHMS["ensemble_bayes"], members=3, calibrated=False)

    def trainer(self, change, **kwargs):
        settings = csdl.Settings().limit_epochs(3).replace(change)
        return csdl.Trainer(self.X, DATA.y_train, settings=settings, seed=0, **kwargs)

    def members(self, trainer):
        model = trainer.train(self.ALGORITHM, MATRICES[0]).model
        return [layer for layer in model.layers if isinstance(layer, keras.Model)]

    def test_a_stack_computes_what_its_networks_compute(self):
        networks = [csdl.models.tabular(self.X, 10, (7, 5), seed=seed) for seed in range(3)]
        found = stack(networks).predict(self.X_TEST, verbose=0)
        for member, network in enumerate(networks):
            expected = network.predict(self.X_TEST, verbose=0)
            np.testing.assert_allclose(found[:, member], expected, rtol=1e-5, atol=1e-6)

    def test_without_validation_data_members_learn_and_differ(self):
        counter = Counter()
        members = self.members(self.trainer({}, callbacks=[counter]))
        assert counter.fits == 1 and len(members) == 3
        found = [member.predict(self.X_TEST, verbose=0) for member in members]
        for index, output in enumerate(found):
            assert np.mean(output.argmax(axis=1) == DATA.y_test) > 0.5
            assert np.abs(output - found[index - 1]).max() > 1e-3

    def test_each_keeps_its_best_epoch(self):
        losses = []
        rows = np.arange(len(DATA.y_val))

        class Losses(keras.callbacks.Callback):
            def on_epoch_end(self, epoch, logs=None):
                if epoch == 3:  # the last one, and surely not the best
                    for weight in self.model.trainable_weights:
                        weight.assign(-2.0 * weight.value)
                found = self.model.predict(TestStackedMembers.X_VAL, verbose=0)
                losses.append(-np.log(np.maximum(found[rows, :, DATA.y_val], 1e-7)).mean(axis=0))

        change = {"auto.learning_rate": 0.01, "auto.batch_size": 20, "auto.epochs": 4}
        validation = (self.X_VAL, DATA.y_val)
        trainer = self.trainer(change, callbacks=[Losses()], validation_data=validation)
        chosen = [
            member.predict(self.X_VAL, verbose=0)[rows, DATA.y_val]
            for member in self.members(trainer)
        ]
        found = [-np.log(np.maximum(p, 1e-7)).mean() for p in chosen]
        np.testing.assert_allclose(found, np.min(losses, axis=0), rtol=1e-4)
        assert np.min(losses, axis=0).sum() < losses[-1].sum()
