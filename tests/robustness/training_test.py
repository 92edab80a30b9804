"""What trains refuses what it documents before it begins; nothing is trained here."""

import json

import keras
import numpy as np
import pandas
import pytest

import csdl_keras as csdl
from tests.robustness.no_training import no_training, reaches_training
from tests.robustness.outcome import outcome
from tests.robustness.rows import Row, named, table_tests, wrong_kinds
from tests.robustness.samples import examples, inputs, priced, vectors
from tests.support.changes import setting_names

SETTINGS = csdl.Settings().replace({"mlp.hidden_units": (4,)}).limit_epochs(1)
MODEL = csdl.models.mlp((3,), 3, (4,), seed=0)
SUBCLASSED = type("Subclassed", (keras.Model,), {})


@pytest.fixture(autouse=True, scope="module")
def nothing_trains():
    with no_training():
        yield


def trained(rng, k):
    x, y = examples(rng, k)
    given = {"x": x, "y": y, "validation_data": examples(rng, k), "settings": SETTINGS}
    return given | {"seed": 0, "verbose": 0}


def key(**arguments):
    """The digest of what an algorithm's training depends on."""
    own = arguments.get("costs") is not None
    return csdl.Trainer(**arguments).key("csdnn", None if own else 1 - np.eye(3))


def scored(**arguments):
    """What the callback knows of its arguments."""
    callback = csdl.training.ValidationCost(**{"x_val": np.ones((6, 3))} | arguments)
    return np.asarray(callback.costs).sum(), callback.output, callback.batch_size


data_errors = (
    ({"x": np.ones(6)}, r"`x` of shape \(N, ...\)"),
    ({"x": np.ones((6, 0))}, r"`x` of shape \(N, ...\)"),
    ({"x": np.ones((5, 3))}, "a row for each of 6 labels"),
    ({"x": np.ones((6, 3), str)}, "real numbers"),
    ({"x": np.full((6, 3), np.nan)}, "finite, also as float32"),
    ({"x": np.full((6, 3), 1e39)}, "finite, also as float32"),
    ({"y": [0.0, 1, 2, 0, 1, 2]}, "integer dtype"),
    ({"y": [0, 1, 2, 0, 1, -1]}, "at least 0"),
    ({"y": ["a", "b", "c", "a", "b", None]}, "missing label, None at 5"),
    ({"y": ["a", "b", "c", "a", "b", True]}, "received bool and str"),
    ({"y": [*"abcab", 3.5]}, "received float and str"),
    ({"y": [*"abcabc"], "validation_data": (np.ones((1, 3)), ["d"])}, "received 'd'"),
    ({"x": pandas.DataFrame({"day": [pandas.Timestamp("2020")] * 6})}, "no dates in column 'day'"),
    ({"x": pandas.DataFrame({"one": [[1]] * 6})}, "column 'one' to hold numbers, strings"),
    ({"validation_data": (np.ones((2, 4)), [0, 1])}, "validation inputs of shape"),
    ({"validation_data": (np.ones((2, 3)), [0])}, "a row for each of 1 labels"),
    *(
        ({"validation_data": wrong}, "`validation_data` to be")
        for wrong in ((np.ones((2, 3)),), (1, 2, 3, 4), "ab", {"x": 1, "y": 2})
    ),
    ({"jobs": 2, "seed": None}, "Expected a `seed` with"),
    *named(seed=[2**32], verbose=[3], jobs=[0]),
)
own_costs = {"costs": np.ones((6, 3)), "validation_data": None}
known_costs = {"costs": np.ones((6, 3, 3)), "validation_data": None}
cost_errors = (
    (own_costs | {"costs": np.ones((5, 3))}, "a row for each of 6 labels"),
    (own_costs | {"costs": -np.ones((6, 3))}, "at least 0"),
    (own_costs | {"costs": np.eye(3)[[0, 1, 2, 0, 1, 2]]}, "6 rows, all one-hot"),
    (known_costs | {"costs": np.ones((5, 3, 3))}, "a matrix for each of 6 examples"),
    (known_costs | {"costs": np.full((6, 3, 3), np.nan)}, "finite and at least 0"),
    (known_costs | {"validation_data": (np.ones((2, 3)), [0, 1])}, "validation data with costs"),
)

