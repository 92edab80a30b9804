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
from tests.support.trainers import DATA, MATRICES, SETTINGS, VALIDATION, Counter, make_trainer
from tests.support.weights import assert_same_weights


class TestCostsOfExamples:
    """Rows that are trained on costs that differ from example to example."""

    COSTS = MATRICES[0][DATA.y_train] * np.random.default_rng(0).uniform(
        0.5, 1.5, size=(len(DATA.y_train), 1)
    )

    @pytest.mark.parametrize(
        "name", ["dnn_bayes", "csosr", "min", "csdnn", "seae_sosr", "cost_model", "dnn_weighted"]
    )
    def test_every_kind_of_row(self, name, run_eagerly):
        trainer = make_trainer(costs=self.COSTS)
        model = trainer.train(name).model
        assert csdl.decide(model, DATA.x_test).shape == DATA.y_test.shape

    def test_costs_that_follow_from_a_matrix_give_what_the_matrix_gives(self, run_eagerly):
        costs = MATRICES[0][DATA.y_train]
        for name in ("csdnn", "cost_model", "cnn_bayes"):
            own = make_trainer(costs=costs).train(name).model.predict(DATA.x_test, verbose=0)
            other = make_trainer().train(name, MATRICES[0]).model.predict(DATA.x_test, verbose=0)
            np.testing.assert_allclose(own, other, rtol=1e-3, atol=1e-4)

    @pytest.mark.parametrize("name", ["dnn_bayes", "dnn_sosr", "cost_model", "dnn_weighted"])
    def test_right_decisions_may_cost_something(self, name, run_eagerly):
        trainer = make_trainer(costs=self.COSTS + 0.5)
        assert csdl.decide(trainer.train(name).model, DATA.x_test).shape == DATA.y_test.shape
        if name == "dnn_bayes":
            plain = make_trainer(costs=self.COSTS).train(name).model
            np.testing.assert_allclose(
                trainer.train(name).model.predict(DATA.x_test, verbose=0),
                plain.predict(DATA.x_test, verbose=0),
                rtol=1e-4,
                atol=1e-4,
            )

    def test_stages_depend_on_the_costs_that_they_look_at(self):
        one, same, other = (make_trainer(costs=self.COSTS * scale) for scale in (1, 1, 2))
        assert one.stages("csdnn") == same.stages("csdnn")
        assert one.stages("csdnn") != other.stages("csdnn")
        assert one.stages("seae_sosr")["pretraining"] == other.stages("seae_sosr")["pretraining"]
        by_matrix = make_trainer().stages("dnn_bayes", MATRICES[0])
        assert one.stages("dnn_bayes") == other.stages("dnn_bayes") == by_matrix

    def test_rows_that_divide_costs_by_other_units_share_no_pretraining(self, run_eagerly):
        sosr, poisson = (
            Algorithm(training, training, "mlp", "cae", training, "argmin", in_table2=False)
            for training in ("sosr", "poisson")
        )
        shared = make_trainer(costs=self.COSTS)
        shared.train(sosr)
        assert_same_weights(
            shared.train(poisson).model, make_trainer(costs=self.COSTS).train(poisson).model
        )

    def test_what_it_refuses(self):
        with pytest.raises(ValueError, match="received neither"):
            make_trainer().train("csdnn")
        with pytest.raises(ValueError, match="received both"):
            make_trainer(costs=self.COSTS).train("csdnn", MATRICES[0])
        with pytest.raises(ValueError, match="`costs` with a row for each of 200 labels; received"):
            make_trainer(costs=self.COSTS[1:])
        with pytest.raises(ValueError, match="Expected validation data with costs"):
            make_trainer(costs=self.COSTS, validation_data=VALIDATION)


class TestLinkedTrainings:
    """Networks that estimate logarithms or logits of costs."""

    @pytest.mark.parametrize("training", ["poisson", "logistic"])
    @pytest.mark.parametrize("own_costs", [False, True])
    def test_outputs_are_costs_and_ensembles_average_them(self, training, own_costs, run_eagerly):
        row = Algorithm(training, training, "mlp", "none", training, "argmin")
        costs = MATRICES[0][DATA.y_train]
        trainer = make_trainer(costs=costs if own_costs else None)
        matrix = None if own_costs else MATRICES[0]
        single = trainer.train(row, matrix).model
        assert csdl.output_kind(single) == "cost"
        outputs = single.predict(DATA.x_test, verbose=0)
        assert outputs.min() > 0 and 0.01 < outputs.mean() < 1.0
        together = trainer.train(row, matrix, ensemble=2).model
        other = trainer.train(dataclasses.replace(row, members=2), matrix).model
        both = together.predict(DATA.x_test, verbose=0)
        np.testing.assert_allclose(both, other.predict(DATA.x_test, verbose=0), rtol=1e-5)
        assert np.abs(both - outputs).max() > 1e-4


