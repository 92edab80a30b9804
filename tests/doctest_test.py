"""Runs the examples of all docstrings."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import csdl_keras
import csdl_keras.baselines
import csdl_keras.evaluation
import csdl_keras.plots
import csdl_keras.sklearn
import csdl_keras.tuning

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = sorted(
    module.name for module in pkgutil.walk_packages(csdl_keras.__path__, "csdl_keras.")
)
PACKAGES = [csdl_keras, csdl_keras.datasets, csdl_keras.layers, csdl_keras.losses]
PACKAGES += [csdl_keras.baselines, csdl_keras.metrics, csdl_keras.models]
PACKAGES += [csdl_keras.plots, csdl_keras.tuning]
PACKAGES += [csdl_keras.costs, csdl_keras.evaluation, csdl_keras.sklearn]
# Made by functions and methods that have the example.
MADE = (
    "AuxiliaryCostModel",
    "BayesClassifier",
    "CostDifference",
    "ExpectedCostModel",
    "Reliability",
)
PUBLIC = {
    f"{package.__name__}.{name}": getattr(package, name)
    for package in PACKAGES
    for name in package.__all__
    if name not in MADE
}


def count_examples(thing):
    return len(doctest.DocTestParser().get_examples(inspect.getdoc(thing) or ""))


class TestDoctests:
    @pytest.mark.parametrize("name", MODULES)
    def test_examples(self, name, run_eagerly):
        result = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
        assert result.failed == 0

    def test_modules_are_found(self):
        assert {"csdl_keras.costs", "csdl_keras.losses.sosr_loss"} <= set(MODULES)

    @pytest.mark.parametrize(
        "name",
        [
            name
            for name, thing in PUBLIC.items()
            if (inspect.isclass(thing) or inspect.isfunction(thing))
            and not (inspect.isclass(thing) and issubclass(thing, Exception))
        ],
    )
    def test_everything_public_has_an_example_that_runs(self, name):
        thing = PUBLIC[name]
        assert count_examples(thing) > 0
        assert thing.__module__ in MODULES
