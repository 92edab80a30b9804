"""The names of the command line are those of the package."""

import argparse

import pytest

import csdl_keras as csdl
from csdl_keras.datasets import EMBEDDED
from csdl_keras.paper.cells import FIRST_COST_SEED
from csdl_keras.paper.profiles import PROFILES
from csdl_keras.prediction.export import SUFFIXES
from csdl_keras.training import CaffeCNN
from csdl_keras.training.algorithms import ALGORITHMS, PAPER_ALGORITHMS, get_algorithm
from csdl_keras.training.bodies import EFFORTS
from csdl_keras_cli import choices
from csdl_keras_cli.main import build_parser


def test_algorithms():
    assert choices.PAPER_ALGORITHMS == PAPER_ALGORITHMS
    assert (*choices.PAPER_ALGORITHMS, *choices.OTHER_ALGORITHMS) == tuple(ALGORITHMS)
    assert {*choices.ALIASES} == {*ALGORITHMS.aliases}
    assert {*choices.DEFAULT_ALGORITHMS} <= {*ALGORITHMS}
    tunable = [name for name in PAPER_ALGORITHMS if get_algorithm(name).objective.searchable]
    assert list(choices.TUNABLE) == tunable


def test_other_names():
    assert choices.EFFORTS == tuple(EFFORTS)
    assert choices.FORMATS == SUFFIXES
    assert choices.FIRST_COST_SEED == FIRST_COST_SEED
    assert {*EMBEDDED} <= {*choices.DATASETS}
    for variant in choices.CNN_VARIANTS:
        CaffeCNN(variant=variant)
    settings = csdl.Settings()
    epochs = {name: getattr(settings, name).epochs for name in choices.EPOCHS}
    assert choices.EPOCHS == epochs


def test_profiles():
    sizes = {
        name: f"{len(profile.datasets)} data set{'s' * (len(profile.datasets) > 1)}, hidden "
        f"layers {'x'.join(map(str, profile.settings.mlp.hidden_units))}, "
        f"{profile.cost_seeds} matrices"
        for name, profile in PROFILES.items()
    }
    assert choices.PROFILES == sizes


def commands():
    action = next(it for it in build_parser()._actions if it.dest == "command")
    return action.choices


@pytest.mark.parametrize("name", commands())
def test_every_option_says_what_it_is(name):
    for action in commands()[name]._actions:
        assert action.help and action.help is not argparse.SUPPRESS
    assert commands()[name].description


def test_datasets_are_those_that_load_names():
    table = csdl.datasets.load.__doc__
    assert all(f'`"{name}"`' in table for name in choices.DATASETS)
