"""What the measurements of speed rest on."""

import keras
import numpy as np
import pytest

from csdl_keras.fitting.fit import seeded_fit
from csdl_keras.fitting.batches import ShuffledBatches
from tests.support.weights import assert_same_weights


def test_the_loop_by_hand_computes_what_fit_does(program):
    problem = program("problem")
    x, y = problem.examples(50, 6, 3)
    model = problem.network(6, 3, (5, 4), 0.5)
    before = model.get_weights()
    loop = program("loops").make_loop(keras.backend.backend(), before, 0.5)
    seeded_fit(model, x, y, seed=0, batch_size=20, verbose=0)
    (order,) = ShuffledBatches(np.arange(50), batch_size=50)[0]
    loop.run(x[order], y[order], 20)
    assert_same_weights(model.get_weights(), loop.arrays(), 1e-5)
    assert np.abs(before[0] - loop.arrays()[0]).max() > 1e-3


def test_ways_alternate(program):
    calls = []
    ways = {name: lambda name=name: calls.append(name) for name in "ab"}
    found = program("paired").interleaved(ways, 3)
    assert "".join(calls) == "baabbaab"
    assert {name: len(values) for name, values in found.items()} == {"a": 3, "b": 3}


def test_a_ratio_of_unpaired_values_has_the_spread_of_both(program):
    found = program("paired").Ratio.between(np.array([2.0, 2.0]), np.array([1.0, 1.0, 2.0]))
    assert (found.value, found.low, found.high) == (2.0, 1.0, 2.0)


@pytest.mark.parametrize(
    "goal,met", [(">= 0.9", "yes"), ("< 0.9", "no"), ("<= 0.95", "yes"), ("", "")]
)
def test_a_goal_is_met_by_the_median(program, goal, met):
    paired = program("paired")
    ratio = paired.Ratio.of(np.array([0.95, 0.5, 0.96]))
    assert paired.Row("case", "measure", ratio, goal).met == met


def test_matrix_products_of_a_training_step(program, monkeypatch):
    machine = program("machine")
    products = machine.layer_products(4, 5, 3, below=False)
    assert machine.operations(products) == 2 * 2 * 3 * 4 * 5
    products = machine.layer_products(4, 5, 3, below=True)
    assert machine.operations(products) == 3 * 2 * 3 * 4 * 5
    # Repeated, since calls compute into the same memory.
    for call in (machine.one_by_one(products), machine.update([(4, 5), (5,)])):
        for _ in range(3):
            call()
    done = []
    monkeypatch.setattr(machine, "product", lambda *sizes: lambda: done.append(sizes))
    machine.one_by_one(iter([*products, products[0]]))()
    assert done == [*products, products[0]]


def row(value, low, high, **others):
    """A measured row as the file has it."""
    found = {"entry": "losses", "backend": "jax", "case": "SOSR", "measure": "step time"}
    return {**found, "value": str(value), "low": str(low), "high": str(high), **others}


def test_agreement_of_two_runs(program):
    summary = program("agreement").summary
    first = [row(1.0, 0.9, 1.1), row(2.0, 1.9, 2.1, case="MIN"), row(0, 0, 0, entry="memory")]
    second = [row(1.2, 1.15, 1.3), row(2.2, 2.05, 2.3, case="MIN"), row(0, 0, 0, entry="memory")]
    other = [row(1.0, 1.0, 1.0, case="in the first run alone")]
    assert summary(first + other, second) == [
        ["losses", "2", "0", "1", "20.0%"],
        ["memory", "1", "1", "1", "0.0%"],
        ["all", "3", "1", "2", "20.0%"],
    ]
    assert summary(first, [row(1.2, 0.95, 1.3)])[0] == ["losses", "1", "1", "1", "20.0%"]


def test_processes_are_joined(program):
    joined = program("run").joined
    others = {"goal": "<= 1.1", "note": "1 s", "x": "", "y": ""}
    first, second = row(1.0, 0.9, 1.1, met="yes", **others), row(1.4, 1.2, 1.5, met="no", **others)
    (found,) = joined([[first], [second]])
    assert [found[name] for name in ("value", "low", "high", "met")] == ["1.2", "0.9", "1.5", "no"]
    assert joined([[first], []]) == []
