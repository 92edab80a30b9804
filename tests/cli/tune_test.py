"""The command `csdl-keras tune`, run within the process, and its parts."""

import json
import shutil

import keras
import keras_tuner
import numpy as np
import pandas
import pytest

import csdl_keras as csdl
from csdl_keras.training.algorithms import get_algorithm
from csdl_keras.tuning import CNNHyperModel, CSDNNHyperModel, Range
from csdl_keras.tuning.resumable import search_lock
from csdl_keras_cli.choices import TUNABLE
from csdl_keras_cli.main import main
from csdl_keras_cli.search import parse_space, plot_search, searched_names, trials_text, varied
from csdl_keras_cli.tune import SPACES
from tests.cli.own_files import table
from tests.cli.runs import TUNE, fails_at, names

C = 1.0 - np.eye(10)
C[3, 5] = 7.0
QUICK = [*TUNE, "--epochs", "2", "--beta", "0,0.25", "--optimizer", "sgd", "--tuner", "grid"]


@pytest.fixture(scope="module")
def matrix(tmp_path_factory):
    path = tmp_path_factory.mktemp("matrix") / "matrix.csv"
    np.savetxt(path, C, delimiter=",")
    return ["--cost-matrix", str(path)]


@pytest.fixture(scope="module")
def tune(tmp_path_factory, matrix):
    """A function that runs the command in the folder of a search of two trials; its status."""
    folder = tmp_path_factory.mktemp("runs") / "search"

    def tune(*arguments):
        return main([*QUICK, *arguments, "--out", str(folder)])

    assert tune(*matrix, "--max-trials", "2") == 0
    tune.folder = folder
    return tune


class TestTune:
    def test_files(self, tune):
        trials = pandas.read_csv(tune.folder / "trials.csv")
        assert [*trials.status] == ["COMPLETED"] * 2
        costs = [*trials.validation_cost]
        assert costs == sorted(costs)
        assert [*trials][:4] == ["trial", "status", "validation_cost", "best_epoch"]
        assert {"beta", "depth", "corruption", "sgd_learning_rate"} <= {*trials}
        assert (tune.folder / "search.png").read_bytes()[:4] == b"\x89PNG"
        record = json.loads((tune.folder / "run.json").read_text())["runs"][0]
        np.testing.assert_array_equal(record["settings"]["cost_matrix"], C)
        model = keras.saving.load_model(tune.folder / "best_model.keras")
        data = csdl.datasets.load("digits", train_size=300, seed=0)
        paid = C[data.y_val, csdl.decide(model, data.x_val)].mean()
        assert paid == pytest.approx(costs[0], abs=1e-6)

    @pytest.mark.slow
    def test_more_trials_go_on_from_there(self, tune, matrix, capsys):
        before = pandas.read_csv(tune.folder / "trials.csv").set_index("trial").validation_cost
        stages = len(list((tune.folder / "stages").rglob("*.npz")))
        assert tune(*matrix, "--max-trials", "3") == 0
        printed = capsys.readouterr().out
        assert "The best of 3 trials" in printed
        after = pandas.read_csv(tune.folder / "trials.csv").set_index("trial").validation_cost
        assert len(after) == 3 and after[before.index].equals(before)
        assert stages <= len(list((tune.folder / "stages").rglob("*.npz"))) <= stages + 1
        exec(printed[printed.index("import keras") :], {})  # the lines that load the model
        decided, labels = capsys.readouterr().out.splitlines()[-1].split("] [")
        assert len(decided.split()) == len(labels.split()) == 10

    def test_another_search_needs_another_folder(self, tune, matrix, capsys):
        others = ["--epochs", "3", *matrix], ["--algorithm", "seae_sosr", *matrix], ["--seed", "5"]
        for change in others:
            assert tune(*change) == 2
            assert str(tune.folder) in capsys.readouterr().err
        with search_lock(tune.folder / "tune.lock", tune.folder):
            assert tune(*matrix) == 2
        assert f"no other search under way in {tune.folder}" in capsys.readouterr().err

    @pytest.mark.parametrize(
        "arguments, told",
        [
            (["--algorithm", "min"], "min has nothing to tune here; `csdl-keras compare"),
            (["--algorithm", "calibrated_bayes"], "calibrated_bayes has nothing to tune here; `"),
            (["--beta", "0,x"], "--beta as float values"),
            (["--beta", "0,2"], "`beta`"),
            (["--algorithm", "dnn_sosr"], "no --beta for dnn_sosr, which has no such value; rec"),
            (["--cache", __file__], "--cache to be a"),
            (["--cost-matrix", "a.npy", "--cost-seed", "1"], "not allowed with"),
        ],
    )
    def test_refuses(self, arguments, told, tmp_path, capsys):
        try:
            status = main([*QUICK, "--out", str(tmp_path), *arguments])
        except SystemExit as exit:
            status = exit.code
        assert status == 2
        assert told in capsys.readouterr().err
        assert not (tmp_path / "run.json").exists()