ROWS = {
    "train": Row(
        csdl.train,
        lambda rng, k: trained(rng, k) | {"algorithm": "dnn_sosr", "cost_matrix": priced(rng, k)},
        (
            *data_errors,
            *((changes | {"cost_matrix": None}, message) for changes, message in cost_errors),
            ({"algorithm": "dnn"}, "received 'dnn'"),
            ({"y": [0, 1, 2, 3, 1, 2]}, "below 3"),
            (
                {"y": [*"ababab"], "validation_data": None},
                "each of the labels .'a', 'b'.*received 3",
            ),
            (
                {"x": pandas.DataFrame({"a": [1, None] * 3}), "validation_data": None},
                "missing values",
            ),
            *named(network=["resnet"]),
            ({"cost_matrix": np.ones((3, 3))}, "diagonal is 0"),
            ({"cost_matrix": np.zeros((3, 3))}, "above 0; received all zeros"),
            ({"cost_matrix": 1 - np.eye(3, 4)}, "price decisions that are no class"),
            (known_costs | {"cost_matrix": None}, "trains on labels alone"),
            ({"unlabelled": np.ones((2, 3))}, "an algorithm that pre-trains"),
            (
                {"algorithm": "csdnn", "unlabelled": np.ones((2, 4))},
                "unlabelled inputs of shape",
            ),
            *named(cost_matrix=[None], ensemble=[1001], effort=["fast"], minutes=[0, np.nan]),
            ({"algorithm": "csdnn", "minutes": 1}, "without pre-training"),
        ),
        (
            own_costs | {"cost_matrix": None},
            {"effort": "balanced"},
            known_costs | {"cost_matrix": None, "algorithm": "dnn_bayes"},
            {"ensemble": 2, "verbose": "auto", "seed": None, "settings": None},
            {"algorithm": "csdnn", "unlabelled": np.ones((0, 3))},
        ),
        free=("ensemble", "costs", "unlabelled", "network", "effort", "minutes"),
        call=reaches_training(csdl.train),
    ),
    "Trainer": Row(
        csdl.Trainer,
        lambda rng, k: trained(rng, k) | {"callbacks": [], "cache": csdl.StageCache()},
        (
            *data_errors,
            *cost_errors,
            ({"seed": None}, "`seed` with"),
            *named(callbacks=[[3]], cache=["folder"]),
        ),
        ({"cache": None, "seed": None}, {"settings": None}, own_costs),
        free=("costs", "unlabelled", "network"),
        call=key,
    ),
    "ValidationCost": Row(
        csdl.training.ValidationCost,
        lambda rng, k: (
            {"y_val": examples(rng, k)[1], "costs": priced(rng, k)}
            | {"output": "cost", "batch_size": 2}
        ),
        (
            ({"x_val": np.ones((5, 3))}, "a row for each of 6 labels"),
            ({"y_val": [0, 1, 2, 3, 1, 2]}, "below 3"),
            ({"costs": np.ones((5, 3, 3))}, "a matrix for each of 6 examples"),
            ({"costs": np.ones((6, 3))}, "`cost_matrix` of shape"),
            ({"costs": -np.ones((6, 3, 3))}, "at least 0"),
            *named(output=["logits"], batch_size=[0]),
        ),
        ({"costs": np.ones((6, 3, 4))}, {"output": None, "batch_size": None}),
        free=("x_val",),
        call=scored,
    ),
    "pretrain": Row(
        csdl.pretrain,
        lambda rng, k: (
            {"model": MODEL, "x": inputs(rng, 5), "costs": vectors(rng, 5, k), "beta": 0.25}
            | {"corruption": 0.5, "epochs": 2, "batch_size": 3, "optimizer": "adam"}
            | {"reconstruction": "cross_entropy", "tied": False, "seed": 0}
            | {"steps_per_epoch": 2, "steps_per_execution": 1, "callbacks": [], "verbose": 0}
            | {"cost_scale": 0.5, "unlabelled": inputs(rng, 2), "data_id": "a"}
            | {"cache": csdl.StageCache(), "binary_costs": False}
        ),
        (
            ({"model": SUBCLASSED()}, "inputs are known"),
            ({"x": np.ones(5)}, r"`x` of shape \(N, ...\)"),
            ({"x": np.ones((0, 3))}, "at least one example"),
            ({"x": np.ones((5, 4))}, "of shape"),
            ({"x": np.full((5, 3), np.nan)}, "finite"),
            ({"x": np.full((5, 3), 1.5)}, r"to lie in \[0, 1\]"),
            *(
                ({"x": wrong, "unlabelled": None, "costs": None}, "an array or a dataset")
                for wrong in ({1: 2}, {1, 2}, range(3), b"ab", {"x": np.ones((5, 3))})
            ),
            ({"costs": None}, "since beta > 0"),
            ({"costs": -np.ones((5, 3))}, "at least 0"),
            ({"costs": np.ones((4, 3))}, "a row for each of 5 examples"),
            ({"costs": np.eye(3)[[0, 1, 2, 0, 1]]}, "5 rows, all one-hot"),
            ({"costs": [0, 1, 2, 0, 3], "cost_matrix": 1 - np.eye(3)}, "below 3"),
            ({"unlabelled": np.ones((2, 4))}, "`unlabelled` of shape"),
            ({"unlabelled": np.full((2, 3), 2.0)}, r"to lie in \[0, 1\]"),
            *named(beta=[1.5], corruption=[-0.1], epochs=[0], batch_size=[0], seed=[-1]),
            *named(optimizer=["adamant"], reconstruction=["mse"], callbacks=[[3]], verbose=[3]),
            *named(steps_per_epoch=[0], steps_per_execution=[0], cost_scale=[0.0], cache=["a"]),
        ),
        (
            {
                "costs": None,
                "beta": 0.0,
                "unlabelled": np.ones((0, 3)),
                "seed": None,
                "cache": None,
            },
            {"costs": [[0], [1], [2], [0], [1]], "cost_matrix": 1 - np.eye(3)},
            {"steps_per_epoch": None, "steps_per_execution": None, "data_id": None},
        ),
        free=("cost_matrix",),
        call=reaches_training(csdl.pretrain),
    ),
}
TestTable = table_tests(ROWS, large=False)


