"""Whatever changes a training changes its key, and what is shared is trained once."""

import inspect

import numpy as np
import pytest

import csdl_keras as csdl
from tests.support.changes import setting_changes
from tests.support.testing import dtype_policy
from tests.support.trainers import DATA, MATRICES, SETTINGS, VALIDATION, make_trainer

X, Y = DATA.x_train, DATA.y_train
COSTS = MATRICES[0][Y] + 0.5
VALIDATION_COSTS = MATRICES[0][DATA.y_val] + 0.5
ARGUMENTS = {"x": X, "y": Y, "costs": COSTS, "validation_data": (*VALIDATION, VALIDATION_COSTS)}


def moved(array, index=0):
    other = array.copy()
    other.flat[index] = other.flat[index] / 2 + 0.125
    return other


#: Other values of each argument of `Trainer` that changes what is trained.
OTHERS = {
    "x": [moved(X), moved(X, -1), X[::-1], X.transpose(0, 2, 1, 3)],
    "y": [np.roll(Y, 1)],
    "costs": [moved(COSTS), COSTS[::-1], 2 * COSTS],
    "validation_data": [
        (moved(VALIDATION[0]), VALIDATION[1], VALIDATION_COSTS),
        (VALIDATION[0], np.roll(VALIDATION[1], 1), VALIDATION_COSTS),
        (*VALIDATION, moved(VALIDATION_COSTS)),
        None,
    ],
    "unlabelled": [X[:7], moved(X[:7])],
    "seed": [1, 2**32 - 1],
    "settings": [SETTINGS.replace({"mlp.epochs": 3})],
}


def trainer(**change):
    return csdl.Trainer(**{**ARGUMENTS, "settings": SETTINGS, "seed": 0, **change})


def test_every_argument_is_tried_or_read_by_no_key():
    # Keys of networks are tried in own_network_test.py.
    unread = {"callbacks", "verbose", "cache", "network", "self"}
    assert set(inspect.signature(csdl.Trainer.__init__).parameters) == OTHERS.keys() | unread


def test_no_two_data_share_a_training():
    changes = [{name: value} for name, values in OTHERS.items() for value in values]
    keys = [trainer(**change).key("csdnn") for change in [{}, *changes]]
    assert len(set(keys)) == len(keys)


def test_the_same_numbers_are_the_same_data():
    """Whatever their type, order in memory or container."""
    wide = np.zeros((*X.shape[:-1], 3), "float32")
    wide[..., :1] = X
    alike = {
        "x": [X.astype("float64"), np.asfortranarray(X), wide[..., :1], X.astype(">f4")],
        "y": [Y.astype("uint8"), Y.tolist()],
        "costs": [np.asfortranarray(COSTS), COSTS.tolist()],
    }
    for name, values in alike.items():
        for value in values:
            assert trainer(**{name: value}).key("csdnn") == trainer().key("csdnn")


def test_later_changes_of_the_arrays_change_nothing():
    arrays = {name: ARGUMENTS[name].copy() for name in ("x", "y", "costs")}
    validation = tuple(array.copy() for array in ARGUMENTS["validation_data"])
    found = trainer(**arrays, validation_data=validation)
    for array in (*arrays.values(), *validation):
        array[:] = 0
    assert found.key("csdnn") == trainer().key("csdnn")


@pytest.mark.parametrize("name", ["csdnn", "cnn_bayes", "csosr", "cost_model"])
def test_choices_of_settings(name):
    """All choices of its own parts change a key, and no others'."""
    body = csdl.ALGORITHMS[name].body
    before, unread = make_trainer().key(name, MATRICES[0]), {"pretraining.sees"}
    for choice, settings in setting_changes(SETTINGS).items():
        owner = choice.rpartition(".")[0]
        own = owner == body or (owner == "pretraining" and name == "csdnn" and choice not in unread)
        own |= choice == "members" and name != "csosr"
        own |= choice == "hard_hinge" and csdl.ALGORITHMS[name].training == "sosr"
        assert (make_trainer(settings=settings).key(name, MATRICES[0]) != before) == own, choice


def plan(name, matrix=MATRICES[0], settings=None, **arguments):
    (training,) = make_trainer(**arguments)._plan(name, matrix, settings)
    return training


class TestShared:
    def test_pretraining_without_costs_is_that_of_the_sdae(self):
        for name in ("csdnn", "seae_sosr", "sdae_sosr"):
            blind = plan(name, settings=SETTINGS.replace({"pretraining.beta": 0.0}))
            assert blind.descriptions[0] == plan("sdae_bayes").descriptions[0]

    def test_pretraining_is_shared_by_ways_of_training(self):
        before = plan("csdnn")
        for choice, value, shared in (
            ("mlp.learning_rate", 0.1, True),
            ("mlp.patience", 3, True),
            ("mlp.hidden_units", (5,), False),
            ("mlp.batch_size", 7, False),
            ("pretraining.beta", 0.1, False),
        ):
            after = plan("csdnn", settings=SETTINGS.replace({choice: value}))
            assert before.key != after.key
            assert (before.descriptions[0] == after.descriptions[0]) == shared, choice

    def test_costs_of_examples_are_told_apart_where_they_are_looked_at(self):
        one, other = ({"costs": COSTS * scale} for scale in (1, 2))
        both = [plan("csdnn", None, **costs).descriptions for costs in (one, other)]
        assert both[0][0] != both[1][0] and both[0][1] != both[1][1]
        seae = [plan("seae_sosr", None, **costs).descriptions[0] for costs in (one, other)]
        assert seae[0] == seae[1]
        assert plan("dnn_bayes", None, **one).key == plan("dnn_bayes").key


def test_settings_of_keras_that_change_before_the_training(run_eagerly):
    results = make_trainer().train_all([("dnn_blind", MATRICES[0])])
    with (
        dtype_policy("mixed_bfloat16"),
        pytest.raises(ValueError, match="settings or versions changed during training"),
    ):
        next(results)
