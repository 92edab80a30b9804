"""The front of cost against seconds: what its table and its plot say."""

import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.prediction.probability_model import probability_model


def rows():
    return [
        {"set": name, "seed": seed, "way": way, "average_cost": cost, "seconds": seconds}
        for name, seed, way, cost, seconds in (
            ("digits", "0", "quick", "0.02", "10.0"),
            ("digits", "1", "quick", "0.04", "30.0"),
            ("digits", "0", "csdnn", "0.25", "7.4"),
            ("mnist_5k", "0", "quick", "0.0471", "24.0"),
        )
    ]


def test_means_over_seeds(program):
    cost, spread, seconds, seeds = program("effort").means(rows())["digits", "quick"]
    assert (cost, spread, seconds, seeds) == pytest.approx((0.03, 0.01, 20.0, 2))


def test_a_table_of_all_sets(program):
    lines = program("effort").table(rows()).splitlines()
    assert "0.0300 ± 0.0100 (n = 2), 20 s" in lines[2] and "0.0471, 24 s" in lines[2]
    assert lines[3].startswith("| csdnn | 0.2500, 7 s |")


def test_peers_are_those_of_the_set(program):
    found = list(program("effort").peers("digits_imb"))
    assert len(found) > 20 and all(cost > 0 and seconds >= 0 for cost, seconds in found)


def test_a_plot(program, tmp_path):
    pytest.importorskip("matplotlib")
    program("effort").plot(rows(), tmp_path / "effort.png")
    assert (tmp_path / "effort.png").stat().st_size > 10_000


def test_matrices_of_an_algorithm_that_trains_on_costs(program, monkeypatch):
    """Each matrix has its own training, whose seconds are averaged."""
    effort = program("effort")
    monkeypatch.setattr(effort, "MATRICES", 2)
    seen = []

    class Trained:
        model = None

    def train(self, way, matrix, **options):
        seen.append((way, options))
        return Trained

    monkeypatch.setattr(csdl.Trainer, "train", train)
    monkeypatch.setattr(csdl, "decide", lambda model, x: [0] * len(x))
    data = csdl.datasets.load("digits", train_size=120)
    row = effort.run(data, "csdnn", 0)
    assert [way for way, _ in seen] == ["csdnn"] * 2 and row["error_rate"] > 0.8


@pytest.mark.slow
def test_a_training_that_serves_all_matrices(program, monkeypatch):
    """Its decisions are those of a model for each matrix."""
    effort, trained = program("effort"), []
    monkeypatch.setattr(effort, "MATRICES", 2)
    train = csdl.Trainer.train

    def quick(self, algorithm, matrix, effort):
        assert (algorithm, effort) == ("calibrated_bayes", "quick")
        settings = csdl.Settings().limit_epochs(1)
        trained.append(train(self, algorithm, matrix, effort=effort, settings=settings))
        return trained[-1]

    monkeypatch.setattr(csdl.Trainer, "train", quick)
    data = csdl.datasets.load("digits", train_size=120)
    row = effort.run(data, "quick", 0)
    assert len(trained) == 1
    costs = []
    for matrix in effort.cost_matrices(data, 2):
        model = csdl.bayes_classifier(probability_model(trained[0].model), matrix)
        costs.append(matrix[data.y_test, csdl.decide(model, data.x_test)].mean())
    assert row["average_cost"] == pytest.approx(np.mean(costs), abs=1e-4)