VALUES = setting_names(csdl.Settings())
BOUNDS = {
    "epochs": ([1, np.int64(2)], [0, 10**10, True]),
    "learning_rate": ([1, np.float32(0.25)], [0.0, np.inf, 10**400]),
    "momentum": ([0, 1.0], [1.5, -0.1]),
    "corruption": ([0, 1.0], [1.5, -0.1]),
    "beta": ([0, 1.0], [1.5, -0.1]),
    "clipnorm": ([None, 0.5], [0.0]),
    "patience": ([None, 3], [0]),
    "hidden_units": ([[], [7, 2], (np.int64(3),)], [[0], (2.5,)]),
    "variant": (["quick", "full"], ["slow"]),
    "sees": (["inputs", "errors", "costs"], ["labels"]),
    "optimizer": (["adam", "sgd"], ["rmsprop"]),
}


@pytest.mark.parametrize("name", VALUES)
def test_settings(name):
    """Choices of other kinds or out of range are refused; what is taken is fit for JSON."""
    right, wrong = BOUNDS.get(name.rpartition(".")[2], ([], []))
    for value in right:
        json.dumps(setting_names(csdl.Settings().replace({name: value})))
    for value in [*wrong, *wrong_kinds(VALUES[name])]:
        assert isinstance(outcome(csdl.Settings().replace, {name: value}), ValueError), value
