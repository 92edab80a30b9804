"""What the measurements of speed rest on."""

import importlib
import pathlib

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.fitting.seeded_fit import seeded_fit
from tests.weights import assert_same_weights

FOLDER = pathlib.Path(__file__).parents[1] / "benchmarks" / "speed"
RNG = np.random.default_rng(0)


@pytest.fixture
def module(monkeypatch):
    """Imports a module of the benchmarks."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


def test_the_loop_by_hand_computes_what_fit_does(module):
    x = RNG.uniform(size=(50, 6)).astype("float32")
    y = csdl.costs.zero_one(3)[RNG.integers(3, size=50)].astype("float32")
    model = csdl.models.mlp((6,), 3, (5, 4), output="cost", seed=0)
    model.compile(keras.optimizers.SGD(0.5), loss=csdl.SOSRLoss(), steps_per_execution=1)
    before = model.get_weights()
    loop = module("loops").make_loop(keras.backend.backend(), before, 0.5)
    seeded_fit(model, x, y, seed=0, batch_size=20, verbose=0)
    (order,) = csdl.ShuffledBatches(np.arange(50), batch_size=50)[0]
    loop.run(x[order], y[order], 20)
    assert_same_weights(model.get_weights(), loop.arrays(), 1e-5)
    assert np.abs(before[0] - loop.arrays()[0]).max() > 1e-3


def test_ways_take_turns(module):
    calls = []
    ways = {name: lambda name=name: calls.append(name) for name in "ab"}
    found = module("paired").interleaved(ways, 3)
    assert "".join(calls) == "baabbaab"
    assert {name: len(values) for name, values in found.items()} == {"a": 3, "b": 3}


def test_what_is_measured_apart_has_the_spread_of_both(module):
    found = module("paired").Ratio.between(np.array([2.0, 2.0]), np.array([1.0, 1.0, 2.0]))
    assert (found.value, found.low, found.high) == (2.0, 1.0, 2.0)


@pytest.mark.parametrize(
    "goal,met", [(">= 0.9", "yes"), ("< 0.9", "no"), ("<= 0.95", "yes"), ("", "")]
)
def test_a_goal_is_met_by_the_median(module, goal, met):
    ratio = module("paired").Ratio.of(np.array([0.95, 0.5, 0.96]))
    assert module("row").Row("case", "measure", ratio, goal).met == met


def test_operations_of_a_training_step(module):
    machine = module("machine")
    products = machine.layer_products(4, 5, 3, below=False)
    assert machine.operations(products) == 2 * 2 * 3 * 4 * 5
    products = machine.layer_products(4, 5, 3, below=True)
    assert machine.operations(products) == 3 * 2 * 3 * 4 * 5


def test_the_limit_does_all_of_the_products(module, monkeypatch):
    machine = module("machine")
    done = []
    monkeypatch.setattr(machine, "product", lambda *sizes: lambda: done.append(sizes))
    products = machine.layer_products(4, 5, 3, below=True)
    machine.one_by_one(iter([*products, products[0]]))()
    assert done == [*products, products[0]]


def test_the_limit_runs(module):
    """Again and again, into the same memory."""
    machine = module("machine")
    for call in (machine.one_by_one([(3, 4, 5), (5, 4, 3)]), machine.update([(4, 5), (5,)])):
        for _ in range(3):
            call()


def row(value, low, high, **others):
    """A measured row as the file has it."""
    found = {"entry": "losses", "backend": "jax", "case": "SOSR", "measure": "step time"}
    return {**found, "value": str(value), "low": str(low), "high": str(high), **others}


def test_agreement_of_two_runs(module):
    agreement = module("agreement")
    first = [row(1.0, 0.9, 1.1), row(2.0, 1.9, 2.1, case="MIN"), row(0, 0, 0, entry="memory")]
    second = [row(1.2, 1.15, 1.3), row(2.2, 2.05, 2.3, case="MIN"), row(0, 0, 0, entry="memory")]
    other = [row(1.0, 1.0, 1.0, case="in the first run alone")]
    assert agreement.summary(first + other, second) == [
        ["losses", "2", "0", "1", "20.0%"],
        ["memory", "1", "1", "1", "0.0%"],
        ["all", "3", "1", "2", "20.0%"],
    ]
    wider = [row(1.2, 0.95, 1.3)]
    assert agreement.summary(first, wider) == agreement.summary(first[:1], wider)
    assert agreement.summary(first, wider)[0] == ["losses", "1", "1", "1", "20.0%"]


def test_processes_are_joined(module, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    run = module("run")
    first = row(1.0, 0.9, 1.1, goal="<= 1.1", met="yes", note="1 s", x="", y="")
    second = row(1.4, 1.2, 1.5, goal="<= 1.1", met="no", note="2 s", x="", y="")
    (found,) = run.joined([[first], [second]])
    assert (found["value"], found["low"], found["high"], found["met"]) == (
        "1.2",
        "0.9",
        "1.5",
        "no",
    )
    assert run.joined([[first], []]) == []
