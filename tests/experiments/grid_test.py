"""The grid of Table 2: choices, shared stages, files, trainings that diverge."""

import dataclasses
import shutil

import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.experiments.choice import Choice
from csdl_keras.experiments.search import Search
from csdl_keras.experiments.time_budget import BudgetSpent, TimeBudget
from csdl_keras.training.settings import column
from tests.experiments.grid_runs import PROFILE, SHORT, Recorder, failing, make_grid, read, run

GRIDS = {column(search.field): search.values for search in PROFILE.searches}
FILES = ("results.csv", "choices.csv", "beta_curve.csv", "curves.csv")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a whole run, and what it told."""
    folder = tmp_path_factory.mktemp("grid")
    return folder, run(folder)


@pytest.fixture
def copy(finished, tmp_path):
    return shutil.copytree(finished[0], tmp_path / "copy")


@pytest.fixture(scope="module")
def decided(finished):
    """The arrays of decisions, with labels and matrices."""
    with np.load(finished[0] / "test_decisions" / "digits_imb.npz") as file:
        return dict(file)


class TestRun:
    def test_results_follow_from_the_decisions_on_file(self, finished, decided):
        rows = read(finished[0])
        data = csdl.datasets.load("digits", imbalanced=True)
        np.testing.assert_array_equal(decided["labels"], data.y_test)
        keys = ("dataset", "imbalanced", "algorithm", "cost_seed")
        assert [tuple(row[key] for key in keys) for row in rows] == [
            ("digits", "True", name, str(1000 + index))
            for name in PROFILE.algorithms
            for index in range(1 if name == "csosr" else 2)
        ]
        for row in rows:
            seed, labels = int(row["cost_seed"]), decided["labels"]
            matrix, decisions = decided[f"matrix_{seed}"], decided[f"{row['algorithm']}_{seed}"]
            assert decisions.dtype == np.uint8
            # Costs are drawn from all labels, whatever part of them is trained on.
            expected = csdl.costs.randomized_proportional(data.y_train_val, seed=seed)
            np.testing.assert_array_equal(matrix, expected)
            assert float(row["average_cost"]) == pytest.approx(matrix[labels, decisions].mean())
            assert float(row["error_rate"]) == pytest.approx((labels != decisions).mean())
            assert (int(row["train_size"]), int(row["test_size"])) == (343, len(data.y_test))
        # What verdicts need most comes first.
        names = ("dnn_bayes", "csdnn", "sdae_sosr", "dnn_blind", "csosr")
        expected = [("digits_imb", name, 1 if name == "csosr" else 2) for name in names]
        assert finished[1].completed == expected

    def test_curves_by_epoch(self, finished):
        rows = read(finished[0], "curves.csv")
        results = {row["algorithm"]: row for row in read(finished[0])[::-1]}
        for name in set(PROFILE.algorithms) - {"csosr"}:
            own = [row for row in rows if row["algorithm"] == name]
            epochs = int(results[name]["epochs"])
            assert [int(row["epoch"]) for row in own] == list(range(1, epochs + 1))
            # The first matrix's best epoch is that of the result.
            if name in ("dnn_blind", "dnn_bayes"):  # they stop by the error rate
                continue
            best = min(float(row["val_average_cost"]) for row in own)
            expected = float(results[name]["validation_cost"])
            assert best == pytest.approx(expected, rel=1e-3)

    def test_the_value_of_the_lowest_validation_figure_is_chosen(self, finished):
        groups = {}
        for row in read(finished[0], "choices.csv"):
            groups.setdefault((row["algorithm"], row["parameter"]), []).append(row)
            assert row["criterion"] == ("error" if row["algorithm"] == "dnn_blind" else "cost")
        assert len(groups) == 4 + 1 + 1  # learning rate, beta, penalty
        results = {r["algorithm"]: r for r in read(finished[0])}
        for (name, parameter), rows in groups.items():
            (chosen,) = [row for row in rows if row["chosen"] == "True"]
            assert float(chosen["validation"]) == min(float(row["validation"]) for row in rows)
            assert [float(row["value"]) for row in rows] == list(GRIDS[parameter])
            assert all(row["edge"] == "" for row in rows)  # as no search here widens
            assert results[name][parameter] == chosen["value"]

    def test_curve_of_beta(self, finished, decided):
        curve = read(finished[0], "beta_curve.csv")
        assert [float(row["beta"]) for row in curve] == [0.0, 0.5]
        tried = [row for row in read(finished[0], "choices.csv") if row["parameter"] == "beta"]
        for point, choice in zip(curve, tried, strict=True):
            assert point["test_cost"] == choice["test_cost"]
            decisions = decided[f"csdnn_1000_beta_{float(point['beta']):g}"]
            costs = decided["matrix_1000"][decided["labels"], decisions]
            assert float(point["test_cost"]) == pytest.approx(costs.mean())
            error = costs.std(ddof=1) / len(costs) ** 0.5
            assert float(point["standard_error"]) == pytest.approx(error)

    def test_shared_stages_ran_once(self, finished):
        cells = {*finished[1].ran, *finished[1].found}
        trainer = make_grid(finished[0]).runner.trainer
        found = {"pretraining": [], "training": []}
        for cell in cells:
            stages = cell.stages(trainer(cell.source, cell.seed))
            for name in found.keys() & stages.keys():
                found[name].append((cell.algorithm.name, csdl.StageCache.key(stages[name])))
        # The two learning rates, for both algorithms and both matrices.
        names = {"dnn_blind", "dnn_bayes"}
        assert len({key for name, key in found["training"] if name in names}) == 2
        # Cost-blind pre-training once, for both matrices and for beta = 0 of the other algorithm.
        others = {
            (cell.cost_seed, cell.settings.pretraining.beta)
            for cell in cells
            if cell.algorithm.name == "csdnn" and cell.settings.pretraining.beta > 0
        }
        assert others >= {(1000, 0.25), (1000, 0.5)}
        pretrained = {key for _, key in found["pretraining"]}
        assert len(pretrained) == 1 + len(others)
        assert finished[1].trained == len(pretrained | {key for _, key in found["training"]})

    def test_files_are_enough_to_go_on(self, finished, copy):
        """Without the stages nothing is trained again, and no file changes."""
        shutil.rmtree(copy / "stages")
        watcher = run(copy)
        assert (watcher.ran, watcher.found, watcher.trained) == ([], [], 0)
        for name in (*FILES, "test_decisions/digits_imb.npz"):
            assert (copy / name).read_bytes() == (finished[0] / name).read_bytes()
        more = run(copy, dataclasses.replace(PROFILE, algorithms=("dnn_bayes",), seeds=2))
        assert {(cell.cost_seed, cell.seed) for cell in more.ran} == {(1000, 1), (1001, 1)}

    def test_a_second_run_trains_nothing(self, finished, tmp_path):
        watcher = run(tmp_path, cache=finished[0] / "stages")
        assert watcher.ran == [] and watcher.trained == 0
        for name in (*FILES, "test_decisions/digits_imb.npz"):
            assert (tmp_path / name).read_bytes() == (finished[0] / name).read_bytes()

    def test_other_rows_and_sets_stay(self, finished, copy):
        """A run of a part of the grid replaces that part alone."""
        part = {"datasets": ("digits", "digits_imb"), "algorithms": ("dnn_bayes",)}
        run(copy, dataclasses.replace(PROFILE, **part, searches=(), cost_seeds=1))
        after = read(copy)
        keys = [(row["imbalanced"], row["algorithm"]) for row in after]
        assert keys[0] == ("False", "dnn_bayes") and keys.count(("True", "dnn_bayes")) == 1
        before, after = (
            [row for row in rows if row["algorithm"] != "dnn_bayes"]
            for rows in (read(finished[0]), after)
        )
        assert before == after
        with np.load(copy / "test_decisions" / "digits_imb.npz") as file:
            assert "dnn_bayes_1001" not in file and "csdnn_1000_beta_0.5" in file

    def test_choices_stay_where_a_later_one_fails(self, finished, copy, monkeypatch):
        """Those of the first round are neither lost nor written twice."""
        of = Choice.of
        fail = failing(
            of, lambda it, search, *_: search.field == "pretraining.beta", ValueError("full")
        )
        shutil.rmtree(copy / "stages")
        for path in copy.glob("*.csv"):
            rows = [row for row in path.read_text().splitlines(True) if ",csdnn," not in row]
            path.write_text("".join(rows))
        monkeypatch.setattr(Choice, "of", fail)
        failures = make_grid(copy).run(Recorder())
        assert failures.lines() == ["digits_imb csdnn failed: ValueError: full"]
        kept = [row for row in read(copy, "choices.csv") if row["algorithm"] == "csdnn"]
        assert [row["parameter"] for row in kept] == ["learning_rate"] * 2
        others = [row for row in read(finished[0]) if row["algorithm"] != "csdnn"]
        assert read(copy) == others


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value encountered")  # infinite costs have no spread
def test_trainings_that_diverge(tmp_path):
    """A value that diverges is not chosen, and an algorithm does not stop the grid."""
    searches = (Search("cnn.learning_rate", (1e30, 1e-3)),)
    profile = dataclasses.replace(SHORT, algorithms=("cnn_bayes",), searches=searches)
    watcher = run(tmp_path, profile)
    assert [choice.value for choice in watcher.choices] == [1e-3]
    assert read(tmp_path, "choices.csv")[0]["validation"] == "inf"
    assert np.isfinite(float(read(tmp_path)[0]["average_cost"]))
    settings = SHORT.settings.replace({"cnn.learning_rate": 1e30})
    names = ("cnn_bayes", "dnn_sosr")
    run(tmp_path, dataclasses.replace(SHORT, algorithms=names, searches=(), settings=settings))
    costs = {row["algorithm"]: float(row["average_cost"]) for row in read(tmp_path)}
    assert costs["cnn_bayes"] == np.inf and np.isfinite(costs["dnn_sosr"])


def test_twice_the_epochs(tmp_path):
    run(tmp_path, dataclasses.replace(SHORT, algorithms=("dnn_bayes",)), doubled=True)
    (plain,), (double,) = read(tmp_path), read(tmp_path, "doubled.csv")
    assert int(double["epochs"]) > int(plain["epochs"]) and plain["cell"] != double["cell"]
    with np.load(tmp_path / "test_decisions" / "digits.npz") as file:
        costs = file["matrix_1000"][file["labels"], file["dnn_bayes_1000_doubled"]]
    assert float(double["average_cost"]) == pytest.approx(costs.mean())


def test_a_budget_ends_a_run_within_an_epoch(tmp_path):
    budget = TimeBudget(1e-9)
    grid = make_grid(tmp_path, SHORT, check=budget.check)
    grid.runner.callbacks = [budget]
    with pytest.raises(BudgetSpent):
        grid.run(Recorder())
    assert not (tmp_path / "results.csv").exists()
    assert len(grid.runner.trained) == 0
    assert len(run(tmp_path, SHORT).ran) > 0  # the same run goes on
