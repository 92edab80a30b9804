"""Training for costs that are known when deciding, and early stopping on what decisions cost."""

import dataclasses

import joblib
import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.costs import AffineCosts
from tests.support.trainers import (
    DATA,
    LONGER,
    MATRICES,
    SETTINGS,
    VALIDATION,
    make_trainer,
    outputs,
)
from tests.support.weights import assert_same_weights

pytestmark = pytest.mark.usefixtures("run_module_eagerly")

X, Y, NUM_TRAIN, NUM_VAL = DATA.x_train, DATA.y_train, len(DATA.y_train), len(DATA.y_val)
AMOUNTS = np.random.default_rng(0).uniform(0.2, 5.0, size=NUM_TRAIN + NUM_VAL)
COSTS = AMOUNTS[:NUM_TRAIN, None, None] * MATRICES[0]
COSTS_VAL = AMOUNTS[NUM_TRAIN:, None, None] * MATRICES[1]
KNOWN = {"costs": COSTS, "validation_data": (*VALIDATION, COSTS_VAL)}
AFFINE = {
    "costs": AffineCosts(AMOUNTS[:NUM_TRAIN], MATRICES[0]),
    "validation_data": (*VALIDATION, AffineCosts(AMOUNTS[NUM_TRAIN:], MATRICES[1])),
}


def literal_cost(probabilities, labels, costs):
    """The average cost of Bayes decisions, example by example."""
    total = 0.0
    for row, label, matrix in zip(probabilities, labels, costs, strict=True):
        expected = [
            sum(row[true] * matrix[true][decision] for true in range(len(row)))
            for decision in range(len(matrix[0]))
        ]
        total += matrix[label][expected.index(min(expected))]
    return total / len(labels)


class Noter(keras.callbacks.Callback):
    """Notes the probabilities of validation examples and what is in the logs."""

    observes_only = True

    def __init__(self, x=VALIDATION[0]):
        super().__init__()
        self.x, self.rows, self.logs = x, [], []

    def on_epoch_end(self, epoch, logs=None):
        self.rows.append(self.model.predict(self.x, verbose=0).astype("float64"))
        self.logs.append(dict(logs))


class TestTraining:
    @pytest.mark.parametrize("arguments", [KNOWN, AFFINE], ids=["array", "affine"])
    def test_decides_by_the_mean_matrix(self, arguments):
        trainer = make_trainer(**arguments)
        blind, bayes = (trainer.train(name).model for name in ("dnn_blind", "dnn_bayes"))
        alone = make_trainer(costs=arguments["costs"]).train("dnn_bayes").model
        mean = np.zeros((10, 10))
        for amount in AMOUNTS[:NUM_TRAIN]:
            mean += amount * MATRICES[0] / NUM_TRAIN
        assert csdl.output_kind(blind) == "probability"
        for model in (bayes, alone):
            probabilities = keras.Model(model.inputs, model.layers[-1].input)
            expected = outputs(probabilities).astype("float64") @ mean
            np.testing.assert_allclose(outputs(model), expected, rtol=1e-4)

    def test_right_decisions_may_cost_something(self):
        """By what every decision for a class costs alike, expected costs do not differ."""
        plain, more = (
            make_trainer(costs=costs).train("dnn_bayes").model
            for costs in (COSTS, COSTS + np.arange(10.0)[:, None])
        )
        np.testing.assert_allclose(outputs(more), outputs(plain), rtol=1e-4, atol=1e-5)

    def test_decisions_that_are_no_class(self):
        costs = np.concatenate([COSTS, np.full((NUM_TRAIN, 10, 1), 1e-3)], axis=2)
        model = make_trainer(costs=costs).train("dnn_bayes").model
        np.testing.assert_array_equal(csdl.decide(model, DATA.x_test), 10)
        fewer = make_trainer(costs=COSTS[:, :, :2]).train("dnn_bayes").model
        assert outputs(fewer).shape == (len(DATA.x_test), 2)

    def test_a_class_without_training_examples(self):
        kept = Y < 9
        model = csdl.train(
            X[kept],
            Y[kept],
            algorithm="dnn_bayes",
            costs=COSTS[kept],
            settings=SETTINGS,
        )
        assert outputs(model).shape[1] == 10

    @pytest.mark.parametrize("name", ["csdnn", "csosr", "min", "dnn_weighted", "cost_model"])
    def test_what_trains_on_costs_is_refused_with_the_way_out(self, name):
        with pytest.raises(ValueError, match=f"labels alone.*received '{name}'.*cost_vectors"):
            make_trainer(costs=COSTS).train(name)
        make_trainer(costs=csdl.costs.cost_vectors(COSTS, Y)).key(name)

    @pytest.mark.parametrize(
        ("arguments", "match"),
        [
            ({"costs": COSTS[1:]}, "a matrix for each of 200 examples; received shape"),
            ({"costs": AFFINE["costs"][1:]}, "a matrix for each of 200 examples"),
            ({"costs": -COSTS}, "finite and at least 0"),
            ({"costs": np.where(COSTS > 1, np.nan, COSTS)}, "finite and at least 0"),
            ({"costs": COSTS[:, :9]}, "below 9, the number of classes"),
            ({**KNOWN, "validation_data": VALIDATION}, r"\('N', 10, 10\) and None"),
            ({**KNOWN, "costs": COSTS[:, 0]}, r"\('N', 10\) and \('N', 10, 10\)"),
            ({**KNOWN, "costs": COSTS[:, :, :9]}, r"\('N', 10, 9\) and \('N', 10, 10\)"),
            ({"costs": 0 * COSTS}, "above 0; received all zeros"),
        ],
    )
    def test_what_it_refuses(self, arguments, match):
        with pytest.raises(ValueError, match=match):
            make_trainer(**arguments).train("dnn_bayes")

    def test_a_matrix_besides_is_refused(self):
        with pytest.raises(ValueError, match="received both"):
            make_trainer(costs=COSTS).train("dnn_bayes", MATRICES[0])


