"""Trainers on other data share a cache, and arrays that change later change nothing."""

import inspect

import numpy as np
import pytest

import csdl_keras as csdl
from tests.support.changes import stage_keys
from tests.support.trainers import DATA, MATRICES, SETTINGS, VALIDATION, make_trainer
from tests.support.weights import assert_same_weights

X, Y = DATA.x_train, DATA.y_train
COSTS = MATRICES[0][Y] + 0.5
VALIDATION_COSTS = MATRICES[0][DATA.y_val] + 0.5


def parameters(function):
    return set(inspect.signature(function).parameters) - {"self"}


def moved(array, index=0):
    other = array.copy()
    other.flat[index] = other.flat[index] / 2 + 0.125
    return other


class TestData:
    """Trainers on other data, all of which share a cache."""

    ARGUMENTS = {"validation_data": (*VALIDATION, VALIDATION_COSTS), "costs": COSTS}
    CHANGES = {
        "x": [
            {"x": moved(X)},
            {"x": moved(X, -1)},
            {"x": X[::-1]},
            {"x": X.transpose(0, 2, 1, 3)},
            {"x": X * np.float32(0.5)},
        ],
        "y": [{"y": np.roll(Y, 1)}, {"y": Y[::-1]}],
        "costs": [{"costs": moved(COSTS)}, {"costs": COSTS[::-1]}, {"costs": 2 * COSTS}],
        "validation_data": [
            {"validation_data": (moved(VALIDATION[0]), VALIDATION[1], VALIDATION_COSTS)},
            {"validation_data": (VALIDATION[0], np.roll(VALIDATION[1], 1), VALIDATION_COSTS)},
            {"validation_data": (*VALIDATION, moved(VALIDATION_COSTS))},
            {"validation_data": None},
        ],
        "unlabelled": [{"unlabelled": X[:7]}, {"unlabelled": moved(X[:7])}],
        "seed": [{"seed": 1}, {"seed": 2**32 - 1}],
        "settings": [{"settings": SETTINGS.replace({"mlp.epochs": 3})}],
    }
    #: Why the other arguments of `Trainer` need no place in keys.
    OTHERS = {
        "callbacks": "only observe, see observers_test.py",
        "verbose": "prints",
        "cache": "where stages are kept",
        "jobs": "where stages run, see environment_test.py",
    }

    def trainer(self, **change):
        arguments = {"x": X, "y": Y, **self.ARGUMENTS, "settings": SETTINGS, "seed": 0, **change}
        return csdl.Trainer(**arguments)

    def test_every_argument_is_tried_or_classified(self):
        assert parameters(csdl.Trainer) == self.CHANGES.keys() | self.OTHERS.keys()
        own = {"algorithm", "cost_matrix", "ensemble"}  # see stage_keys_test.py
        assert parameters(csdl.train) <= parameters(csdl.Trainer) | own
        assert parameters(csdl.Trainer.train) == own | {"settings"}

    def test_no_two_share_the_training(self, tried):
        changes = [change for several in self.CHANGES.values() for change in several]
        keys = [
            stage_keys(self.trainer(**change), "dnn_sosr", None)[-1]
            for change in changes
            if "unlabelled" not in change
        ]
        keys.append(stage_keys(self.trainer(), "dnn_sosr", None)[-1])
        assert len(set(keys)) == len(keys)
        keys = [stage_keys(self.trainer(**change), "csdnn", None) for change in changes]
        assert len({key for pair in keys for key in pair}) == 2 * len(changes)
        tried("data and seeds", len(changes))

    def test_the_same_numbers_are_the_same_data(self, tried):
        """Whatever their type, order in memory or container: all train on the same copy."""
        wide = np.zeros((len(X), *X.shape[1:-1], 3), "float32")
        wide[..., :1] = X
        alike = [
            {"x": X.astype("float64")},
            {"x": np.asfortranarray(X)},
            {"x": X[::-1][::-1]},
            {"x": wide[..., :1]},
            {"x": X.astype(">f4")},
            {"x": X.tolist()},
            {"y": Y.astype("uint8")},
            {"y": Y.tolist()},
            {"costs": np.asfortranarray(COSTS)},
            {"costs": COSTS.tolist()},
        ]
        expected = self.trainer()
        for change in alike:
            found = self.trainer(**change)
            assert stage_keys(found, "csdnn", None) == stage_keys(expected, "csdnn", None)
            for name in ("x", "y", "costs"):
                one, other = (getattr(it.data.train, name) for it in (found, expected))
                assert one.dtype == other.dtype and one.strides == other.strides
                np.testing.assert_array_equal(one, other)
        tried("types and orders in memory", len(alike))

    def test_later_changes_of_the_arrays_change_nothing(self, run_eagerly, tried):
        arrays = {
            "x": X.copy(),
            "y": Y.astype("int64"),
            "costs": COSTS.copy(),
            "unlabelled": X[:9].copy(),
        }
        validation = (VALIDATION[0].copy(), VALIDATION[1].astype("int64"), VALIDATION_COSTS.copy())
        expected = self.trainer(unlabelled=X[:9]).train("csdnn").model
        trainer = self.trainer(**arrays, validation_data=validation)
        keys = stage_keys(trainer, "csdnn", None)
        for array in (*arrays.values(), *validation):
            assert array.flags.c_contiguous and array.dtype in ("float32", "int64", "float64")
            array[:] = 0
        assert_same_weights(trainer.train("csdnn").model, expected)
        assert stage_keys(trainer, "csdnn", None) == keys
        tried("later changes of arrays", len(arrays) + len(validation))

    def test_a_matrix_that_changes_before_its_turn(self, run_eagerly, tried):
        matrix = MATRICES[0].copy()
        results = make_trainer().train_all([("dnn_blind", matrix), ("dnn_sosr", matrix)])
        next(results)
        matrix[:] = MATRICES[1]
        expected = make_trainer().train("dnn_sosr", MATRICES[0]).model
        assert_same_weights(next(results)[1].model, expected)
        tried("later changes of arrays")

    @pytest.mark.parametrize("kind", ["memory", "folder"])
    def test_folds_and_seeds_that_share_a_cache(self, kind, run_eagerly, tmp_path, tried):
        cache = csdl.StageCache(None if kind == "memory" else tmp_path)
        changes = [{}, {"x": X[::-1]}, {"seed": 1}, {}]
        for change in changes:
            arguments = {"x": X, "y": Y, "settings": SETTINGS, "seed": 0, **change}
            shared = csdl.Trainer(**arguments, cache=cache).train("dnn_blind", MATRICES[0])
            alone = csdl.Trainer(**arguments).train("dnn_blind", MATRICES[0])
            assert_same_weights(shared.model, alone.model)
        tried(f"trainers that share a cache, {kind}", len(changes))