class TestSearchSpace:
    @pytest.mark.parametrize(
        "name, text, space",
        [
            ("beta", "0, 0.25,1", [0.0, 0.25, 1.0]),
            ("depth", "1,2", [1, 2]),
            ("depth", "1:5", Range(1, 5)),
            ("learning_rate", "0.01:1:log", Range(0.01, 1.0, sampling="log")),
            ("optimizer", "sgd, adam", ["sgd", "adam"]),
        ],
    )
    def test_reads(self, name, text, space):
        assert parse_space(name, text) == space

    @pytest.mark.parametrize("text", ["", "1.5", "1:", "1:2:log:3", "2:1", "1:2:sqrt"])
    def test_refuses(self, text):
        with pytest.raises(ValueError, match="Expected --depth as int values.*received"):
            parse_space("depth", text)


HEAD = {"status": "COMPLETED", "best_epoch": 1}


def trials_of(*values):
    rows = [
        {"trial": str(i), "validation_cost": 0.5 + i, **HEAD, **it} for i, it in enumerate(values)
    ]
    frame = pandas.DataFrame(rows)
    frame["best_epoch"] = frame["best_epoch"].astype("Int64")
    return frame


def test_the_table_has_the_best_trials():
    values = {"beta": 0.25, "pretraining_learning_rate": 1.25e-3, "optimizer": "adam"}
    done = [{**values, "depth": i, "momentum": i / 3} for i in range(9)]
    failed = {**values, "status": "FAILED", "validation_cost": None, "best_epoch": None}
    head, trials, *rows, last = trials_text(trials_of(*done, failed)).splitlines()
    assert head == "The best of 10 trials" and last == "all trials: trials.csv"
    assert trials.split() == ["trial", *"012345"]
    assert [row.split()[0] for row in rows] == [
        "validation_cost",
        "best_epoch",
        "depth",
        "momentum",
    ]
    assert rows[0].split()[1:3] == ["0.5", "1.5"] and rows[3].split()[2] == "0.3333"
    text = trials_text(trials_of({"beta": 0.25, "depth": 3}))  # of which nothing varies
    assert "beta" in text and "depth" in text


def test_what_varies_is_drawn(tmp_path):
    trials = trials_of(
        {"beta": 0.0, "depth": 1, "optimizer": "sgd"},
        {"beta": 0.5, "depth": 1, "optimizer": "adam"},
        {"beta": 1.0, "depth": 1, "momentum": 0.9},
    )
    assert varied(trials) == ["beta", "optimizer", "momentum"]
    plot_search(trials, tmp_path / "search.png")
    assert (tmp_path / "search.png").stat().st_size > 1000


class TestFailures:
    FILES = {"trials.csv", "search.png", "best_model.keras"}

    @pytest.mark.parametrize(
        "name, file",
        [
            ("csdl_keras_cli.search.plot_search", "search.png"),
            ("csdl_keras_cli.search.trials_text", "the table"),
            ("csdl_keras._utils.files.save_model", "best_model.keras"),
        ],
    )
    def test_a_step(self, name, file, searched, tmp_path, capsys, monkeypatch):
        ignored = shutil.ignore_patterns(*self.FILES)
        folder = shutil.copytree(searched, tmp_path / "copy", ignore=ignored)
        monkeypatch.setattr(name, fails_at(None, None, RuntimeError("broken")))
        assert main([*TUNE, "--out", str(folder)]) == 1
        assert capsys.readouterr().err == f"csdl-keras: {file} failed: RuntimeError: broken\n"
        assert names(folder) & self.FILES == self.FILES - {file}

    @pytest.mark.parametrize("name", ["run.json", "search.json"])
    def test_a_damaged_file(self, name, searched, tmp_path, capsys):
        (path,) = shutil.copytree(searched, tmp_path / "copy").rglob(name)
        path.write_bytes(path.read_bytes()[:9])
        assert main([*TUNE, "--out", str(tmp_path / "copy")]) == 2
        error = capsys.readouterr().err
        assert str(tmp_path / "copy") in error and len(error.splitlines()) == 1


@pytest.mark.parametrize("costs", [["--cost-columns", "price_no,price_yes"], ["--drop", "id"]])
def test_own_data(costs, tmp_path, capsys):
    arguments = ["tune", "--data", str(table(tmp_path)), "--label", "answer", *costs]
    arguments += "--max-trials 1 --epochs 1 --pretraining-epochs 1 --depth 1 --units 4".split()
    assert main([*arguments, "--out", str(tmp_path / "search")]) == 0
    printed = capsys.readouterr().out
    assert "columns of numbers" in printed
    exec(printed[printed.index("import keras") :], {})
    assert "yes" in (told := capsys.readouterr().out) or "no" in told


class TestSearched:
    @pytest.mark.parametrize("name", TUNABLE)
    def test_what_the_search_declares(self, name):
        """The options that an algorithm takes are the spaces that its search has."""
        common = {"cost_matrix": 1.0 - np.eye(3), "algorithm": name}
        if name.startswith("cnn"):
            hyper_model = CNNHyperModel((32, 32, 3), **common)
        else:
            hyper_model = CSDNNHyperModel((4,), **common)
        hp = keras_tuner.HyperParameters()
        hyper_model.build(hp)
        declared = {space.name.removeprefix("sgd_") for space in hp.space}
        assert searched_names(get_algorithm(name)) == declared & set(SPACES)
