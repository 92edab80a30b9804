"""Sentences of `docs/research` that go beyond their tables follow from the committed files.

A test computes figures from a CSV file, checks what has to hold of them, such as an interval that
excludes 1 where the words are "beyond chance", and looks for the words with these figures in the
page.
"""

import functools
import pathlib
import re
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from csdl_keras.evaluation import compare_costs, cost_interval, cost_report
from csdl_keras.paper.report import read_contents

ROOT = pathlib.Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
SETS = ("digits", "digits_imb", "mnist_5k", "mnist_5k_imb")
TABLES = ("churn", "credit", "credit_vub", "upsell")


class Ratio(NamedTuple):
    """A geometric mean of paired ratios with its 95 % interval by Student's t on logarithms."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, costs, others):
        logs = np.log(np.asarray(costs) / np.asarray(others))
        half = stats.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / len(logs) ** 0.5
        return cls(*(float(np.exp(logs.mean() + shift)) for shift in (0.0, -half, half)))

    less = property(lambda self: self.high < 1)
    more = property(lambda self: self.low > 1)
    open = property(lambda self: self.low <= 1 <= self.high)

    def __format__(self, decimals):
        return f"{self.value:.{decimals or 2}f}"


@functools.cache
def read(name, folder=None):
    return pd.read_csv(RESULTS / (folder or name) / f"{name}.csv", dtype={"split": str})


@functools.cache
def costs(name, *columns, folder=None):
    """The average costs of a file, by the values of columns."""
    groups = read(name, folder).groupby(list(columns), sort=False)["average_cost"]
    return {key: values.to_numpy() for key, values in groups}


def over_splits(dataset, method, other):
    """The ratio of two peers' mean costs on the splits of a data set."""
    found = costs("peers", "dataset", "split", "method")
    splits = sorted({key[1] for key in found if key[0] == dataset})
    means = [[found[dataset, it, each].mean() for it in splits] for each in (method, other)]
    return Ratio.of(*means)


def on_tables(question, method, other):
    """The geometric mean over tables of the ratio of costs, with its interval over splits."""
    rows = read("tables")
    rows = rows[(rows["question"] == question) & rows["table"].isin(TABLES)]
    found = rows.set_index(["split", "table", "method"])["average_cost"].unstack()
    logs = np.log(found[method] / found[other]).unstack().dropna()  # splits that both have
    return Ratio.of(np.exp(logs.mean(axis=1)), np.ones(len(logs)))


def page(name):
    return (ROOT / "docs" / "research" / f"{name}.md").read_text()


def says(name, words):
    """Fails unless a page has the words; how lines are broken does not matter."""
    text = page(name)
    assert " ".join(words.lower().split()) in " ".join(text.lower().split())


def guide_table(name):
    """Returns the rows of the only table of figures in a guide, without its heads."""
    lines = (ROOT / "docs" / "guides" / f"{name}.md").read_text().partition(" ---: |\n")[2]
    lines = lines.partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_a_bayes_decision_on_a_forest():
    found = over_splits("digits", "forest, Bayes", "forest, argmax")
    assert found.more
    says("calibration", f"{found} times as much ({found.low:.2f} to {found.high:.2f})")
    every = costs("peers", "dataset", "method")
    for data in SETS:
        for name in ("logistic", "forest", "boosting", "mlp"):
            plain = every[data, f"{name}, Bayes"].mean()
            assert every[data, f"{name}, temperature, Bayes"].mean() < plain


def test_calibration_maps():
    lines = (RESULTS / "calibration_maps" / "ratios.md").read_text().splitlines()
    head, _, *rows = [line.split("|") for line in lines if line.startswith("|")]
    place = head.index(" classes, scikit-learn ")
    found = {row[1].strip(): row[place].split()[0] for row in rows if row[place].strip()}
    says("calibration", f"scaling has {found['matrix']} times the cost of a temperature")
    says("calibration", f"isotonic regression {found['isotonic']} times")
    assert found["matrix"] == min(found.values())


