"""Algorithms of one trainer on scikit-learn's digits; `golden_test.py` trains all of them."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.training.algorithms import Algorithm
from tests.support.trainers import DATA, LONGER, MATRICES, SETTINGS, Counter, make_trainer, outputs
from tests.support.weights import assert_same_weights

pytestmark = pytest.mark.usefixtures("run_module_eagerly")

#: Calls of `fit` of some algorithms, trained in this order for the first matrix.
FITS = {"dnn_blind": 1, "sdae_blind": 2, "dnn_bayes": 0, "sdae_bayes": 0}
FITS |= {"seae_bayes": 2, "scae_bayes": 2, "dnn_sosr": 1, "sdae_sosr": 1, "seae_sosr": 1}
FITS |= {"csdnn": 1}
#: The same for the second matrix.
FITS_AGAIN = {"dnn_blind": 0, "dnn_bayes": 0, "sdae_bayes": 0, "sdae_sosr": 1, "csdnn": 2}


@pytest.fixture(scope="module")
def table(run_module_eagerly):
    """Algorithms for the first matrix, then some for the second; fits that each one took."""
    counter = Counter()
    trainer = make_trainer(callbacks=[counter])
    trained, fits = {}, ({}, {})
    for index, names in enumerate((FITS, FITS_AGAIN)):
        for name in names:
            before = counter.fits
            trained[name, index] = trainer.train(name, MATRICES[index])
            fits[index][name] = counter.fits - before
    return trained, fits


class TestTable:
    def test_shared_stages_run_once(self, table):
        assert table[1] == (FITS, FITS_AGAIN)
        seconds = {key: trained.seconds for key, trained in table[0].items()}
        assert seconds["dnn_bayes", 0] == seconds["dnn_blind", 0] > 0
        assert seconds["sdae_bayes", 1] == seconds["sdae_blind", 0] > 0

    def test_alone_it_is_the_same(self, table):
        alone = make_trainer().train("csdnn", MATRICES[0])
        assert_same_weights(alone.model, table[0]["csdnn", 0].model)
        mine = Algorithm("mine", "Mine", "mlp", "none", "sosr", "argmin")
        own = make_trainer().train(mine, MATRICES[0])
        assert_same_weights(own.model, table[0]["dnn_sosr", 0].model)

    def test_bayes_algorithms_are_blind_networks_that_decide_by_the_matrix(self, table):
        blind = outputs(table[0]["dnn_blind", 0].model)
        for index, matrix in enumerate(MATRICES):
            costs = outputs(table[0]["dnn_bayes", index].model)
            np.testing.assert_allclose(costs, blind @ matrix, rtol=1e-4, atol=1e-5)

    def test_pretraining_makes_a_difference(self, table):
        names = ("dnn_sosr", "sdae_sosr", "seae_sosr", "csdnn")
        kernels = [table[0][name, 0].model.get_weights()[0] for name in names]
        for i, kernel in enumerate(kernels):
            for other in kernels[:i]:
                assert np.abs(kernel - other).max() > 1e-4


class TestOptions:
    @pytest.mark.parametrize(
        ("change", "name"),
        [
            ({"hard_hinge": True}, "dnn_sosr"),
            ({"pretraining.tied_weights": True}, "csdnn"),
            ({"mlp.optimizer_name": "adam"}, "dnn_sosr"),
        ],
        ids=str,
    )
    def test_the_network_is_another(self, table, change, name):
        others = make_trainer(settings=SETTINGS.replace(change)).train(name, MATRICES[0]).model
        kernels = [
            keras.ops.convert_to_numpy(model.trainable_variables[0])
            for model in (table[0][name, 0].model, others)
        ]
        assert np.abs(kernels[0] - kernels[1]).max() > 1e-5

    def test_weights_are_mean_costs_of_the_class(self):
        """A class whose mistakes cost 30 times as much is taken for others less often."""
        matrix = csdl.costs.zero_one(10)
        matrix[3] *= 30.0
        trainer = make_trainer(settings=LONGER.replace({"mlp.epochs": 3}))
        blind, weighted = (
            csdl.decide(trainer.train(name, matrix).model, DATA.x_test) == 3
            for name in ("dnn_blind", "dnn_weighted")
        )
        assert weighted.sum() > blind.sum()
