"""Functions that make models refuse what they document before they call a layer."""

import datetime

import keras
import numpy as np
import pandas
import pytest

import csdl_keras
from csdl_keras import models
from tests.robustness.networks import body, network, of_images, outputs
from tests.robustness.outcome import public_functions
from tests.robustness.rows import Row, named, names_of, table_tests
from tests.robustness.samples import matrix, vectors


def model(function, right, errors=(), also=(), free=()):
    def call(**arguments):
        return outputs(function(**arguments))

    return Row(function, lambda rng, k: right(rng), errors, also, free, call, 1e-4)


SUBCLASSED = type("Subclassed", (keras.Model,), {})
no_model = (({"model": None}, "keras.Model"), ({"model": 3}, "keras.Model"))
output_errors = (({"output": "features"}, "`output`"), ({"output": "logits"}, "`output`"))
head_errors = (*named(num_classes=[1, 2**31], output=["logits"], seed=[-1]),)
size_errors = (*named(input_shape=[(8, 8, 0), (8, 8, 3, 3), {8: 1}]),)

ROWS = {
    "bayes_classifier": model(
        models.bayes_classifier,
        lambda rng: (
            {"model": network(), "cost_matrix": matrix(rng, 3, 4)}
            | {"from_logits": False, "mean_costs": False, "cost_input": False}
        ),
        (
            *no_model,
            ({"model": network("cost")}, "outputs costs"),
            ({"from_logits": True}, "outputs probabilities"),
            ({"cost_matrix": np.ones((3, 3))}, "diagonal is 0"),
            ({"cost_matrix": 1 - np.eye(4)}, "for each of|of shape"),
            ({"cost_input": True}, "neither `cost_matrix`"),
            ({"num_decisions": 4}, "only with cost_input=True"),
        ),
        ({"cost_matrix": np.ones((3, 4)), "mean_costs": True},),
        free=("num_decisions",),
    ),
    "bayes_classifier, cost_input": model(
        models.bayes_classifier,
        lambda rng: {"model": network(), "cost_input": True, "num_decisions": 4},
        (({"mean_costs": True}, "neither `cost_matrix`"), *named(num_decisions=[1])),
        ({"num_decisions": None},),
        free=("cost_matrix", "from_logits", "mean_costs"),
    ),
    "decision_model": model(
        models.decision_model,
        lambda rng: {"model": network(), "output": "probability"},
        (*no_model, *output_errors, ({"model": SUBCLASSED()}, "inputs are known")),
        ({"output": None}, {"model": network("cost"), "output": "cost"}),
    ),
    "ensemble": model(
        models.ensemble,
        lambda rng: {"members": [network(), network(seed=1)], "output": "probability"},
        (
            *output_errors,
            ({"members": []}, "at least one member"),
            ({"members": [network(), None]}, "keras.Model"),
            ({"members": [network(), body()]}, "same shapes"),
            ({"members": [network(), network("cost")], "output": None}, "of one kind"),
        ),
        ({"output": None},),
    ),
    "expected_cost_model": model(
        models.expected_cost_model,
        lambda rng: {"body": body(), "mean_costs": vectors(rng, 3, 4), "rank": 2, "seed": 0},
        (
            ({"body": SUBCLASSED()}, "inputs are known"),
            ({"mean_costs": -np.ones((3, 4))}, "at least 0"),
            ({"mean_costs": np.ones((1, 4))}, "at least 2 classes"),
            *named(rank=[4], seed=[2**32]),
        ),
        ({"rank": None},),
        free=("name",),
    ),
    "auxiliary_costs": model(
        models.auxiliary_costs,
        lambda rng: {"model": network(), "num_decisions": 3, "layers": ["hidden_1"], "seed": 0},
        (*no_model, ({"layers": ["hidden_9"]}, "`layers`"), ({"layers": []}, "`layers`")),
        ({"layers": None},),
    ),
    "cost_estimator": model(
        models.cost_estimator,
        lambda rng: {"model": network("cost"), "link": "log", "cost_scale": 0.5},
        (
            *no_model,
            *named(link=["exp"], cost_scale=[0.0]),
        ),
        ({"link": "logit"},),
    ),
    "serving_model": model(
        models.serving_model,
        lambda rng: (
            {"model": network(), "output": "probability"}
            | {"from_logits": False, "cost_matrix_input": False}
        ),
        (
            *no_model,
            *output_errors,
            ({"model": network("cost"), "output": "cost", "cost_matrix_input": True}, "received"),
            ({"from_logits": True}, "probabilities"),
        ),
        ({"output": None},),
    ),
    "mlp": model(
        models.mlp,
        lambda rng: (
            {"input_shape": (4,), "num_classes": 3, "hidden_units": (5,), "output": "cost"}
            | {"seed": 0}
        ),
        (
            *head_errors,
            *named(input_shape=[()], hidden_units=[(5, 0), {5: 1}]),
        ),
        ({"hidden_units": ()}, {"num_classes": 1000, "output": "probability"}),
        free=("activation", "kernel_initializer", "name"),
    ),
    "convnet": model(
        models.convnet,
        lambda rng: (
            {"input_shape": (8, 8, 3), "num_classes": 3, "filters": (4,), "shift": 0.0}
            | {"dropout": 0.5, "output": "probability", "seed": 0, "value_range": (0, 1)}
        ),
        (
            *head_errors,
            *size_errors,
            *named(filters=[(0,)], shift=[0.6], dropout=[0.96], value_range=[(1, 0), 255]),
        ),
        ({"output": "features"}, {"output": "cost"}, {"value_range": (0, 255)}),
        free=("name",),
    ),
    "view_average": model(
        models.view_average,
        lambda rng: {"model": of_images(), "pixels": 1, "flip": True},
        (
            *no_model,
            ({"model": network()}, "Expected images"),
            ({"model": network("cost")}, "outputs costs"),
            ({"pixels": 8}, "sizes above 8"),
            *named(pixels=[-1], flip=[1]),
        ),
        ({"pixels": 0}, {"flip": False}),
    ),
    "tabular": model(
        models.tabular,
        lambda rng: (
            {"x": vectors(rng, 6, 4), "num_classes": 3, "hidden_units": (5,), "dropout": 0.5}
            | {"output": "features", "seed": 0, "members": 2, "bins": 4, "categorical": ()}
        ),
        (
            *head_errors,
            ({"x": np.ones(4)}, "`x` of shape"),
            ({"x": np.ones((0, 4))}, "at least one example"),
            ({"x": [[0.0, np.inf]]}, "finite"),
            ({"x": [[0.0, 1e19]]}, "size up to"),
            ({"x": [[0.5], [1.0]], "categorical": [0]}, "categorical column 0"),
            ({"x": [[0.0], [2.0]], "categorical": {0: 2}}, "from 0 to 1"),
            ({"x": pandas.DataFrame({"a": [datetime.date(2020, 1, 1)]})}, "no dates in column"),
            ({"x": pandas.DataFrame({"a": [1.0]}), "categorical": [0]}, "with an array only"),
            *named(hidden_units=[(0,)], dropout=[0.96], members=[0], bins=[-1]),
            *named(categorical=[[4], [0.5], {0: 0}]),
        ),
        ({"x": np.ones((6, 4), bool)}, {"hidden_units": (), "output": "cost"}),
        free=("name",),
    ),
    "caffe_cifar10": model(
        models.caffe_cifar10,
        lambda rng: (
            {"input_shape": (8, 8, 3), "num_classes": 3, "variant": "full", "output": "cost"}
            | {"mean": vectors(rng, 3), "weight_decay": 0.004, "seed": 0}
        ),
        (
            *head_errors,
            *size_errors,
            ({"mean": 256.0}, r"\[0, 255\]"),
            *named(variant=["slow"], mean=[[1.0, 2.0]], weight_decay=[-0.1]),
        ),
        ({"variant": "quick", "mean": 3.0},),
    ),
    "labelled_costs": Row(
        models.labelled_costs,
        lambda rng, k: (
            {"labels": rng.integers(k, size=4), "costs": vectors(rng, 4, k)}
            | {"binary_costs": False}
        ),
        (
            ({"labels": [0, 1, 2]}, "for each of"),
            ({"labels": [0.0, 1, 2, 1]}, "integer dtype"),
            ({"costs": -np.ones((4, 3))}, "at least 0"),
            ({"costs": np.eye(3)[[0, 1, 2, 0]]}, "4 rows, all one-hot"),
        ),
    ),
    "output_kind": model(
        csdl_keras.output_kind,
        lambda rng: {"model": network(), "output": "probability"},
        (*no_model, *output_errors, ({"output": "cost"}, "received")),
        ({"output": None},),
    ),
    "hidden_layers": model(
        csdl_keras.hidden_layers,
        lambda rng: {"model": network()},
        (*no_model, ({"model": body()}, "with hidden keras.layers.Dense layers")),
    ),
}


def test_every_public_function_is_here():
    assert names_of(ROWS) == public_functions(models) | {"output_kind", "hidden_layers"}


class TestTable(table_tests(ROWS, large=False)):
    @pytest.fixture
    def nothing_is_built(self, name, monkeypatch):
        ROWS[name].arguments()  # Networks of the right arguments are kept.

        def fail(self, *args, **kwargs):
            raise AssertionError(f"{self.name} was called before arguments were checked")

        monkeypatch.setattr(keras.layers.Layer, "__call__", fail)

    @pytest.mark.parametrize("name", ROWS)
    def test_each_argument_is_checked(self, name, nothing_is_built):
        super().test_each_argument_is_checked(name)
