"""Whatever changes a result changes the key of its stage; a new field fails until it is tried."""

import dataclasses

import pytest

import csdl_keras as csdl
from csdl_keras._utils.frames import Columns
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.choices import Choices
from csdl_keras.training.recipe import Recipe
from csdl_keras.training.stages import Stages
from tests.support.changes import CELL, cell_stages, setting_changes, stage_keys
from tests.support.trainers import DATA, MATRICES, SETTINGS, VALIDATION, make_trainer
from tests.support.weights import assert_same_weights


def field_names(kind):
    return {field.name for field in dataclasses.fields(kind)}


@pytest.mark.parametrize("name", ["csdnn", "cnn_bayes", "csosr", "cost_model"])
def test_every_choice_of_settings(name, run_eagerly, monkeypatch, tried):
    """Another key, or a choice that training does not read, or the same weights."""
    read: set[tuple[type, str]] = set()
    running = []

    def reading(choices, field):
        if running:
            read.add((type(choices), field))
        return object.__getattribute__(choices, field)

    def noting(run):
        def noted(*args):
            running.append(run)
            result = run(*args)
            running.pop()
            return result

        return noted

    def trained(settings):
        trainer = make_trainer(settings=settings)
        # How many networks an effort averages is in no key, since each is a stage.
        return trainer.train(name, MATRICES[0], ensemble=1).model

    with monkeypatch.context() as patch:
        patch.setattr(Choices, "__getattribute__", reading, raising=False)
        for stage in ("_train", "_pretrain"):
            patch.setattr(Stages, stage, noting(getattr(Stages, stage)))
        model = trained(SETTINGS)
    before = stage_keys(make_trainer(), name)
    other_keys = 0
    for choice, settings in setting_changes(SETTINGS).items():
        owner, _, field = choice.rpartition(".")
        kind = type(getattr(SETTINGS, owner)) if owner else type(SETTINGS)
        if before[-1] != stage_keys(make_trainer(settings=settings), name)[-1]:
            other_keys += 1
        elif (kind, field) in read:
            assert_same_weights(trained(settings), model)
    assert other_keys >= 2
    tried(f"choices of Settings, {name}", len(setting_changes(SETTINGS)))


def test_every_field_of_an_algorithm(run_eagerly, tried):
    """Algorithms of equal keys, which a cache takes for one another, are trained alike."""
    base = Algorithm("one", "One", "auto", "none", "nll", "bayes")
    changes = {
        "name": {"name": "other"},
        "title": {"title": "Other"},
        "body": {"body": "mlp"},
        "pretraining": {"body": "mlp", "pretraining": "dae"},
        "training": {"training": "poisson", "prediction": "argmin"},
        "prediction": {"prediction": "argmax"},
        "in_table2": {"in_table2": False},
        "calibrated": {"calibrated": True},
        "members": {"members": 2},
        "effort": {"effort": "balanced"},
    }
    assert field_names(Algorithm) == changes.keys()
    x, x_val = (it.reshape(len(it), -1) for it in (DATA.x_train, VALIDATION[0]))
    arguments = (x, DATA.y_train, (x_val, DATA.y_val), SETTINGS, 0)
    shared = csdl.Trainer(*arguments)
    shared.train(base, MATRICES[0])
    before = stage_keys(shared, base)
    for change in changes.values():
        algorithm = dataclasses.replace(base, **change)
        if set(before) & set(stage_keys(shared, algorithm)):
            alone = csdl.Trainer(*arguments).train(algorithm, MATRICES[0]).model
            assert_same_weights(shared.train(algorithm, MATRICES[0]).model, alone)
    tried("fields of Algorithm", len(changes))


def test_every_field_of_a_recipe(tried):
    (recipe,) = make_trainer()._members("csdnn", None, MATRICES[0])
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
        "stopping_costs": "a digest",
        "columns": Columns(("a",), (None,)),
        "folds": 2,
    }
    # Both follow from data whose contents are in keys.
    assert field_names(Recipe) == changes.keys() | {"shape", "unlabelled_size"}
    changed = [dataclasses.replace(recipe, **{name: it}) for name, it in changes.items()]
    keys = {csdl.StageCache.key(one.describe_training()) for one in (recipe, *changed)}
    assert len(keys) == 1 + len(changes)
    tried("fields of Recipe", len(changes))


def test_every_field_of_a_cell(tmp_path, tried):
    sources = ({"imbalanced": True}, {"train_size": 101}, {"seed": 1})
    sources = (*sources, {"imbalanced": True, "drop_rate": 0.5})
    changes = {
        "source": [dataclasses.replace(CELL.source, **change) for change in sources],
        "algorithm": [csdl.ALGORITHMS[name] for name in ("sdae_bayes", "seae_sosr")],
        "cost_seed": [1001],
        "settings": [SETTINGS.replace({"pretraining.beta": 0.5})],
        "cost_scale": [20.0],
        "seed": [1],
    }
    assert field_names(CELL) == changes.keys()
    # The name and colours of data do not matter beside its contents, nor do `costs_of_all`
    # and `costs` beside the cost matrix.
    named = {"name", "imbalanced", "train_size", "seed", "drop_rate", "grayscale"}
    assert field_names(DataSource) == named | {"costs_of_all", "costs"}
    asked = [dataclasses.replace(CELL, **{name: it}) for name, own in changes.items() for it in own]
    assert len({cell.key for cell in (CELL, *asked)}) == 1 + len(asked)

    def key(cell=CELL, **change):
        cell = dataclasses.replace(cell, **change)
        return csdl.StageCache.key(cell_stages(tmp_path, cell)["decisions"])

    keys = [key(**{name: it}) for name, values in changes.items() for it in values]
    assert len(set(keys)) == len(keys)
    # Networks that estimate C / max(C) decide alike; those that decide by C itself do not.
    assert key() in keys and key() == key(cost_scale=20.0)
    bayes = dataclasses.replace(CELL, algorithm=csdl.ALGORITHMS["dnn_bayes"])
    assert key(bayes) != key(bayes, cost_scale=20.0)
    tried("fields of Cell", len(keys))
