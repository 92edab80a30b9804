"""Tests of costs of examples, ensembles, and training in several processes."""

import dataclasses

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.training import schedule
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.fit_stacked import stack
from csdl_keras.training.stages import Stages
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
from tests.training.own_algorithm_test import TOY

pytestmark = pytest.mark.usefixtures("run_module_eagerly")


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

    def test_stages_depend_on_the_costs_that_they_look_at(self):
        one, same, other = (make_trainer(costs=self.COSTS * scale) for scale in (1, 1, 2))
        assert one.stages("csdnn") == same.stages("csdnn")
        assert one.stages("csdnn") != other.stages("csdnn")
        assert other._members("csdnn", None, None)[0].unit == 2 * self.COSTS.max()
        assert one.stages("seae_sosr")["pretraining"] == other.stages("seae_sosr")["pretraining"]
        by_matrix = make_trainer().stages("dnn_bayes", MATRICES[0])
        assert one.stages("dnn_bayes") == other.stages("dnn_bayes") == by_matrix

    def test_algorithms_that_divide_costs_by_other_units_share_no_pretraining(self):
        first, second = (
            make_trainer(costs=self.COSTS).stages(
                Algorithm(training, training, "mlp", "cae", training, "argmin")
            )
            for training in ("sosr", "poisson")
        )
        assert first["pretraining"] != second["pretraining"]

    @pytest.mark.parametrize(
        "arguments,request_,match",
        [
            ({}, ("csdnn",), "received neither"),
            ({"costs": COSTS}, ("csdnn", MATRICES[0]), "received both"),
            ({"costs": COSTS[1:]}, (), "`costs` with a row for each of 200 labels; received"),
            ({"costs": COSTS, "validation_data": VALIDATION}, (), "Expected validation data with"),
            ({"costs": COSTS.max() - COSTS}, ("dnn_weighted",), "on average the cheapest"),
            ({"costs": COSTS[:, :9]}, ("min",), "decides by costs, not for a class"),
            ({"seed": None, "jobs": 2}, (), "Expected a `seed` with jobs=2"),
            ({}, ("dnn_bayes", MATRICES[0], None, 0), "`ensemble`"),
            ({}, ("csosr", MATRICES[0], None, 2), "draws nothing at random"),
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
    single, both = (trainer.train(algorithm, matrix, ensemble=size).model for size in (None, 2))
    assert csdl.output_kind(single) == "cost"
    found = outputs(single)
    assert found.min() > 0 and 0.01 < found.mean() < 1.0
    assert np.abs(outputs(both) - found).max() > 1e-4


REQUESTS = [
    ("dnn_bayes", MATRICES[1]),
    ("sdae_sosr", MATRICES[0]),
    ("dnn_blind", MATRICES[0]),
    (TOY, MATRICES[0]),  # other processes unpickle classes of a test file
]


@pytest.fixture(scope="module")
def alone(run_module_eagerly):
    trainer = make_trainer()
    return [trainer.train(*request) for request in REQUESTS]


class TestTrainAll:
    def test_what_train_returns_in_the_order_of_requests(self, alone):
        other = SETTINGS.replace({"mlp.hidden_units": (5,)})
        requests = [*REQUESTS, ("dnn_blind", MATRICES[0], other)]
        found = list(make_trainer().train_all(requests))
        assert [index for index, _ in found] == [0, 1, 2, 3, 4]
        for (_, trained), twin in zip(found, alone, strict=False):
            assert_same_weights(trained.model, twin.model)
            assert trained.epochs == twin.epochs
        assert found[4][1].model.count_params() == 65 * 5 + (5 + 1) * 10

    def test_several_processes_run_shared_stages_once(self, alone):
        found = dict(make_trainer(jobs=2).train_all(REQUESTS))
        assert sorted(found) == [0, 1, 2, 3]
        assert found[0].seconds == found[2].seconds > 0
        for index, trained in found.items():
            expected = outputs(alone[index].model)
            np.testing.assert_allclose(outputs(trained.model), expected, rtol=1e-3, atol=1e-4)

    def test_several_processes_train_nothing_that_another_trainer_has(self, monkeypatch, tmp_path):
        """It finishes every stage right after they were found missing."""
        sent = []

        def train_elsewhere_first(tasks):
            other = make_trainer(cache=csdl.StageCache(tmp_path))
            assert len(list(other.train_all(REQUESTS))) == 4
            with monkeypatch.context() as without:
                without.setattr(Stages, "_pretrain", None)
                without.setattr(Stages, "_train", None)
                results = [(name, run(*rest), 0.0) for name, (run, *rest) in tasks.items()]
            sent.extend(tasks)
            yield from results

        monkeypatch.setattr(schedule, "run_tasks", train_elsewhere_first)
        trainer = make_trainer(cache=csdl.StageCache(tmp_path), jobs=2)
        found = dict(trainer.train_all(REQUESTS))
        assert sorted(found) == [0, 1, 2, 3] and sent

    @pytest.mark.parametrize("wrong", [("dnn", MATRICES[0]), ("dnn_blind",), "dnn_blind"])
    def test_wrong_requests_are_refused_before_any_training(self, wrong):
        counter = Counter()
        with pytest.raises(ValueError, match="Expected `(algorithm|requests)` to be"):
            make_trainer(callbacks=[counter]).train_all([("dnn_blind", MATRICES[0]), wrong])
        assert counter.fits == 0


class TestEnsembles:
    def test_members_differ_and_their_mean_decides(self):
        trainer = make_trainer()
        together, single = (trainer.train("dnn_sosr", MATRICES[0], ensemble=n) for n in (3, 1))
        assert together.seconds > single.seconds
        members = [layer for layer in together.model.layers if isinstance(layer, keras.Model)]
        assert_same_weights(members[0], single.model)
        found = [outputs(member) for member in members]
        assert len(found) == 3 and np.abs(found[1] - found[2]).max() > 1e-3
        np.testing.assert_allclose(outputs(together.model), np.mean(found, axis=0), rtol=1e-4)

    def test_processes_train_what_one_process_trains(self):
        one, two = (
            outputs(make_trainer(jobs=jobs).train("dnn_bayes", MATRICES[0], ensemble=2).model)
            for jobs in (1, 2)
        )
        np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5)


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