def test_rounded_calibration_maps():
    """The guide to calibration has the ratios of the page on calibration, with two decimals."""
    groups = ("images, networks", "classes, networks", "two, networks")
    groups += ("classes, scikit-learn", "two, scikit-learn")
    lines = (RESULTS / "calibration_maps" / "ratios.md").read_text().splitlines()
    cells = [[it.strip() for it in line.split("|")] for line in lines if line.startswith("|")]
    places = [cells[0].index(it) for it in groups]
    measured = {row[1]: [row[place] for place in places] for row in cells}
    shown = guide_table("calibration")
    assert [row[0] for row in shown] == ["none", "matrix", "isotonic", "sigmoid"]
    for way, *ratios in shown:
        exact = [float(it.split()[0]) for it in measured[way]]
        np.testing.assert_allclose([float(it) for it in ratios], exact, atol=0.0051)


def test_images_compared_with_other_packages_and_the_papers_networks():
    found = costs("peers", "dataset", "method")
    for data in SETS:
        others = [it for name, it in found if name == data and not it.startswith("csdl_keras")]
        best = min(found[data, it].mean() for it in others)
        assert found[data, "csdl_keras calibrated_bayes"].mean() < best
    found = costs("effort", "set", "way")
    for data in {key[0] for key in found}:
        # Some sets were last measured with the networks of 0.3.0.
        ours = found.get((data, "quick"), found[data, "0.3.0 quick"])
        for name in ("dnn_bayes", "cnn_bayes", "csdnn"):
            assert ours.mean() < found[data, name].mean()
    says("benchmarks", "have a lower mean cost than other packages and the paper's networks")


def test_tables_whose_costs_are_known():
    found = on_tables("known", "csdl_keras 0.3.0 ensemble_bayes", "XGBoost, depth 3")
    assert found.less
    says(
        "benchmarks",
        f"whose `ensemble_bayes` costs {found:3} times as much as XGBoost of depth 3, "
        f"{found.low:.3f} to {found.high:.3f} over three splits",
    )


def test_tables_whose_costs_are_not_known():
    ours, trees = "csdl_keras 0.3.0 cost_model", "LightGBM, isotonic, two parts"
    found = on_tables("unknown", ours, trees)
    methods = {key[2] for key in costs("tables", "question", "table", "method")}
    every = costs("tables", "question", "table", "method")
    others = [it for it in methods if all(("unknown", name, it) in every for name in TABLES)]
    assert found.open
    assert all(on_tables("unknown", ours, it).less for it in others if it not in (ours, trees))
    says(
        "benchmarks",
        f"`cost_model` of version 0.3.0 is not distinguishable from them, {found:3} times their "
        f"cost, {found.low:.3f} to {found.high:.3f} over three splits, and costs less than all "
        "others here, beyond chance",
    )


def test_networks_at_the_papers_size():
    rows = pd.read_csv(ROOT / "notebooks" / "results" / "paper" / "results.csv")
    rows["data"] = rows["dataset"] + rows["imbalanced"].map({True: "_imb", False: ""})
    means = rows.groupby(["data", "algorithm"])["average_cost"].mean()
    for data in rows["data"].unique():
        assert means[data].idxmin().endswith("_bayes")
    says("paper", "The lowest mean of each set is that of a Bayes decision")


def test_verdicts_on_the_papers_claims():
    """The table of verdicts has those of the run, and the ratios of its comparisons."""
    claims = read_contents(ROOT / "notebooks" / "results" / "paper").claims
    table = [line.split(" | ") for line in page("paper").splitlines()]
    rows = [row for row in table if re.fullmatch(r"\| \d+", row[0])]
    assert len(rows) == len(claims) == 12
    for (_, _, verdict, shown, papers, _), claim in zip(rows, claims, strict=True):
        found = claim.comparisons
        logs = np.log(found["ratio"].astype(float))
        # Comparisons on one data set are not independent of each other.
        data = (logs - logs.mean()).groupby(found["data"]).sum()
        error = np.sqrt(len(data) / (len(data) - 1) * (data**2).sum()) / len(logs)
        half = stats.t.ppf(0.975, len(data) - 1) * error
        expected = np.exp(logs.mean() + np.array([0, -half, half]))
        assert verdict == claim.verdict
        assert re.findall(r"\d\.\d\d", shown) == [f"{it:.2f}" for it in expected]
        if papers != "–":
            mean = np.log(found["paper_ratio"].astype(float)).mean()
            assert float(papers) == pytest.approx(np.exp(mean), abs=0.0051)


