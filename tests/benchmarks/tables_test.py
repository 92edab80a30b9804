"""The programs of `benchmarks/`: what they count, and the tables that they write."""

import importlib
import os
import subprocess
import sys

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from tests.support.fresh_process import REPOSITORY

FOLDER = REPOSITORY / "benchmarks"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="needs a checkout")


@pytest.fixture
def program(monkeypatch):
    """Imports a program of that name."""
    pytest.importorskip("sklearn", minversion="1.8")
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


class TestResultsTable:
    FIELDS = ("name", "seed", "cost")

    def make(self, program, folder):
        return program("results_table").ResultsTable(folder / "new", "costs", self.FIELDS)

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
        assert text.startswith("the table\n")
        for words in ("`python benchmarks/some.py --seeds 5`", f"keras {keras.__version__}"):
            assert words in text
        assert capsys.readouterr().out == "the table\n\n"


class TestPeers:
    def row(self, dataset, method, split, cost, seed=1000):
        values = (dataset, split, method, seed, cost, 0.1, 1.0)
        fields = ("dataset", "split", "method", "cost_seed", "average_cost", "error_rate")
        return dict(zip((*fields, "seconds"), map(str, values), strict=True))

    def test_once_gives_what_the_classifier_gives(self, program, monkeypatch):
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.linear_model import LogisticRegression

        once = program("peer_methods").Once
        fits, fit = [], LogisticRegression.fit

        def counted(classifier, x, y):
            fits.append(len(x))
            return fit(classifier, x, y)

        monkeypatch.setattr(LogisticRegression, "fit", counted)
        data = csdl.datasets.load("digits", train_size=229)
        x = data.x_train.reshape(len(data.x_train), -1)
        test = data.x_test.reshape(len(data.x_test), -1)
        for method in ("sigmoid", "isotonic"):
            found, expected = (
                CalibratedClassifierCV(inner, method=method, cv=3)
                .fit(x, data.y_train)
                .predict_proba(test)
                for inner in (
                    once(LogisticRegression(max_iter=500)),
                    LogisticRegression(max_iter=500),
                )
            )
            np.testing.assert_allclose(found, expected)
        # Three for both calibrations, and three for each of those without.
        assert len(fits) == 3 + 2 * 3
        assert once.reused > 0
        once.forget()
        once(LogisticRegression(max_iter=500)).fit(x[:100], data.y_train[:100])
        assert fits[-1] == 100

    def test_table(self, program):
        rows = []
        for split, (svc, forest, own) in enumerate([(0.3, 0.5, 0.2), (0.5, 0.5, 0.2)]):
            rows += [
                self.row("digits", "svc, Bayes", split, svc),
                self.row("digits", "forest, Bayes", split, forest),
                self.row("digits", "csdl_keras one network, Bayes", split, 0.25),
                self.row("digits", "csdl_keras ensemble_bayes", split, own),
            ]
        text = program("peers").table(rows)
        lines = text.splitlines()
        assert lines[2] == "| csdl_keras ensemble_bayes | 0.200 |"
        assert "| svc, Bayes | **0.400** |" in lines
        assert "- digits: csdl_keras ensemble_bayes against svc, Bayes -0.2000, 0.50x" in text
        # A mean difference of .2, a deviation of .1414, t = 12.706: +- 1.2706.
        assert "(-1.4706 to +1.0706, 2 splits)" in text
        assert "ensemble_bayes against csdl_keras one network, Bayes -0.0500, 0.80x" in text

    def test_other_splits_have_as_many_of_each_class(self, program):
        load = program("peers").load
        first, second = (load("digits", split) for split in (0, 1))
        for part in ("y_train", "y_val", "y_test"):
            counts = [np.bincount(getattr(data, part)) for data in (first, second)]
            assert np.abs(counts[0] - counts[1]).max() <= 2
        assert not np.array_equal(first.x_test, second.x_test)


class TestPretrainingMap:
    def test_problems(self, program):
        module = program("pretraining_problem")
        problem = module.Problem("digits_imb", 60, 1, 200)
        again = module.Problem("digits_imb", 60, 1, 200)
        assert len(problem.x_all) == 200
        assert abs(len(problem.y) + len(problem.y_val) - 60) <= 10
        assert set(problem.y) == set(range(10))
        np.testing.assert_array_equal(problem.x, again.x)
        assert not np.array_equal(problem.matrix, module.Problem("digits", 60, 2, 9).matrix)

    def test_names_are_unique(self, program):
        names = [way.name for way in program("pretraining_ways").WAYS]
        assert len(names) == len(set(names))

    def test_report(self, program):
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
        module = program("calibration")
        rng = np.random.default_rng(0)
        logs = rng.normal(size=(20_000, 3)) * 2
        factors, bias = np.array([0.5, 1.0, 1.5]), np.array([0.3, 0.0, -0.3])
        odds = np.exp(logs * factors + bias)
        posteriors = odds / odds.sum(axis=1, keepdims=True)
        labels = (posteriors.cumsum(axis=1) < rng.uniform(size=(len(logs), 1))).sum(axis=1)
        found = module.vector_scaling(logs, labels, None)(logs)
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        assert np.abs(found - posteriors).max() < 0.05
        by_temperature = dict(module.calibrations(logs, labels))["temperature, no prior"](logs)
        assert np.abs(by_temperature - posteriors).max() > 0.1

    def test_table(self, program):
        rows = []
        for split, cost in enumerate((0.2, 0.4)):
            for method, factor in (("none", 1.0), ("vector, no prior", 0.5)):
                values = ("digits", split, 1, method, cost * factor, 0.3, 0.01, 0.02)
                fields = program("calibration").FIELDS
                rows.append(dict(zip(fields, map(str, values), strict=True)))
        text = program("calibration").table(rows)
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
        of_zeros = problem.costs[0][problem.y[0] == 0]
        assert (of_zeros[:, 1:].std(axis=0) > 0).all()
        assert not np.array_equal(problem.costs[0], make(f"digits/{generator}", 1, None).costs[0])

    def test_table(self, program):
        rows = []
        for seed, cost in enumerate((0.5, 0.5)):
            for method, factor in (("Poisson regression", 1.0), ("cost_model", 0.8)):
                row = {"problem": "p", "seed": str(seed), "method": method}
                rows.append({**row, "average_cost": str(cost * factor)})
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
def test_programs_run_and_go_on(tmp_path, command):
    pytest.importorskip("sklearn", minversion="1.8")
    name, *arguments = command.split()
    variables = {
        **os.environ,
        "PYTHONPATH": str(FOLDER.parent),
        "KERAS_BACKEND": keras.backend.backend(),
    }
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(FOLDER / name), *arguments, "--out", "results"],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    stem = name.removesuffix(".py")
    lines = (tmp_path / "results" / f"{stem}.csv").read_text().splitlines()
    assert len(lines) == len(set(lines)) > 1
    assert f"`python {FOLDER / name}" in (tmp_path / "results" / f"{stem}.md").read_text()