class TestTrainAll:
    REQUESTS = [("dnn_bayes", MATRICES[1]), ("sdae_sosr", MATRICES[0]), ("dnn_blind", MATRICES[0])]

    def test_what_train_returns_in_the_order_of_requests(self, run_eagerly):
        found = list(make_trainer().train_all(self.REQUESTS))
        assert [index for index, _ in found] == [0, 1, 2]
        trainer = make_trainer()
        for index, trained in found:
            twin = trainer.train(*self.REQUESTS[index])
            assert_same_weights(trained.model, twin.model)
            assert trained.epochs == twin.epochs

    def test_requests_may_have_settings_of_their_own(self, run_eagerly):
        other = SETTINGS.replace({"mlp.hidden_units": (5,)})
        requests = [("dnn_sosr", MATRICES[0]), ("dnn_sosr", MATRICES[0], other)]
        sizes = [trained.model.count_params() for _, trained in make_trainer().train_all(requests)]
        expected = [65 * units + (units + 1) * 10 for units in (16, 5)]
        assert sizes == expected

    def test_several_processes_run_shared_stages_once(self):
        trainer = make_trainer(jobs=2)
        found = dict(trainer.train_all(self.REQUESTS))
        assert sorted(found) == [0, 1, 2]
        assert found[0].seconds == found[2].seconds > 0
        for index, trained in found.items():
            outputs = trained.model.predict(DATA.x_test, verbose=0)
            model = make_trainer().train(*self.REQUESTS[index]).model
            np.testing.assert_allclose(
                outputs, model.predict(DATA.x_test, verbose=0), rtol=1e-3, atol=1e-4
            )

    def test_several_processes_train_nothing_that_another_trainer_has(
        self, run_eagerly, monkeypatch, tmp_path
    ):
        """It finishes every stage right after they were found missing."""
        sent = []

        def train_elsewhere_first(tasks):
            other = make_trainer(cache=csdl.StageCache(tmp_path))
            before = [trained.model for _, trained in other.train_all(self.REQUESTS)]
            with monkeypatch.context() as without:
                without.setattr(Stages, "_pretrain", None)
                without.setattr(Stages, "_train", None)
                results = [(name, run(*rest), 0.0) for name, (run, *rest) in tasks.items()]
            sent.extend(tasks)
            assert before
            yield from results

        monkeypatch.setattr(schedule, "run_tasks", train_elsewhere_first)
        trainer = make_trainer(cache=csdl.StageCache(tmp_path), jobs=2)
        found = dict(trainer.train_all(self.REQUESTS))
        assert sorted(found) == [0, 1, 2] and sent

    def test_wrong_requests_are_refused_before_any_training(self):
        counter = Counter()
        trainer = make_trainer(callbacks=[counter])
        with pytest.raises(ValueError, match="`algorithm`"):
            trainer.train_all([("dnn_blind", MATRICES[0]), ("dnn", MATRICES[0])])
        assert counter.fits == 0


class TestEnsembles:
    def test_members_differ_and_their_mean_decides(self, run_eagerly):
        trainer = make_trainer()
        together = trainer.train("dnn_sosr", MATRICES[0], ensemble=3)
        single = trainer.train("dnn_sosr", MATRICES[0])
        assert together.seconds > single.seconds
        outputs = together.model.predict(DATA.x_test, verbose=0)
        assert np.abs(outputs - single.model.predict(DATA.x_test, verbose=0)).max() > 1e-3

    def test_one_member_is_the_network_alone(self, run_eagerly):
        trainer = make_trainer()
        one = trainer.train("dnn_bayes", MATRICES[0], ensemble=1).model
        assert_same_weights(one, trainer.train("dnn_bayes", MATRICES[0]).model)

    def test_processes_train_what_one_process_trains(self):
        outputs = [
            make_trainer(jobs=jobs)
            .train("sdae_bayes", MATRICES[0], ensemble=2)
            .model.predict(DATA.x_test, verbose=0)
            for jobs in (1, 2)
        ]
        np.testing.assert_allclose(outputs[0], outputs[1], rtol=1e-4, atol=1e-5)

    def test_what_it_refuses(self):
        with pytest.raises(ValueError, match="`ensemble`"):
            make_trainer().train("dnn_bayes", MATRICES[0], ensemble=0)
        with pytest.raises(ValueError, match="draws nothing at random"):
            make_trainer().train("csosr", MATRICES[0], ensemble=2)
        with pytest.raises(ValueError, match="Expected a `seed` with jobs=2"):
            make_trainer(seed=None, jobs=2)


