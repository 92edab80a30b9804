"""The grid of Table 2: choices, files, searches that widen, networks that collapse or diverge."""

import dataclasses
import math
import shutil

import joblib
import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.paper import cells, profiles
from csdl_keras.paper import grid as grids
from csdl_keras.paper.cells import Cell, DataSource, Outcome
from csdl_keras.paper.folder import COLUMNS, Folder
from csdl_keras.paper.profiles import PROFILES, Search
from csdl_keras.training.settings import column
from tests.paper.grid_runs import PROFILE, SHORT, failing, made_up, make_grid, read, run

GRIDS = {column(search.field): search.values for search in PROFILE.searches}
FILES = [name for name in COLUMNS if name != "doubled.csv"] + ["test_decisions/digits_imb.npz"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a whole run."""
    folder = tmp_path_factory.mktemp("grid")
    run(folder)
    return folder


@pytest.fixture
def copy(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "copy")


@pytest.fixture(scope="module")
def decided(finished):
    """The arrays of decisions, with labels and matrices."""
    with np.load(finished / "test_decisions" / "digits_imb.npz") as file:
        return dict(file)


class TestRun:
    def test_results_follow_from_the_decisions_on_file(self, finished, decided):
        data = csdl.datasets.load("digits", imbalanced=True)
        np.testing.assert_array_equal(decided["labels"], data.y_test)
        rows = read(finished)
        assert [(row["algorithm"], row["cost_seed"]) for row in rows] == [
            (name, str(1000 + index)) for name in PROFILE.algorithms for index in range(2)
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

    def test_curves_by_epoch(self, finished):
        rows = read(finished, "curves.csv")
        results = {row["algorithm"]: row for row in read(finished)[::-1]}
        for name in set(PROFILE.algorithms) - {"csosr"}:
            epochs = [int(row["epoch"]) for row in rows if row["algorithm"] == name]
            assert epochs == list(range(1, int(results[name]["epochs"]) + 1))
        # The first matrix's best epoch of a network that is trained on costs is that of the result.
        best = min(float(row["val_average_cost"]) for row in rows if row["algorithm"] == "csdnn")
        assert best == pytest.approx(float(results["csdnn"]["validation_cost"]), rel=1e-3)

    def test_the_value_of_the_lowest_validation_figure_is_chosen(self, finished):
        groups = {}
        for row in read(finished, "choices.csv"):
            groups.setdefault((row["algorithm"], row["parameter"]), []).append(row)
            assert row["criterion"] == "cost"
        assert [*groups] == [("csosr", "penalty"), ("csdnn", "beta")]
        results = {row["algorithm"]: row for row in read(finished)}
        for (name, parameter), rows in groups.items():
            (chosen,) = [row for row in rows if row["chosen"] == "True"]
            assert float(chosen["validation"]) == min(float(row["validation"]) for row in rows)
            assert [float(row["value"]) for row in rows] == list(GRIDS[parameter])
            assert all(row["edge"] == "" for row in rows)  # as no search here widens
            assert results[name][parameter] == chosen["value"]

    def test_curve_of_beta(self, finished, decided):
        curve = read(finished, "beta_curve.csv")
        assert [float(row["beta"]) for row in curve] == [0.0, 0.5]
        tried = [row for row in read(finished, "choices.csv") if row["parameter"] == "beta"]
        for point, choice in zip(curve, tried, strict=True):
            assert point["test_cost"] == choice["test_cost"]
            decisions = decided[f"csdnn_1000_beta_{float(point['beta']):g}"]
            costs = decided["matrix_1000"][decided["labels"], decisions]
            assert float(point["test_cost"]) == pytest.approx(costs.mean())
            error = costs.std(ddof=1) / len(costs) ** 0.5
            assert float(point["standard_error"]) == pytest.approx(error)

    def test_files_or_the_cache_are_enough_to_go_on(self, finished, copy, tmp_path, monkeypatch):
        """Without the stages, or elsewhere, nothing is trained again, and no file changes."""
        shutil.rmtree(copy / "stages")
        with monkeypatch.context() as patch:
            patch.setattr(keras.Model, "fit", None)
            for folder, cache in ((copy, None), (tmp_path / "new", finished / "stages")):
                run(folder, cache=cache)
                for name in FILES:
                    assert (folder / name).read_bytes() == (finished / name).read_bytes()
        monkeypatch.setattr(grids, "run_cells", made_up(lambda cell: 0.5))
        ran, _ = run(copy, dataclasses.replace(PROFILE, algorithms=("dnn_bayes",), seeds=2))
        assert {(cell.cost_seed, cell.seed) for cell in ran} == {(1000, 1), (1001, 1)}

    def test_other_rows_and_sets_stay(self, finished, copy, monkeypatch):
        """A run of a part of the grid replaces that part alone."""
        monkeypatch.setattr(grids, "run_cells", made_up(lambda cell: 0.5))
        part = {"datasets": ("digits", "digits_imb"), "algorithms": ("dnn_bayes",)}
        part["settings"] = PROFILE.settings.replace({"mlp.learning_rate": 0.3})
        run(copy, dataclasses.replace(PROFILE, **part, searches=(), cost_seeds=1))
        after = read(copy)
        keys = [(row["imbalanced"], row["algorithm"]) for row in after]
        assert keys[0] == ("False", "dnn_bayes") and keys.count(("True", "dnn_bayes")) == 2
        before, after = (
            [row for row in rows if row["algorithm"] != "dnn_bayes"]
            for rows in (read(finished), after)
        )
        assert before == after
        with np.load(copy / "test_decisions" / "digits_imb.npz") as file:
            assert "dnn_bayes_1001" in file and "csdnn_1000_beta_0.5" in file

    def test_what_does_not_fit_is_refused(self, copy):
        text = (copy / "results.csv").read_text()
        (copy / "results.csv").write_text(text.replace("cost_seed", "seed_of_costs"))
        with pytest.raises(ValueError, match="results.csv has the columns .* instead of"):
            Folder(copy)
        (copy / "results.csv").write_text(text)
        with np.load(copy / "test_decisions" / "digits_imb.npz") as file:
            arrays = dict(file)
        labels = arrays["labels"][::-1]
        np.savez(copy / "test_decisions" / "digits_imb.npz", **arrays | {"labels": labels})
        (copy / "results.csv").unlink()
        lines = make_grid(copy).run().lines
        assert len(lines) == 6 and all("its 'labels' differs" in line for line in lines)


def test_where_a_network_collapses_the_next_choice_is_tried(tmp_path, monkeypatch):
    """The chosen learning rate collapses with one matrix; one cell has twice the epochs, too."""
    monkeypatch.setattr(grids, "run_cells", made_up(lambda cell: cell.settings.mlp.learning_rate))
    searches = (Search("mlp.learning_rate", (0.7, 0.9, 0.8)),)
    profile = dataclasses.replace(SHORT, algorithms=("dnn_bayes",), searches=searches, cost_seeds=2)

    def collapsed(outcome, part):
        cell = outcome.cell
        return part == "val" and (cell.settings.mlp.learning_rate, cell.cost_seed) == (0.9, 1001)

    monkeypatch.setattr(Outcome, "collapsed", collapsed)
    _, told = run(tmp_path, profile, doubled=True)
    assert any(line.startswith("digits dnn_bayes: learning_rate = 0.9, val") for line in told)
    assert any("digits dnn_bayes for matrix 1001: average cost " in line for line in told)
    plain, _ = rows = read(tmp_path)
    found = [(row["learning_rate"], row["tried_again"], row["collapsed"]) for row in rows]
    assert found == [("0.9", "0", "False"), ("0.8", "1", "False")]
    (double,) = read(tmp_path, "doubled.csv")
    assert double["learning_rate"] == "0.9" and plain["cell"] != double["cell"]
    assert int(double["epochs"]) == 2 * int(plain["epochs"])
    with np.load(tmp_path / "test_decisions" / "digits.npz") as file:
        costs = file["matrix_1000"][file["labels"], file["dnn_bayes_1000_doubled"]]
    assert float(double["average_cost"]) == pytest.approx(costs.mean())
    # If all collapse, the first choice stays, and says so.
    monkeypatch.setattr(Outcome, "collapsed", lambda *_: True)
    run(tmp_path / "all", profile)
    for row in read(tmp_path / "all"):
        assert row["collapsed"] == "True" and row["tried_again"] == "0"


def test_searches_widen_until_the_best_value_has_neighbours(tmp_path, monkeypatch):
    """Also one that grew since: what it added before is found on file."""

    def share(cell):
        mlp = cell.settings.mlp
        distance = abs(math.log10(mlp.learning_rate) + 2)
        return 0.9 - 0.1 * distance + 0.01 * (mlp.optimizer_name == "adam")

    monkeypatch.setattr(grids, "run_cells", made_up(share))
    sgd = Search("mlp.learning_rate", (1e-4, 1e-3), True, {"mlp.optimizer_name": "sgd"})
    adam = Search("mlp.learning_rate", (0.1, 1.0), True, {"mlp.optimizer_name": "adam"})
    profile = dataclasses.replace(SHORT, algorithms=("dnn_blind",), searches=(sgd,))
    run(tmp_path, profile)
    before = read(tmp_path, "choices.csv")
    assert [float(row["value"]) for row in before] == [1e-4, 1e-3, 0.01, 0.1]
    assert [row["chosen"] for row in before] == ["False", "False", "True", "False"]
    assert {row["criterion"] for row in before} == {"error"}  # as it sees no costs
    assert {row["edge"] for row in before} == {""}
    ran, _ = run(tmp_path, dataclasses.replace(profile, searches=(sgd, adam)))
    assert {cell.settings.mlp.optimizer_name for cell in ran} == {"adam"}
    rows = read(tmp_path, "choices.csv")
    assert {row["cell"] for row in before} < {row["cell"] for row in rows}
    values = [float(row["value"]) for row in rows if row["given"] == "optimizer_name=adam"]
    assert sorted(values) == [1e-3, 0.01, 0.1, 1]


def test_the_next_value_goes_on_by_the_factor_of_its_neighbours():
    rates = Search("mlp.learning_rate", (0.01, 0.04), True)
    assert rates.next_value([0.01, 0.04], best=0.04) == 0.16
    assert rates.next_value([0.01, 0.04], best=0.01) == 0.0025
    assert rates.next_value([0.01, 0.04, 0.0025], best=0.01) is None
    tried = list(rates.values)
    while (value := rates.next_value(tried, best=max(tried))) is not None:
        tried.append(value)
    assert len(tried) == 2 + profiles.MOST_ADDED and rates.edge(tried, max(tried)) == "high"
    betas = Search("pretraining.beta", (0.0, 0.5, 1.0))
    assert betas.edge(betas.values, 1.0) == "" and betas.next_value(betas.values, 1.0) is None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value encountered")  # infinite costs have no spread
def test_trainings_that_diverge(tmp_path):
    """A value that diverges is not chosen, and an algorithm does not stop the grid."""
    searches = (Search("cnn.learning_rate", (1e30, 1e-3)),)
    profile = dataclasses.replace(SHORT, algorithms=("cnn_bayes",), searches=searches)
    run(tmp_path, profile)
    found = [(it["validation"] == "inf", it["chosen"]) for it in read(tmp_path, "choices.csv")]
    assert found == [(True, "False"), (False, "True")]
    assert np.isfinite(float(read(tmp_path)[0]["average_cost"]))
    settings = SHORT.settings.replace({"cnn.learning_rate": 1e30})
    names = ("cnn_bayes", "dnn_sosr")
    run(tmp_path, dataclasses.replace(SHORT, algorithms=names, searches=(), settings=settings))
    costs = {row["algorithm"]: float(row["average_cost"]) for row in read(tmp_path)}
    assert costs["cnn_bayes"] == np.inf and np.isfinite(costs["dnn_sosr"])


@pytest.mark.slow
def test_a_dask_cluster_of_two_workers(tmp_path):
    distributed = pytest.importorskip("distributed")
    # Nothing to choose: rounding, which differs with the number of threads, would choose too.
    profile = dataclasses.replace(SHORT, searches=())
    alone, _ = run(tmp_path / "alone", profile)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, cells.processes(2, cluster.scheduler_address):
        assert joblib.Parallel().n_jobs == -1
        spread, _ = run(tmp_path / "cluster", profile)
    assert set(spread) == set(alone)
    for one, other in zip(read(tmp_path / "cluster"), read(tmp_path / "alone"), strict=True):
        assert one["algorithm"] == other["algorithm"]
        assert float(one["average_cost"]) == pytest.approx(float(other["average_cost"]), rel=0.1)


def test_what_fails_costs_no_other(tmp_path, monkeypatch):
    """Data that cannot be loaded, and decisions after a training, which stays in the cache."""
    error = MemoryError("not enough memory")
    full = failing(cells.decide, lambda *_: True, OSError("no space left"))
    cells._load.cache_clear()
    profile = dataclasses.replace(
        SHORT, datasets=("digits_imb", "digits"), algorithms=("sdae_sosr",), searches=()
    )
    with monkeypatch.context() as patch:
        patch.setattr(cells.datasets, "imbalance", failing(len, lambda *_, **__: True, error))
        patch.setattr(cells, "decide", full)
        failures = make_grid(tmp_path, profile).run()
        assert failures.lines == [
            "digits_imb sdae_sosr failed: MemoryError: not enough memory",
            "digits sdae_sosr for matrix 1000 failed: OSError: no space left",
        ]
        patch.setattr(cells, "decide", lambda model, x: np.zeros(len(x), int))
        patch.setattr(keras.Model, "fit", None)
        ran, _ = run(tmp_path, dataclasses.replace(profile, datasets=("digits",)))
    assert len(ran) == len(read(tmp_path)) == 1


def test_keys_of_cells_tell_all_that_is_asked_for():
    cell = Cell(DataSource("digits"), csdl.ALGORITHMS["csdnn"], 1000, csdl.Settings())
    sources = {"name": "mnist", "imbalanced": True, "train_size": 100, "seed": 1}
    sources |= {"drop_rate": 0.9, "grayscale": True}
    settings = {"hard_hinge": True, "mlp.epochs": 3, "mlp.momentum": 0.5}
    settings |= {"pretraining.beta": 0.5, "pretraining.optimizer": "sgd"}
    changes = [
        *({"source": dataclasses.replace(cell.source, **{it: sources[it]})} for it in sources),
        *({"settings": cell.settings.replace({it: settings[it]})} for it in settings),
        *({"cost_seed": 1001}, {"cost_scale": 2000.0}, {"seed": 1}),
        {"algorithm": csdl.ALGORITHMS["dnn_sosr"]},
    ]
    found = [dataclasses.replace(cell, **change) for change in ({}, *changes)]
    assert len({each.key for each in found}) == len(found)


def test_profiles():
    for profile in PROFILES.values():
        for search in profile.searches:
            for value in search.values:
                profile.settings.replace({**search.given, search.field: value})
    assert set(PROFILES["tiny"].datasets) <= set(csdl.datasets.EMBEDDED)  # no download
    paper = PROFILES["paper"]
    assert paper.settings_on("mnist_imb").mlp.hidden_units == (3000, 3000, 3000)
    assert paper.settings_on("cifar10_imb").mlp.hidden_units == (1000, 1000, 1000)
    assert {*profiles.HEADLINE} < {*paper.algorithms}
    for body in ("mlp", "cnn"):  # Every network of a kind has the same search of rates.
        own = [it for it in csdl.ALGORITHMS.values() if it.body == body and it.in_table2]
        first, *others = (paper.rounds(it)[0] for it in own)
        assert all(it == first for it in others)
        optimizers = [search.given[f"{body}.optimizer_name"] for search in first]
        assert optimizers == ["sgd", "adam"] and all(search.widens for search in first)