class TestStopping:
    def test_keeps_the_epoch_whose_bayes_decisions_cost_least(self):
        noter = Noter()
        trained = make_trainer(settings=LONGER, callbacks=[noter], **KNOWN).train("dnn_bayes")
        costs = [literal_cost(rows, VALIDATION[1], COSTS_VAL) for rows in noter.rows]
        logged = [logs["val_average_cost"] for logs in noter.logs]
        np.testing.assert_allclose(logged, costs, rtol=1e-6)
        best = int(np.argmin(costs))
        kept = keras.Model(trained.model.inputs, trained.model.layers[-1].input)
        found = kept.predict(VALIDATION[0], verbose=0)
        np.testing.assert_allclose(found, noter.rows[best], atol=1e-6)

    def test_costs_choose_the_epoch(self):
        """Where only class 0 is priced, other epochs are kept than by errors."""
        priced = np.zeros_like(COSTS_VAL)
        priced[:, 0, 1:], priced[:, 1:, 0] = 1.0, 0.3
        trainer = make_trainer(settings=LONGER, costs=COSTS, validation_data=(*VALIDATION, priced))
        blind, bayes = (trainer.train(name) for name in ("dnn_blind", "dnn_bayes"))
        weights = [trained.model.get_weights()[0] for trained in (blind, bayes)]
        assert np.abs(weights[0] - weights[1]).max() > 1e-3

    def test_training_that_looks_at_no_costs_is_shared(self):
        """With a matrix and with known costs, unless validation costs choose the epoch."""
        other = {**KNOWN, "validation_data": (*VALIDATION, 2 * COSTS_VAL)}
        by_matrix = make_trainer(validation_data=VALIDATION)
        shared = ("dnn_blind", "calibrated_bayes", "ensemble_bayes")
        for name in shared:
            before = by_matrix.key(name, MATRICES[0])
            assert make_trainer(**KNOWN).key(name) == before
            assert make_trainer(**other).key(name) == before
        keys = {make_trainer(**arguments).key("dnn_bayes") for arguments in (KNOWN, AFFINE, other)}
        assert len(keys | {by_matrix.key("dnn_bayes", MATRICES[0])}) == 4
        assert make_trainer(**{**KNOWN, "costs": 2 * COSTS}).key("dnn_bayes") in keys
        unvalidated = make_trainer(costs=COSTS).key("dnn_bayes")
        assert unvalidated == make_trainer().key("dnn_bayes", MATRICES[0])

    @pytest.mark.slow
    def test_in_several_processes_and_from_a_folder(self, tmp_path):
        settings = dataclasses.replace(SETTINGS, members=2)
        arguments = {**AFFINE, "cache": csdl.StageCache(tmp_path), "settings": settings}
        expected = make_trainer(**{**AFFINE, "settings": settings}).train("dnn_bayes").model
        with joblib.parallel_config(n_jobs=2):
            found = make_trainer(**arguments).train("dnn_bayes").model
        assert_same_weights(found, expected, rtol=1e-4, atol=1e-5)

    def test_later_changes_of_the_costs_change_nothing(self):
        costs = COSTS_VAL.copy()
        trainer = make_trainer(costs=COSTS, validation_data=(*VALIDATION, costs))
        key = trainer.key("dnn_bayes")
        costs[:] = 0
        assert trainer.key("dnn_bayes") == key and trainer.data.validation.known.any()
        as_floats = make_trainer(
            costs=COSTS.astype("f4"), validation_data=(*VALIDATION, np.asfortranarray(COSTS_VAL))
        )
        assert as_floats.key("dnn_bayes") == key

    def test_divergence_is_named_as_such(self):
        def spoil(*_):
            for weight in noter.model.weights:
                weight.assign(np.nan * weight)

        noter = Noter()
        spoiling = keras.callbacks.LambdaCallback(on_epoch_begin=spoil)
        with pytest.raises(csdl.DivergedError):
            make_trainer(callbacks=[noter, spoiling], **KNOWN).train("dnn_bayes")
        assert np.isnan(noter.logs[0]["val_average_cost"])
