"""The programs of `benchmarks/`: what they count, and the tables that they write."""

import runpy
import sys

import keras
import numpy as np
import pytest

from csdl_keras.experiments.code_version import code_version
from tests.benchmarks.conftest import FOLDER


class TestResultsTable:
    def make(self, program, folder):
        fields = ("name", "seed", "cost")
        return program("results_table").ResultsTable(folder / "new", "costs", fields)

    def test_rows_outlive_it(self, program, tmp_path):
        assert self.make(program, tmp_path).rows() == []
        for seed in range(2):
            self.make(program, tmp_path).append([{"name": "a, b", "seed": seed, "cost": 0.5}])
        results = self.make(program, tmp_path)
        assert [row["seed"] for row in results.rows()] == ["0", "1"]
        assert results.done(2) == {("a, b", "0"), ("a, b", "1")}

    def test_a_report_says_what_made_it(self, program, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(sys, "argv", ["benchmarks/some.py", "--seeds", "5"])
        results = self.make(program, tmp_path)
        results.report("the table\n")
        text = results.path.with_suffix(".md").read_text()
        assert text.startswith("the table\n\n`python benchmarks/some.py --seeds 5`")
        assert f"keras {keras.__version__}" in text
        assert all(f"{part}-{digest}" in text for part, digest in code_version().items())
        assert capsys.readouterr().out == "the table\n\n"


class TestPeers:
    def test_once_gives_what_the_classifier_gives(self, program):
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
        assert not once._fitted

    def test_table(self, program):
        module = program("peers")
        rows = []
        for split, svc, forest in ((0, 0.3, 0.5), (1, 0.5, 0.5)):
            costs = {"svc, Bayes": svc, "forest, Bayes": forest}
            costs |= {"csdl_keras one network, Bayes": 0.25, "csdl_keras ensemble_bayes": 0.2}
            for method, cost in costs.items():
                values = ("digits", split, method, 1000, cost, 0.1, 1.0)
                rows.append(dict(zip(module.FIELDS, map(str, values), strict=True)))
        text = module.table(rows)
        lines = text.splitlines()
        assert lines[2] == "| csdl_keras ensemble_bayes | 0.200 |"
        assert "| svc, Bayes | **0.400** |" in lines
        assert "- digits: csdl_keras ensemble_bayes against svc, Bayes -0.2000, 0.50x" in text
        # A mean difference of .2, a deviation of .1414, t = 12.706: +- 1.2706.
        assert "(-1.4706 to +1.0706, 2 splits)" in text
        assert "ensemble_bayes against csdl_keras one network, Bayes -0.0500, 0.80x" in text

    def test_other_splits_have_as_many_of_each_class(self, program):
        first, second = (program("peers").load("digits", split) for split in (0, 1))
        for part in ("y_train", "y_val", "y_test"):
            counts = [np.bincount(getattr(data, part)) for data in (first, second)]
            assert np.abs(counts[0] - counts[1]).max() <= 2
        assert not np.array_equal(first.x_test, second.x_test)


class TestPretrainingMap:
    def test_problems(self, program):
        make = program("pretraining_problem").Problem
        problem, again = (make("digits_imb", 60, 1, 200) for _ in range(2))
        assert len(problem.x_all) == 200
        assert abs(len(problem.y) + len(problem.y_val) - 60) <= 10
        assert set(problem.y) == set(range(10))
        np.testing.assert_array_equal(problem.x, again.x)
        assert not np.array_equal(problem.matrix, make("digits", 60, 2, 9).matrix)

    def test_report(self, program):
        names = [way.name for way in program("pretraining_ways").WAYS]
        assert len(names) == len(set(names))
        rows = [
            {"dataset": "d", "labels": "100", "seed": str(seed), "way": way, "average_cost": cost}
            for seed in range(2)
            for way, cost in (("none", 1.0), ("DAE", 0.5 + 0.125 * seed))
        ]
        text = program("pretraining_table").report(rows)
        assert "| none | 1.00 on average |" in text
        # The mean of ln .5 and ln .625 is ln .559; half their distance times 12.706 is 1.418.
        assert "| DAE | 0.56 (0.14–2.31) |" in text


class TestCalibration:
    def test_vector_scaling_finds_factors_and_biases(self, program):
        module, rng = program("calibration"), np.random.default_rng(0)
        logs = rng.normal(size=(20_000, 3)) * 2
        odds = np.exp(logs * [0.5, 1.0, 1.5] + [0.3, 0.0, -0.3])
        posteriors = odds / odds.sum(axis=1, keepdims=True)
        labels = (posteriors.cumsum(axis=1) < rng.uniform(size=(len(logs), 1))).sum(axis=1)
        calibrations = dict(module.calibrations(logs, labels))
        found = calibrations["vector, no prior"](logs)
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        assert np.abs(found - posteriors).max() < 0.05
        assert np.abs(calibrations["temperature, no prior"](logs) - posteriors).max() > 0.1

    def test_table(self, program):
        module = program("calibration")
        rows = [
            ("digits", split, 1, method, cost * factor, 0.3, 0.01, 0.02)
            for split, cost in enumerate((0.2, 0.4))
            for method, factor in (("none", 1.0), ("vector, no prior", 0.5))
        ]
        text = module.table([dict(zip(module.FIELDS, map(str, r), strict=True)) for r in rows])
        assert "| none | 0.3000 | 1.00x | 0.300 | 0.010 | 0.020 |" in text
        assert "| vector, no prior | 0.1500 | 0.50x (0.50–0.50) |" in text


class TestExampleCosts:
    @pytest.mark.parametrize("generator", ["own", "other"])
    def test_generated_costs(self, program, generator):
        make = program("example_costs").make_problem
        problem = make(f"digits/{generator}", 0, None)
        for x, y, costs in zip(problem.x, problem.y, problem.costs, strict=True):
            assert costs.shape == (len(x), 10)
            assert np.isfinite(costs).all() and (costs >= 0).all()
            assert not costs[np.arange(len(y)), y].any()
        # Costs differ among examples of a class, and from seed to seed.
        assert (problem.costs[0][problem.y[0] == 0][:, 1:].std(axis=0) > 0).all()
        assert not np.array_equal(problem.costs[0], make(f"digits/{generator}", 1, None).costs[0])

    def test_table(self, program):
        rows = [
            {"problem": "p", "seed": seed, "method": method, "average_cost": cost}
            for seed in "01"
            for method, cost in (("Poisson regression", "0.5"), ("cost_model", "0.4"))
        ]
        text = program("example_costs").table(rows)
        assert "| cost_model | 0.80 (0.80–0.80) |" in text
        assert "| Poisson regression | 1.00 |" in text
        assert "| SOSR | – |" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "coverage.py --quick",
        "peers.py --datasets digits --splits 1 --cost-seeds 1 --train-size 229 --packages sklearn",
        "calibration.py --datasets digits --splits 1 --members 1 --train-size 229",
        "pretraining_map.py --datasets digits --seeds 2 --labels 60 --unlabelled 100 --jobs 1 "
        "--ways none;DAE",
        "example_costs.py --problems digits/own --seeds 1 --train-size 229 --methods cost_model",
    ],
)
@pytest.mark.usefixtures("program")
def test_programs_run_and_go_on(tmp_path, monkeypatch, command):
    name, *arguments = command.split()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(FOLDER / name), *arguments, "--out", "results"])
    for _ in range(2):
        runpy.run_path(str(FOLDER / name), run_name="__main__")
    path = tmp_path / "results" / name
    lines = path.with_suffix(".csv").read_text().splitlines()
    assert len(lines) == len(set(lines)) > 1
    assert f"`python {FOLDER / name}" in path.with_suffix(".md").read_text()