def test_training_compared_with_a_loop_by_hand():
    rows = read("speed").set_index(["backend", "case", "measure"])
    for backend in ("tensorflow", "jax"):
        for case in ("2x50, batch 1", "2x50, batch 20"):
            measure = "throughput relative to a loop by hand"
            place = (backend, f"{case}, as the package trains", measure)
            assert rows.loc[place, "low"] > 1
    says("speed", "Small networks are faster than the loop on both")
    for loss in ("SOSR", "MIN", "Poisson", "one-sided"):
        place = ("tensorflow", f"{loss}, K = 10", "step time relative to softmax cross-entropy")
        assert rows.loc[place, "value"] < 1.05
    says("speed", "The losses take next to no time of a step at 10 classes on TensorFlow")


def test_the_newest_results_come_first():
    rows = pd.read_csv(ROOT / "notebooks" / "results" / "five" / "results.csv")
    found = rows.groupby("algorithm").agg({"average_cost": ["mean", "sem"], "error_rate": "mean"})
    shown = re.findall(r"^\| .+ \| (\d\.\d{3} ± .+) \|$", page("results"), re.M)
    expected = sorted(found.to_numpy().tolist())
    assert shown == [f"{cost:.3f} ± {error:.3f} | {wrong:.1%}" for cost, error, wrong in expected]


def test_the_first_minutes_of_compare():
    rows = read("first_minutes")
    rows = rows[rows["shown"] == "terminal"].groupby("job", sort=False)
    for seconds in rows[["first_row", "first_model", "end"]].median().to_numpy():
        says("speed", "| {:.1f} | {:.1f} | {:.1f} |".format(*seconds))


class TestIntervals:
    """Docstrings and the page on coverage agree with simulated intervals."""

    @staticmethod
    def nothing_to_find(part, measure):
        """Values of cases without pairs of which one is truly cheaper."""
        rows = read("coverage")
        rows = rows[(rows["method"] == "csdl_keras") & (rows["measure"] == measure)]
        return rows[(rows["part"] == part) & ~rows["case"].str.contains("against")]["value"]

    def test_single_costs_and_pairs(self):
        covered = self.nothing_to_find("interval", "covers")
        assert covered.min() >= 0.93 and len(covered) == 60
        assert "at least 93 % of test sets" in " ".join(cost_interval.__doc__.split())
        assert self.nothing_to_find("comparison", "called different").max() <= 0.05
        assert "at most 5 % of the test sets" in compare_costs.__doc__
        rows = read("coverage").set_index(["part", "case", "measure"])
        many = 100 * rows.loc[("report", "15 equal models", "any row"), "value"]
        assert f"{many:.0f} % of simulated" in cost_report.__doc__
        says("coverage", f"{many:.0f} % of all reports")

    @pytest.mark.parametrize("part,least", [("cost", 0.93), ("alike", 0.94), ("fee", 0.94)])
    def test_heavy_tails(self, part, least):
        rows = read("tails", "coverage")
        rows = rows[(rows["method"] == "csdl_keras") & (rows["measure"] == "holds")]
        held = rows[rows["part"] == part]["value"]
        assert len(held) == 60 and held.min() >= least
        says("coverage", "60 cases each")

    def test_rounded_shares(self):
        """The guide to evaluation has the lowest share of each kind of interval, in percent."""
        lowest = {
            name: read(name, "coverage").groupby(["part", "measure", "method"])["value"].min()
            for name in ("coverage", "tails")
        }
        methods = ("csdl_keras", "Student's t", "percentile bootstrap")
        pairs = (*methods[:2], "percentile bootstrap, sign flips")
        found = [
            [lowest["coverage"]["interval", "covers", it] for it in methods],
            [lowest["coverage"]["comparison", "covers", it] for it in pairs],
            [lowest["tails"]["cost", "holds", it] for it in methods],
        ]
        percent = [[f"{100 * it:.0f} %" for it in row] for row in found]
        assert [row[1:] for row in guide_table("evaluation")] == percent
