"""Training for costs that are known when deciding."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.costs import AffineCosts
from tests.support.trainers import DATA, MATRICES, VALIDATION, make_trainer, outputs

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

    def test_what_trains_on_costs_is_refused_with_the_way_out(self):
        for name in ("csdnn", "csosr", "min", "dnn_weighted", "cost_model"):
            with pytest.raises(ValueError, match=f"'{name}' trains on costs.*cost_vectors"):
                make_trainer(costs=COSTS).train(name)
            make_trainer(costs=csdl.costs.cost_vectors(COSTS, Y)).key(name)

    @pytest.mark.parametrize(
        ("arguments", "match"),
        [
            ({"costs": COSTS[:, :9]}, "below 9, the number of classes"),
            ({**KNOWN, "validation_data": VALIDATION}, r"\(10, 10\) and \(\)"),
            ({**KNOWN, "costs": COSTS[:, 0]}, r"\(10,\) and \(10, 10\)"),
        ],
    )
    def test_what_it_refuses(self, arguments, match):
        with pytest.raises(ValueError, match=match):
            make_trainer(**arguments).train("dnn_bayes")


@pytest.mark.parametrize("costs", [COSTS, COSTS[:, 0], AFFINE["costs"]])
def test_costs_of_examples_that_indices_hold_out(costs):
    rows = np.array([0, 7, 8])
    others = np.setdiff1d(np.arange(NUM_TRAIN), rows)
    pair = csdl.Trainer(X[others], Y[others], (X[rows], Y[rows], costs[rows]), costs=costs[others])
    found = csdl.Trainer(X, Y, rows, costs=costs)
    assert found.data.fingerprints == pair.data.fingerprints
    if pair.data.mean_costs is not None:
        np.testing.assert_array_equal(found.data.mean_costs, pair.data.mean_costs)


def test_training_is_shared_with_a_cost_matrix():
    by_matrix = make_trainer(validation_data=VALIDATION)
    for name in ("dnn_blind", "dnn_bayes", "calibrated_bayes", "ensemble_bayes"):
        keys = {make_trainer(**arguments).key(name) for arguments in (KNOWN, AFFINE)}
        assert keys == {by_matrix.key(name, MATRICES[0])}
