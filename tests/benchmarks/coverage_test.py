"""The simulations of `benchmarks/coverage.py`: their cases, rivals, rows and tables."""

import importlib.util

import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.experiments.reporting.render import read_contents
from tests.experiments.reporting.made_up_folder import write_folder
from tests.support.fresh_process import REPOSITORY

FOLDER = REPOSITORY / "benchmarks"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="needs a checkout")


@pytest.fixture
def program(monkeypatch):
    """Imports a program of that name."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


class TestCoverage:
    def rows(self, program, part, runs):
        """Rows of every job of a part."""
        program("coverage_cases")  # puts the folder on the path
        # Not under its own name, which is that of a package that measures tests.
        path = FOLDER / "coverage.py"
        spec = importlib.util.spec_from_file_location("coverage_benchmark", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        jobs = [job for job in module.jobs() if job[0] == part]
        for _, case, size, (make, first, second, _) in jobs:
            for row in make(first, second, runs):
                yield {"part": part, "case": case, "size": size, **row}

    @pytest.mark.parametrize("name", ["interval_cases", "pair_cases"])
    def test_expected_costs_of_the_cases(self, program, name):
        cases = program("coverage_cases")
        for case in getattr(cases, name)():
            y, *decisions, matrix = case.draw(np.random.default_rng(0), 200_000)
            costs = [csdl.evaluation.decision_costs(y, each, matrix) for each in decisions]
            values = costs[0] - costs[1] if len(costs) == 2 else costs[0]
            error = values.std() / len(values) ** 0.5
            assert abs(values.mean() - case.truth) <= 5 * error + 1e-12, case.name

    def test_rivals(self, program):
        rivals, rng = program("coverage_rivals"), np.random.default_rng(0)
        values = rng.normal(3.0, 2.0, 400)
        normal = 3 - 0.2 + np.array([0, 0.4]) + values.mean() - 3
        for method in (rivals.percentile, rivals.bias_corrected, rivals.student):
            np.testing.assert_allclose(method(values, rng), normal, atol=0.06)
        low, high = rivals.bernstein(values, -20.0, 20.0)
        assert low < normal[0] < normal[1] < high
        differences = np.repeat([-1.0, 1.0, 0.0], [8, 0, 50])
        # Of 256 patterns of signs two are as extreme.
        assert rivals.sign_flips(differences, rng) == pytest.approx(2 / 256, abs=0.02)
        assert rivals.sign_flips(np.zeros(5), rng) == 1.0

    def test_joint_means_equal_the_loop(self, program):
        rivals, rng = program("coverage_rivals"), np.random.default_rng(0)
        differences, counts = rng.normal(size=(3, 4)), rng.multinomial(4, [0.25] * 4, size=5).T
        drawn = np.random.default_rng(1).multinomial(3, np.full(3, 1 / 3), size=5)
        expected = [
            sum(drawn[r, m] * counts[n, r] * differences[m, n] for m in range(3) for n in range(4))
            / 12
            for r in range(5)
        ]
        found = rivals.joint_means(differences, counts, np.random.default_rng(1))
        np.testing.assert_allclose(found, expected)

    def test_both_rules_on_results(self, program, monkeypatch, tmp_path):
        write_folder(tmp_path / "made_up")
        results = program("coverage_results")
        monkeypatch.setattr(results, "FOLDER", tmp_path)
        rows = {
            (r["method"], r["measure"]): r["value"] for r in results.results_rows("made_up", 0, 1)
        }
        contents = read_contents(tmp_path / "made_up")
        cells = [cell for column in contents.table.columns for cell in column.cells.values()]
        assert rows["both", "bold cells"] == len(cells)
        assert rows["csdl_keras", "bold"] == sum(cell.bold for cell in cells)
        # Three matrices make wide intervals, of which the bootstrap knows nothing.
        assert rows["joint bootstrap", "decided"] > rows["csdl_keras", "decided"]
        assert rows["both", "comparisons seen otherwise"] >= (
            rows["joint bootstrap", "decided"] - rows["csdl_keras", "decided"]
        )

    def test_rows_and_tables(self, program):
        rows = [row for part in ("report", "verdicts") for row in self.rows(program, part, 1)]
        assert all(0.0 <= row["value"] <= 1.0 for row in rows)
        judged = [r for r in rows if r["measure"].startswith('"costs less"')]
        # One of three verdicts in each of six settings.
        assert sum(row["value"] for row in judged) == 6
        rows += [
            {"part": "interval", "case": "a", "size": size, "runs": 9} | row
            for size, value in ((20, 0.9), (50, 0.98))
            for row in (
                {"method": "csdl_keras", "measure": "covers", "value": value},
                {"method": "csdl_keras", "measure": "width", "value": 123.4},
            )
        ]
        text = program("coverage_table").table(rows)
        assert "| 95 % intervals of the cost hold it | csdl_keras | 0.900 | 0.940 | 0.980 |" in text
        assert "| a | csdl_keras | 0.900 | 0.980 |" in text
        assert "| a | csdl_keras | 123 | 123 |" in text
