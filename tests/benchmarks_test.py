"""Programs of `benchmarks/`: what they count, and that committed tables are of committed rows."""

import importlib
import pathlib
import runpy
import sys

import keras
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parent.parent
BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture
def program(monkeypatch):
    """Imports a program of that name."""
    if not BENCHMARKS.is_dir():
        pytest.skip("needs a checkout")
    pytest.importorskip("sklearn", minversion="1.8")
    monkeypatch.syspath_prepend(BENCHMARKS / "speed")
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module


@pytest.mark.parametrize("name", ["peers", "tables", "effort", "calibration_maps", "speed"])
def test_committed_tables_are_those_of_the_committed_rows(program, name):
    folder = BENCHMARKS / "results" / name
    rows = program("results").rows_of(folder / f"{name}.csv")
    tables = program(program("run").BENCHMARKS[name]).guide_tables(rows)
    assert tables
    for title, lines in tables.items():
        found = (folder / f"{title}.md").read_text().splitlines()
        assert [line for line in found if line.startswith("|")] == lines, title


@pytest.mark.slow
def test_a_benchmark_goes_on_from_its_rows(program, tmp_path, monkeypatch):
    command = (
        "peers --datasets digits --splits 1 --cost-seeds 1 --train-size 229 --packages sklearn"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(BENCHMARKS / "run.py"), *command.split(), "--out", "out"])
    for _ in range(2):
        runpy.run_path(str(BENCHMARKS / "run.py"), run_name="__main__")
    lines = (tmp_path / "out" / "peers.csv").read_text().splitlines()
    assert len(lines) == len(set(lines)) > 1
    text = (tmp_path / "out" / "peers.md").read_text()
    assert f"keras {keras.__version__}" in text and "commit " in text


def test_a_classifier_fitted_once_gives_what_it_gives(program):
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.linear_model import LogisticRegression

    once = program("peer_methods").Once
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    x = rng.normal(size=(3, 4))[y] + rng.normal(size=(90, 4))
    for method in ("sigmoid", "isotonic"):
        found, expected = (
            CalibratedClassifierCV(inner, method=method, cv=3).fit(x, y).predict_proba(x)
            for inner in (once(LogisticRegression()), LogisticRegression())
        )
        np.testing.assert_allclose(found, expected)
    # Both calibrations share three folds.
    assert len(once._fitted) == 3 and once.reused > 0
    once.forget()


def test_differences_from_the_best_peer(program):
    module, rows = program("peers"), []
    for split, svc, forest in ((0, 0.3, 0.5), (1, 0.5, 0.5)):
        costs = {"svc, Bayes": svc, "forest, Bayes": forest, "csdl_keras ensemble_bayes": 0.2}
        for method, cost in costs.items():
            values = ("digits", split, method, 1000, cost, 0.1, 1.0)
            rows.append(dict(zip(module.FIELDS, map(str, values), strict=True)))
    text = module.table(rows)
    assert "| svc, Bayes | **0.400** |" in text.splitlines()
    assert "- digits: csdl_keras ensemble_bayes against svc, Bayes -0.2000, 0.50x" in text
    # A mean difference of .2, a deviation of .1414, t = 12.706: +- 1.2706.
    assert "(-1.4706 to +1.0706, 2 splits)" in text


def test_relative_costs_of_tables_are_paired_by_split(program):
    module, rows = program("tables"), []
    for name, split, ratio in (("churn", 0, 1.0), ("churn", 1, np.exp(0.2)), ("credit", 0, 1.0)):
        for method, cost in (("forest", 3.0 * ratio), ("csdl_keras 0.3.0 ensemble_bayes", 3.0)):
            values = (name, split, method, "known", cost, "", 2.0)
            rows.append(dict(zip(module.FIELDS, map(str, values), strict=True)))
    assert "| forest | 3.332 | 3 | 1.051 |  | 1 to 2 | 2 |" in module.guide_tables(rows)["known"]
    rows += [{**row, "split": "1"} for row in rows[-2:]]
    # Log ratios of mean .1 and variance .02, and of 0: .05 +- 4.303 * (.02 / 2)**.5 / 2.
    line = "| forest | 3.332 | 3 | 1.051 | 0.848 to 1.304 | 2 | 2 |"
    assert line in module.guide_tables(rows)["known"]


def test_the_loop_by_hand_computes_what_fit_does(program):
    problem = program("problem")
    x, y = problem.examples(60, 6, 3)
    model = problem.network(6, 3, (5, 4), 0.5)
    loop = program("loops").make_loop(keras.backend.backend(), model.get_weights(), 0.5)
    model.fit(x, y, batch_size=20, shuffle=False, verbose=0)
    loop.run(x, y, 20)
    for one, other in zip(model.get_weights(), loop.arrays(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_ways_alternate(program):
    calls = []
    ways = {name: lambda name=name: calls.append(name) for name in "ab"}
    found = program("paired").interleaved(ways, 3)
    assert "".join(calls) == "baabbaab"
    assert {name: len(values) for name, values in found.items()} == {"a": 3, "b": 3}
    ratio = program("paired").Ratio.of(np.array([0.95, 0.5, 0.96]))
    row = program("paired").Row("case", "measure", ratio, ">= 0.9")
    assert row.met == "yes"
