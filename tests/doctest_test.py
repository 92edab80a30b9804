"""Runs the examples of all docstrings."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import csdl_keras
import csdl_keras_cli

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = sorted(
    module.name
    for package in (csdl_keras, csdl_keras_cli)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
)
PACKAGES = (
    "baselines costs datasets evaluation layers losses metrics models plots sklearn tuning".split()
)
# Made by functions and methods that have the example.
MADE = (
    "AuxiliaryCostModel BayesModel CostCurve CostDifference CostReport DecisionCurve "
    "ExpectedCostModel PriorEstimate Reliability"
).split()


def public_names():
    yield from (f"csdl_keras.{name}" for name in csdl_keras.__all__)
    for package in PACKAGES:
        names = importlib.import_module(f"csdl_keras.{package}").__all__
        yield from (f"csdl_keras.{package}.{name}" for name in names if name not in MADE)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, run_eagerly):
    result = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert result.failed == 0


def test_everything_public_has_an_example_that_runs():
    without = []
    for name in public_names():
        module, _, attribute = name.rpartition(".")
        thing = getattr(importlib.import_module(module), attribute)
        if not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        examples = doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")
        error = inspect.isclass(thing) and issubclass(thing, Exception)
        if thing.__module__ not in MODULES or not (examples or error):
            without.append(name)
    assert not without and len(MODULES) > 100
