"""The simulations of `benchmarks/coverage.py`: their cases, rivals, rows and tables."""

import importlib.util

import numpy as np
import pytest

from csdl_keras.evaluation import decision_costs
from csdl_keras.experiments.reporting.render import read_contents
from tests.benchmarks.conftest import FOLDER
from tests.experiments.reporting.made_up_folder import write_folder


@pytest.mark.parametrize("name", ["interval_cases", "pair_cases"])
def test_expected_costs_of_the_cases(program, name):
    for case in getattr(program("coverage_cases"), name)():
        y, *decisions, matrix = case.draw(np.random.default_rng(0), 50_000)
        costs = [decision_costs(y, each, matrix) for each in decisions]
        values = costs[0] - costs[1] if len(costs) == 2 else costs[0]
        error = values.std() / len(values) ** 0.5
        assert abs(values.mean() - case.truth) <= 5 * error + 1e-12, case.name


def test_rivals(program):
    rivals, rng = program("coverage_rivals"), np.random.default_rng(0)
    values = rng.normal(3.0, 2.0, 400)
    normal = values.mean() + np.array([-0.2, 0.2])
    np.testing.assert_allclose(rivals.student(values), normal, atol=0.06)
    for method in (rivals.percentile, rivals.bias_corrected):
        np.testing.assert_allclose(method(values, rng), normal, atol=0.06)
    low, high = rivals.bernstein(values, -20.0, 20.0)
    assert low < normal[0] < normal[1] < high
    differences = np.repeat([-1.0, 1.0, 0.0], [8, 0, 50])
    # Of 256 patterns of signs two are as extreme.
    assert rivals.sign_flips(differences, rng) == pytest.approx(2 / 256, abs=0.02)
    assert rivals.sign_flips(np.zeros(5), rng) == 1.0


def test_rivals_of_heavy_tails_agree_where_all_hold(program):
    """Normal values; those of positive ones are near log-normal."""
    rivals, rng = program("coverage_rivals"), np.random.default_rng(0)
    values = rng.normal(3.0, 0.3, 900)
    found = rivals.skew_corrected(values) | rivals.bootstraps(values, rng)
    found |= rivals.of_lognormal(values, rng)
    found["empirical likelihood"] = rivals.empirical_likelihood(values)
    assert len(found) == 10
    for low, high in found.values():
        np.testing.assert_allclose((low, high), rivals.student(values), atol=0.008)
    # Wider, since they promise more.
    for low, high in rivals.robust(values, rng).values():
        assert low < values.mean() - 0.015 and values.mean() + 0.015 < high


@pytest.mark.parametrize("part", ["cost", "alike", "fee"])
def test_expected_values_of_heavy_tails(program, part):
    tails = program("coverage_tails")
    for tail in ("log-normal, σ = 1", "Pareto, α = 2"):
        values, vectors, truth = tails.draw(part, tail, 0.5, np.random.default_rng(0), 400_000)
        assert len(values) == len(vectors) and abs(values.mean() - truth) < 0.02
    rows = tails.rows_of_case(part, "Pareto, α = 1.2", 0.02, 30, 10)
    assert all(0 <= float(row["value"]) <= 1 for row in rows if row["measure"] == "holds")
    named = [{"part": part, "case": "a", "size": 30} | row for row in rows]
    assert "| csdl_keras |" in tails.table(named)


def test_joint_means_equal_the_loop(program):
    rng = np.random.default_rng(0)
    differences, counts = rng.normal(size=(3, 4)), rng.multinomial(4, [0.25] * 4, size=5).T
    drawn = np.random.default_rng(1).multinomial(3, np.full(3, 1 / 3), size=5)
    expected = [
        sum(drawn[r, m] * counts[n, r] * differences[m, n] for m in range(3) for n in range(4))
        for r in range(5)
    ]
    joint_means = program("coverage_rivals").joint_means
    found = joint_means(differences, counts, np.random.default_rng(1))
    np.testing.assert_allclose(found, np.divide(expected, 12))


def test_both_rules_on_results(program, monkeypatch, tmp_path):
    write_folder(tmp_path / "made_up")
    results = program("coverage_results")
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    found = results.results_rows("made_up", 0, 1)
    rows = {(row["method"], row["measure"]): row["value"] for row in found}
    table = read_contents(tmp_path / "made_up").table
    bold = [cell.bold for column in table.columns for cell in column.cells.values()]
    assert rows["both", "bold cells"] == len(bold)
    assert rows["csdl_keras", "bold"] == sum(bold)
    # Three matrices make wide intervals, of which the bootstrap knows nothing.
    more = rows["joint bootstrap", "decided"] - rows["csdl_keras", "decided"]
    assert 0 < more <= rows["both", "comparisons seen otherwise"]


def test_rows_and_tables(program):
    # Not under its own name, which is that of a package that measures tests.
    spec = importlib.util.spec_from_file_location("coverage_benchmark", FOLDER / "coverage.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = [
        {"part": part, "case": case, "size": size, **row}
        for part, case, size, (make, first, second, _) in module.jobs()
        if part in ("report", "verdicts")
        for row in make(first, second, 1)
    ]
    assert all(0.0 <= row["value"] <= 1.0 for row in rows)
    # One of three verdicts in each of six settings.
    assert sum(r["value"] for r in rows if r["measure"].startswith('"costs less"')) == 6
    for size, covers in ((20, 0.9), (50, 0.98)):
        for measure, value in (("covers", covers), ("width", 123.4)):
            own = {"method": "csdl_keras", "measure": measure, "value": value, "runs": 9}
            rows.append({"part": "interval", "case": "a", "size": size, **own})
    text = program("coverage_table").table(rows)
    assert "| 95 % intervals of the cost hold it | csdl_keras | 0.900 | 0.940 | 0.980 |" in text
    assert "| a | csdl_keras | 0.900 | 0.980 |" in text
    assert "| a | csdl_keras | 123 | 123 |" in text
