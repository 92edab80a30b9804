"""Whatever changes a result changes the key of its stage; a new field fails until it is tried."""

import dataclasses

import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.training import stages
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.choices import Choices
from csdl_keras.training.recipe import Recipe
from tests.support.changes import CELL, cell_stages, setting_changes, stage_keys
from tests.support.trainers import DATA, MATRICES, SETTINGS, VALIDATION, make_trainer
from tests.support.weights import assert_same_weights

X, Y = DATA.x_train, DATA.y_train


class TestSettings:
    @pytest.mark.parametrize("row", ["csdnn", "cnn_bayes", "csosr", "cost_model"])
    def test_every_choice(self, row, run_eagerly, monkeypatch, tried):
        """Another key, or a choice that training does not read, or the same weights."""
        read: set[tuple[type, str]] = set()
        noted: set[tuple[type, str]] = set()

        def reading(choices, name):
            read.add((type(choices), name))
            return object.__getattribute__(choices, name)

        def noting(run):
            def noted_run(*args):
                read.clear()
                result = run(*args)
                noted.update(read)
                return result

            return noted_run

        def trained(settings):
            return make_trainer(settings=settings).train(row, MATRICES[0]).model

        with monkeypatch.context() as patch:
            patch.setattr(Choices, "__getattribute__", reading, raising=False)
            for name in ("_train", "_pretrain"):
                patch.setattr(stages.Stages, name, noting(getattr(stages.Stages, name)))
            model = trained(SETTINGS)
        before = stage_keys(make_trainer(), row)
        told = 0
        for name, settings in setting_changes(SETTINGS).items():
            owner, _, field = name.rpartition(".")
            kind = type(getattr(SETTINGS, owner)) if owner else type(SETTINGS)
            if before[-1] != stage_keys(make_trainer(settings=settings), row)[-1]:
                told += 1
            elif (kind, field) in noted:
                assert_same_weights(trained(settings), model)
        assert told >= 2
        tried(f"choices of Settings, {row}", len(setting_changes(SETTINGS)))


class TestRows:
    """Fields of `Algorithm` and `Recipe`, which one cache of a trainer tells apart."""

    BASE = Algorithm("one", "One", "auto", "none", "nll", "bayes")
    CHANGES = {
        "name": {"name": "other"},
        "title": {"title": "Other"},
        "body": {"body": "mlp"},
        "pretraining": {"body": "mlp", "pretraining": "dae"},
        "training": {"training": "poisson", "prediction": "argmin"},
        "prediction": {"prediction": "argmax"},
        "in_table2": {"in_table2": False},
        "calibrated": {"calibrated": True},
        "members": {"members": 2},
    }

    def test_every_field_of_a_row(self, run_eagerly, tried):
        fields = {field.name for field in dataclasses.fields(Algorithm)}
        assert fields == self.CHANGES.keys()
        x, x_val = (it.reshape(len(it), -1) for it in (X, VALIDATION[0]))
        arguments = {"validation_data": (x_val, DATA.y_val), "settings": SETTINGS, "seed": 0}
        shared = csdl.Trainer(x, Y, cache=csdl.StageCache(), **arguments)
        shared.train(self.BASE, MATRICES[0])
        before = stage_keys(shared, self.BASE)
        for change in self.CHANGES.values():
            row = dataclasses.replace(self.BASE, **change)
            if set(before) & set(stage_keys(shared, row)):
                alone = csdl.Trainer(x, Y, **arguments).train(row, MATRICES[0]).model
                found = shared.train(row, MATRICES[0]).model
                np.testing.assert_array_equal(
                    found.predict(x_val, verbose=0), alone.predict(x_val, verbose=0)
                )
        tried("fields of Algorithm", len(fields))

    def test_every_field_of_a_recipe(self, tried):
        (recipe,) = make_trainer()._members(csdl.ALGORITHMS["csdnn"], MATRICES[0], None)
        changes = {
            "algorithm": csdl.ALGORITHMS["sdae_sosr"],
            "matrix": MATRICES[1],
            "settings": SETTINGS.replace({"mlp.learning_rate": 0.1}),
            "context": {**recipe.context, "seed": 5},
            "member": 1,
            "example_costs": "a digest",
            "largest": 0.5,
            "stacked": 2,
            "unlabelled": "a digest",
        }
        #: Both follow from data whose contents are in keys.
        derived = {"shape", "unlabelled_size"}
        assert {field.name for field in dataclasses.fields(Recipe)} == changes.keys() | derived
        keys = {csdl.StageCache.key(recipe.describe_training())}
        for name, value in changes.items():
            keys.add(
                csdl.StageCache.key(
                    dataclasses.replace(recipe, **{name: value}).describe_training()
                )
            )
        assert len(keys) == 1 + len(changes)
        tried("fields of Recipe", len(changes))

    @pytest.mark.parametrize("row", ["csdnn", "cnn_bayes", "min", "csosr"])
    def test_matrices(self, row, tried):
        """A matrix that trains otherwise is another stage; blind training looks at none."""
        one, other = (stage_keys(make_trainer(), row, matrix) for matrix in MATRICES)
        assert (one == other) == (row == "cnn_bayes")
        tried("cost matrices")


class TestCells:
    CHANGES = {
        "source": [
            {"source": dataclasses.replace(CELL.source, **change)}
            for change in (
                {"imbalanced": True},
                {"train_size": 101},
                {"seed": 1},
                {"imbalanced": True, "drop_rate": 0.5},
            )
        ],
        "algorithm": [{"algorithm": csdl.ALGORITHMS[name]} for name in ("sdae_bayes", "seae_sosr")],
        "cost_seed": [{"cost_seed": 1001}],
        "settings": [{"settings": SETTINGS.replace({"pretraining.beta": 0.5})}],
        "cost_scale": [{"cost_scale": 20.0}],
        "seed": [{"seed": 1}],
    }

    def test_every_field(self, tmp_path, tried):
        assert {field.name for field in dataclasses.fields(CELL)} == self.CHANGES.keys()
        of_source = {field.name for field in dataclasses.fields(DataSource)}
        #: The name and colours of data do not matter beside its contents, nor does `costs_of_all`
        #: beside the cost matrix.
        named = {"name", "imbalanced", "train_size", "seed", "drop_rate", "grayscale"}
        assert of_source == named | {"costs_of_all"}
        changes = [{}, *(change for several in self.CHANGES.values() for change in several)]
        decisions = [
            csdl.StageCache.key(
                cell_stages(tmp_path, dataclasses.replace(CELL, **change))["decisions"]
            )
            for change in changes
        ]
        scaled = changes.index({"cost_scale": 20.0})
        # Networks that estimate C / max(C) decide alike; those that decide by C itself do not.
        assert decisions[scaled] == decisions.pop(0)
        assert len(set(decisions)) == len(decisions)
        bayes = dataclasses.replace(CELL, algorithm=csdl.ALGORITHMS["dnn_bayes"])
        one, other = (
            cell_stages(tmp_path, cell)["decisions"]
            for cell in (bayes, dataclasses.replace(bayes, cost_scale=20.0))
        )
        assert one != other
        tried("fields of Cell", len(changes))
