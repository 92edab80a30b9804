"""Trainers on other data share a cache, and arrays that change later change nothing."""

import inspect

import numpy as np

import csdl_keras as csdl
from tests.support.changes import stage_keys
from tests.support.trainers import DATA, MATRICES, SETTINGS, VALIDATION, make_trainer
from tests.support.weights import assert_same_weights

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
    "x": [moved(X), moved(X, -1), X[::-1], X.transpose(0, 2, 1, 3), X * np.float32(0.5)],
    "y": [np.roll(Y, 1), Y[::-1]],
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
#: Arguments that need no place in keys, see observers_test.py and environment_test.py.
UNREAD = {"callbacks", "verbose", "cache", "jobs"}


def trainer(**change):
    return csdl.Trainer(**{**ARGUMENTS, "settings": SETTINGS, "seed": 0, **change})


def parameters(function):
    return set(inspect.signature(function).parameters) - {"self"}


def test_every_argument_is_tried_or_classified():
    # Keys of networks are tried in own_network_test.py.
    assert parameters(csdl.Trainer) == OTHERS.keys() | UNREAD | {"network"}
    # See stage_keys_test.py and effort_test.py.
    own = {"algorithm", "cost_matrix", "ensemble", "effort", "minutes"}
    assert parameters(csdl.train) <= parameters(csdl.Trainer) | own
    assert parameters(csdl.Trainer.train) == own | {"settings"}


def test_no_two_share_a_stage(tried):
    changes = [{name: value} for name, values in OTHERS.items() for value in values]
    seen = [{}, *(change for change in changes if "unlabelled" not in change)]
    keys = [stage_keys(trainer(**change), "dnn_sosr", None)[-1] for change in seen]
    assert len(set(keys)) == len(keys)
    keys = [key for change in changes for key in stage_keys(trainer(**change), "csdnn", None)]
    assert len(set(keys)) == 2 * len(changes)
    tried("data and seeds", len(changes))


def test_the_same_numbers_are_the_same_data(tried):
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
            found, expected = trainer(**{name: value}), trainer()
            assert stage_keys(found, "csdnn", None) == stage_keys(expected, "csdnn", None)
            assert getattr(found.data.train, name).flags.c_contiguous
        tried("types and orders in memory", len(values))


def test_later_changes_of_the_arrays_change_nothing(run_eagerly, tried):
    arrays = {name: ARGUMENTS[name].copy() for name in ("x", "y", "costs")} | {
        "unlabelled": X[:9].copy()
    }
    validation = tuple(array.copy() for array in ARGUMENTS["validation_data"])
    for array in (*arrays.values(), *validation):  # none of which a trainer has to convert
        assert array.flags.c_contiguous and array.dtype in ("float32", "int64", "float64")
    expected = trainer(unlabelled=X[:9]).train("csdnn").model
    found = trainer(**arrays, validation_data=validation)
    keys = stage_keys(found, "csdnn", None)
    for array in (*arrays.values(), *validation):
        array[:] = 0
    assert_same_weights(found.train("csdnn").model, expected)
    assert stage_keys(found, "csdnn", None) == keys
    tried("later changes of arrays", len(arrays) + len(validation))


def test_a_matrix_that_changes_later_changes_nothing(run_eagerly, tried):
    matrix = MATRICES[0].copy()
    results = make_trainer().train_all([("dnn_sosr", matrix)])
    matrix[:] = MATRICES[1]
    expected = make_trainer().train("dnn_sosr", MATRICES[0]).model
    assert_same_weights(next(results)[1].model, expected)
    tried("later changes of arrays")


def test_folds_and_seeds_that_share_a_cache(run_eagerly, tmp_path, tried):
    cache = csdl.StageCache(tmp_path)
    changes = [{}, {"x": X[::-1]}, {"seed": 1}, {}]
    for change in changes:
        arguments = {"x": X, "y": Y, "settings": SETTINGS, "seed": 0, **change}
        shared = csdl.Trainer(**arguments, cache=cache).train("dnn_blind", MATRICES[0])
        alone = csdl.Trainer(**arguments).train("dnn_blind", MATRICES[0])
        assert_same_weights(shared.model, alone.model)
    tried("trainers that share a cache", len(changes))
