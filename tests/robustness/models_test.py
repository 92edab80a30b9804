"""Functions that make models, with wrong arguments of every kind and some right ones."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import csdl_keras
from csdl_keras import models
from tests.robustness.containers import CONTAINERS
from tests.robustness.costs_cases import matrix, vectors
from tests.robustness.documented import is_indices, is_vectors
from tests.robustness.models_cases import CASES, body, classifier
from tests.robustness.outcome import Case, by_name, public_functions
from tests.robustness.properties import (
    check_a_thousand_classes,
    check_anything,
    check_containers,
    check_refusals,
    check_spoilings,
    check_wrong_arguments,
)
from tests.support.testing import to_numpy

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 4)).astype("float32")
VARIANTS = by_name(CASES)
LABELLED = Case(
    models.labelled_costs,
    lambda rng, k: (rng.integers(k, size=4), vectors(rng, 4, k)),
    lambda y, c: is_indices(y, 2**24) and is_vectors(c) and len(y) == len(np.asarray(c)),
    lambda y, c: {
        "probability": np.asarray(y),
        "class_costs": np.float32([[y, *row] for y, row in zip(y, np.asarray(c), strict=True)]),
        "expected_cost": np.asarray(c, "f4"),
    },
)


def test_every_public_function_is_here():
    others = {"output_kind", "hidden_layers"}
    assert set(VARIANTS) | {"labelled_costs"} == public_functions(models) | others


@pytest.fixture
def nothing_is_built(monkeypatch):
    def fail(self, *args, **kwargs):
        raise AssertionError(f"{self.name} was called before arguments were checked")

    for case in CASES.values():
        case.arguments(RNG, 3)  # makes the models that functions are given
    monkeypatch.setattr(keras.layers.Layer, "__call__", fail)


@pytest.mark.usefixtures("nothing_is_built")
@pytest.mark.parametrize("name", VARIANTS)
class TestWrongArguments:
    def test_anything(self, name):
        @settings(max_examples=200)
        @given(data=st.data())
        def check(data):
            check_wrong_arguments(data.draw(st.sampled_from(VARIANTS[name])), data)

        check()

    def test_spoilings(self, name):
        for case in VARIANTS[name]:
            check_refusals(case)


class TestLabelledCosts:
    @settings(max_examples=200)
    @given(data=st.data())
    def test_containers(self, data):
        check_containers(LABELLED, data)

    @settings(max_examples=200)
    @given(data=st.data())
    def test_anything(self, data):
        check_anything(LABELLED, data)

    def test_others(self):
        check_spoilings(LABELLED)
        check_a_thousand_classes(LABELLED)


def outputs(model):
    return {name: to_numpy(values) for name, values in model(X).items()}


@pytest.mark.parametrize("kind", sorted(CONTAINERS))
class TestContainers:
    """The same model from whatever holds the matrix."""

    def test_bayes_classifier(self, kind):
        costs = matrix(np.random.default_rng(0), 3, 4)
        careful = models.bayes_classifier(classifier(), CONTAINERS[kind](costs))
        expected = to_numpy(classifier()(X)) @ costs
        np.testing.assert_allclose(to_numpy(careful(X)), expected, rtol=1e-5)

    def test_expected_cost_model(self, kind):
        costs = vectors(np.random.default_rng(0), 3, 4)
        model = models.expected_cost_model(body(), CONTAINERS[kind](costs), seed=0)
        found = outputs(model)
        np.testing.assert_allclose(found["expected_cost"], found["probability"] @ costs, rtol=1e-5)

    def test_tabular(self, kind):
        table = vectors(np.random.default_rng(0), 6, 4)
        model = models.tabular(CONTAINERS[kind](table), 3, (), output="features")
        expected = (X - table.mean(axis=0)) / table.std(axis=0)
        np.testing.assert_allclose(to_numpy(model(X)), expected, rtol=1e-4, atol=1e-4)


class TestNumbersOfClasses:
    @pytest.mark.parametrize("k", [2, 1000])
    def test_bayes_classifier(self, k):
        network, costs = models.mlp((4,), k, ()), matrix(RNG, k, k + 1)
        careful = models.bayes_classifier(network, costs)
        expected = to_numpy(network(X)) @ costs
        np.testing.assert_allclose(to_numpy(careful(X)), expected, rtol=1e-4)
        decided = to_numpy(models.decision_model(careful)(X))
        np.testing.assert_array_equal(decided, to_numpy(careful(X)).argmin(axis=1))

    def test_one_logistic_unit(self):
        inputs = keras.Input((4,))
        network = keras.Model(inputs, keras.layers.Dense(1, "sigmoid")(inputs))
        costs, p = matrix(RNG, 2, 3), to_numpy(network(X))
        careful = models.bayes_classifier(network, costs)
        np.testing.assert_allclose(to_numpy(careful(X)), np.hstack([1 - p, p]) @ costs, rtol=1e-4)

    @pytest.mark.parametrize(("k", "rank"), [(2, None), (1000, 2)])
    def test_expected_cost_model(self, k, rank):
        costs = vectors(RNG, k, k + 1)
        found = outputs(models.expected_cost_model(body(), costs, rank))
        np.testing.assert_allclose(found["expected_cost"], found["probability"] @ costs, rtol=1e-3)

    @pytest.mark.parametrize("k", [2, 1000])
    @pytest.mark.parametrize("output", ["cost", "probability"])
    def test_networks(self, k, output):
        for network, x in (
            (models.mlp((4,), k, (), output=output), X),
            (models.tabular(X, k, (), output=output), X),
            (models.convnet((4, 4, 1), k, (2,), output=output), np.ones((3, 4, 4, 1))),
        ):
            assert to_numpy(network(x)).shape == (3, k)
            assert csdl_keras.output_kind(network) == output