class TestStackedMembers:
    """Members on tables, which train as one network."""

    X, X_VAL, X_TEST = (x.reshape(len(x), -1) for x in (DATA.x_train, DATA.x_val, DATA.x_test))
    ROW = dataclasses.replace(csdl.ALGORITHMS["ensemble_bayes"], members=3)

    def trainer(self, validation=True, **kwargs):
        settings = csdl.Settings().limit_epochs(3)
        data = (self.X_VAL, DATA.y_val) if validation else None
        arguments = {"validation_data": data, "settings": settings, "seed": 0, **kwargs}
        return csdl.Trainer(self.X, DATA.y_train, **arguments)

    def test_a_stack_computes_what_its_networks_compute(self):
        networks = [csdl.models.tabular(self.X, 10, (7, 5), seed=seed) for seed in range(3)]
        found = stack(networks).predict(self.X_TEST, verbose=0)
        for member, network in enumerate(networks):
            np.testing.assert_allclose(
                found[:, member], network.predict(self.X_TEST, verbose=0), rtol=1e-5, atol=1e-6
            )

    @pytest.mark.parametrize("validation", [True, False])
    def test_members_learn_and_differ(self, validation):
        counter = Counter()
        trainer = self.trainer(validation, callbacks=[counter])
        model = trainer.train(self.ROW, MATRICES[0]).model
        assert counter.fits == 1
        members = [layer for layer in model.layers if isinstance(layer, keras.Model)]
        outputs = [member.predict(self.X_TEST, verbose=0) for member in members]
        assert len(outputs) == 3
        for index, output in enumerate(outputs):
            assert np.mean(output.argmax(axis=1) == DATA.y_test) > 0.5
            assert np.abs(output - outputs[index - 1]).max() > 1e-3

    def test_each_keeps_its_best_epoch(self):
        losses = []

        class Losses(keras.callbacks.Callback):
            def on_epoch_end(self, epoch, logs=None):
                if epoch == 5:  # the last one, and surely not the best
                    for weight in self.model.trainable_weights:
                        weight.assign(0.0 * weight.value)
                outputs = self.model.predict(TestStackedMembers.X_VAL, verbose=0)
                chosen = outputs[np.arange(len(DATA.y_val)), :, DATA.y_val]
                losses.append(-np.log(np.maximum(chosen, 1e-7)).mean(axis=0))

        settings = (
            csdl.Settings()
            .limit_epochs(6)
            .replace({"auto.learning_rate": 0.05, "auto.batch_size": 20})
        )
        trainer = self.trainer(settings=settings, callbacks=[Losses()])
        row = dataclasses.replace(self.ROW, calibrated=False)
        model = trainer.train(row, MATRICES[0]).model
        members = [layer for layer in model.layers if isinstance(layer, keras.Model)]
        rows = np.arange(len(DATA.y_val))
        chosen = [m.predict(self.X_VAL, verbose=0)[rows, DATA.y_val] for m in members]
        found = [-np.log(np.maximum(p, 1e-7)).mean() for p in chosen]
        np.testing.assert_allclose(found, np.min(losses, axis=0), rtol=1e-4)
        assert np.min(losses, axis=0).sum() < losses[-1].sum()

    def test_one_member_is_another_stage(self):
        trainer = self.trainer()
        recipes = [
            trainer._members(dataclasses.replace(self.ROW, members=m), MATRICES[0], None)[0]
            for m in (1, 2, 3)
        ]
        assert len({csdl.StageCache.key(one.describe_training()) for one in recipes}) == 3
