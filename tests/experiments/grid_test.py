"""The grid of Table 2: choices, shared stages, files, trainings that diverge."""

import dataclasses
import shutil

import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.experiments.results import Choice
from csdl_keras.training.settings import column
from tests.experiments.failures_test import failing
from tests.experiments.grid_runs import PROFILE, SHORT, Recorder, make_grid, read, run
from tests.support.eager import eager_models

GRIDS = {column(name): values for name, values in PROFILE.grids.items()}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a whole run, and what it told."""
    folder = tmp_path_factory.mktemp("grid")
    with eager_models():
        return folder, run(folder)


class TestRun:
    def test_rows(self, finished):
        rows = read(finished[0])
        expected = [
            ("digits", "True", name, str(1000 + index))
            for name in PROFILE.algorithms
            for index in range(1 if name == "csosr" else 2)
        ]
        keys = ("dataset", "imbalanced", "algorithm", "cost_seed")
        assert [tuple(row[key] for key in keys) for row in rows] == expected
        assert finished[1].completed == ["digits_imb"]

    def test_costs_follow_from_the_decisions_on_file(self, finished):
        for row in read(finished[0]):
            data = csdl.datasets.load("digits", imbalanced=True)
            with np.load(finished[0] / "test_decisions" / "digits_imb.npz") as file:
                labels, matrix = file["labels"], file[f"matrix_{row['cost_seed']}"]
                decisions = file[f"{row['algorithm']}_{row['cost_seed']}"]
                assert decisions.dtype == np.uint8
            np.testing.assert_array_equal(labels, data.y_test)
            # Costs are drawn from all labels, whatever part of them is trained on.
            expected = csdl.costs.randomized_proportional(
                data.y_train_val, seed=int(row["cost_seed"])
            )
            np.testing.assert_array_equal(matrix, expected)
            assert float(row["average_cost"]) == pytest.approx(matrix[labels, decisions].mean())
            assert float(row["error_rate"]) == pytest.approx((labels != decisions).mean())

    def test_sizes(self, finished):
        for row in read(finished[0]):
            data = csdl.datasets.load("digits", imbalanced=True)
            assert (int(row["train_size"]), int(row["test_size"])) == (343, len(data.y_test))

    def test_the_value_of_the_lowest_validation_figure_is_chosen(self, finished):
        choices = read(finished[0], "choices.csv")
        groups = {}
        for row in choices:
            key = (row["algorithm"], row["parameter"])
            groups.setdefault(key, []).append(row)
            assert row["criterion"] == ("error" if row["algorithm"] == "dnn_blind" else "cost")
        assert len(groups) == 4 + 1 + 1  # learning rate, beta, penalty
        results = {r["algorithm"]: r for r in read(finished[0])}
        for (name, parameter), rows in groups.items():
            chosen = [row for row in rows if row["chosen"] == "True"]
            figures = [float(row["validation"]) for row in rows]
            assert len(chosen) == 1 and float(chosen[0]["validation"]) == min(figures)
            assert [float(row["value"]) for row in rows] == list(GRIDS[parameter])
            assert results[name][parameter] == chosen[0]["value"]

    def test_curve_of_beta(self, finished):
        curve = read(finished[0], "beta_curve.csv")
        assert [float(row["beta"]) for row in curve] == [0.0, 0.5]
        choices = [
            row
            for row in read(finished[0], "choices.csv")
            if (row["algorithm"], row["parameter"]) == ("csdnn", "beta")
        ]
        for point, choice in zip(curve, choices, strict=True):
            assert point["test_cost"] == choice["test_cost"]
            assert float(point["standard_error"]) > 0
            with np.load(finished[0] / "test_decisions" / "digits_imb.npz") as file:
                decisions = file[f"csdnn_1000_beta_{float(point['beta']):g}"]
                costs = file["matrix_1000"][file["labels"], decisions]
            assert float(point["test_cost"]) == pytest.approx(costs.mean())
        # At 0 the curve begins with the SDAE's network, if both have chosen the same rate.
        results = read(finished[0])
        rates = {r["algorithm"]: r["learning_rate"] for r in results}
        if rates["csdnn"] == rates["sdae_sosr"]:
            sdae = next(r for r in results if r["algorithm"] == "sdae_sosr")
            assert float(curve[0]["test_cost"]) == pytest.approx(float(sdae["average_cost"]))

    def test_shared_stages_ran_once(self, finished):
        cells = {*finished[1].ran, *finished[1].found}
        names = {"dnn_blind", "dnn_bayes"}
        trainer = make_grid(finished[0]).runner.trainer
        found = {"pretraining": [], "training": []}
        for cell in cells:
            stages = cell.stages(trainer(cell.source, cell.seed))
            for name in found.keys() & stages.keys():
                found[name].append((cell, csdl.StageCache.key(stages[name])))
        # The two learning rates, for both algorithms and both matrices.
        assert len({key for cell, key in found["training"] if cell.algorithm.name in names}) == 2
        # Cost-blind pre-training once, for both matrices and for beta = 0 of the other algorithm;
        # of that the default, 0.25, and 0.5, if it is chosen for the second matrix too.
        chosen = {cell.settings.pretraining.beta for cell in cells if cell.cost_seed == 1001}
        pretrained = {key for _, key in found["pretraining"]}
        assert len(pretrained) == 1 + 2 + (0.5 in chosen)
        keys = pretrained | {key for _, key in found["training"]}
        assert finished[1].trained == len(keys)

    def test_a_second_run_trains_nothing(self, finished, tmp_path):
        folder = tmp_path / "again"
        watcher = run(folder, cache=finished[0] / "stages")
        assert watcher.ran == [] and watcher.trained == 0
        for name in ("results.csv", "choices.csv", "beta_curve.csv"):
            assert (folder / name).read_bytes() == (finished[0] / name).read_bytes()
        for path in (finished[0] / "test_decisions").iterdir():
            assert path.read_bytes() == (folder / "test_decisions" / path.name).read_bytes()

    def test_other_rows_and_sets_stay(self, finished, tmp_path):
        """A run of a part of the grid replaces that part alone."""
        folder = tmp_path / "copy"
        shutil.copytree(finished[0], folder)
        part = dataclasses.replace(
            PROFILE, datasets=("digits", "digits_imb"), algorithms=("dnn_bayes",), grids={}
        )
        run(folder, dataclasses.replace(part, cost_seeds=1))
        before, after = read(finished[0]), read(folder)
        keys = [(row["imbalanced"], row["algorithm"]) for row in after]
        assert keys[0] == ("False", "dnn_bayes") and keys.count(("True", "dnn_bayes")) == 1
        others = [row for row in before if row["algorithm"] != "dnn_bayes"]
        assert [row for row in after if row["algorithm"] != "dnn_bayes"] == others
        with np.load(folder / "test_decisions" / "digits_imb.npz") as file:
            assert "dnn_bayes_1001" not in file and "csdnn_1000_beta_0.5" in file

    def test_choices_stay_where_a_later_one_fails(self, finished, tmp_path, monkeypatch):
        """Those of the first round are neither lost nor written twice."""
        folder = tmp_path / "copy"
        shutil.copytree(finished[0], folder)
        fail = failing(
            Choice.of, lambda outcome, field, *_: field == "pretraining.beta", ValueError("full")
        )
        monkeypatch.setattr(Choice, "of", fail)
        failures = make_grid(folder).run(Recorder())
        assert failures.lines() == ["digits_imb csdnn failed: ValueError: full"]
        for name in ("results.csv", "choices.csv", "beta_curve.csv"):
            assert read(folder, name) == read(finished[0], name)

    def test_no_other_file_has_a_column_of_average_costs(self, finished):
        for path in finished[0].glob("*.csv"):
            header = path.read_text().splitlines()[0].split(",")
            assert ("average_cost" in header) == (path.name == "results.csv")


class TestDivergence:
    @pytest.mark.filterwarnings("ignore:invalid value encountered")  # infinite costs have no spread
    def test_a_value_that_diverges_is_not_chosen(self, tmp_path):
        profile = dataclasses.replace(
            SHORT, algorithms=("cnn_bayes",), grids={"cnn.learning_rate": (1e30, 1e-3)}
        )
        watcher = run(tmp_path, profile)
        assert [choice.value for choice in watcher.choices] == [1e-3]
        tried = read(tmp_path, "choices.csv")
        assert [row["validation"] for row in tried][0] == "inf"
        assert np.isfinite(float(read(tmp_path)[0]["average_cost"]))

    def test_an_algorithm_that_diverges_does_not_stop_the_grid(self, tmp_path):
        settings = SHORT.settings.replace({"cnn.learning_rate": 1e30})
        profile = dataclasses.replace(
            SHORT, algorithms=("cnn_bayes", "dnn_sosr"), grids={}, settings=settings
        )
        run(tmp_path, profile)
        costs = {row["algorithm"]: float(row["average_cost"]) for row in read(tmp_path)}
        assert costs["cnn_bayes"] == np.inf and np.isfinite(costs["dnn_sosr"])
