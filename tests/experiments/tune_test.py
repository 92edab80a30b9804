"""The command `csdl-keras tune`, run within the process, and its parts."""

import csv
import json

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.experiments.cli import build_parser, main
from csdl_keras.experiments.commands.arguments import parse_space, read_cost_matrix
from csdl_keras.experiments.trials import TrialRecord, plot_search, varied
from csdl_keras.tuning import Range
from csdl_keras.tuning._search_lock import search_lock
from tests.support.fresh_process import run_python

C = 1.0 - np.eye(10)
C[3, 5] = 7.0
QUICK = ["--dataset", "digits", "--train-size", "300", "--epochs", "2", "--depth", "1"]
QUICK += ["--units", "8", "--pretraining-epochs", "1", "--beta", "0,0.25", "--optimizer", "sgd"]


def tune(folder, *arguments):
    return main(["tune", *QUICK, "--out", str(folder), *arguments])


def trials(folder):
    with (folder / "trials.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a search of two trials, and what it printed."""
    folder = tmp_path_factory.mktemp("runs") / "search"
    matrix = folder.with_name("matrix.csv")
    np.savetxt(matrix, C, delimiter=",")
    assert tune(folder, "--cost-matrix", str(matrix), "--max-trials", "2") == 0
    return folder


class TestTune:
    def test_files(self, finished):
        rows = trials(finished)
        assert [row["status"] for row in rows] == ["COMPLETED"] * 2
        costs = [float(row["validation_cost"]) for row in rows]
        assert costs == sorted(costs)
        assert {"beta", "depth", "corruption", "sgd_learning_rate", "best_epoch"} <= set(rows[0])
        assert (finished / "search.png").read_bytes()[:4] == b"\x89PNG"
        record = json.loads((finished / "run.json").read_text())["runs"][0]
        np.testing.assert_array_equal(record["settings"]["cost_matrix"], C)

    def test_the_saved_model_costs_what_the_best_trial_did(self, finished):
        model = keras.saving.load_model(finished / "best_model.keras")
        data = csdl.datasets.load("digits", train_size=300, seed=0)
        paid = C[data.y_val, csdl.decide(model, data.x_val)].mean()
        np.testing.assert_allclose(paid, float(trials(finished)[0]["validation_cost"]), atol=1e-6)

    def test_the_printed_lines_load_the_model(self, finished, capsys):
        assert (
            tune(
                finished,
                "--cost-matrix",
                str(finished.with_name("matrix.csv")),
                "--max-trials",
                "2",
            )
            == 0
        )
        printed = capsys.readouterr().out
        assert "The best of 2 trials" in printed
        snippet = printed[printed.index("import keras") :]
        decided, labels = run_python(snippet).splitlines()[-1].split("] [")
        assert len(decided.split()) == len(labels.split()) == 10

    def test_more_trials_go_on_from_there(self, finished):
        matrix = str(finished.with_name("matrix.csv"))
        before = {row["trial"]: row["validation_cost"] for row in trials(finished)}
        stages = len(list((finished / "stages").rglob("*.npz")))
        assert tune(finished, "--cost-matrix", matrix, "--max-trials", "3") == 0
        after = {row["trial"]: row["validation_cost"] for row in trials(finished)}
        assert len(after) == 3
        assert {trial: after[trial] for trial in before} == before
        assert stages <= len(list((finished / "stages").rglob("*.npz"))) <= stages + 1

    @pytest.mark.parametrize(
        "change,told",
        [
            (["--epochs", "3"], "epochs 2, not 3"),
            (["--algorithm", "sdae_sosr"], "algorithm 'csdnn', not 'sdae_sosr'"),
            (["--cost-seed", "5"], "costs"),
        ],
    )
    def test_another_search_needs_another_folder(self, finished, change, told, capsys):
        if "--cost-seed" not in change:
            change = [*change, "--cost-matrix", str(finished.with_name("matrix.csv"))]
        assert tune(finished, *change) == 2
        assert told in capsys.readouterr().err

    def test_two_commands_in_one_folder(self, tmp_path, capsys):
        with search_lock(tmp_path / "tune.lock", tmp_path):
            assert tune(tmp_path) == 2
        assert f"no other search under way in {tmp_path}" in capsys.readouterr().err
        assert [path.name for path in tmp_path.iterdir()] == ["tune.lock"]

    def test_bayes_rows_save_their_decision(self, tmp_path):
        assert (
            tune(tmp_path, "--algorithm", "scae_bayes", "--max-trials", "1", "--tuner", "grid") == 0
        )
        model = keras.saving.load_model(tmp_path / "best_model.keras")
        assert csdl.output_kind(model) == "cost"

    @pytest.mark.parametrize(
        "arguments,told",
        [
            (["--algorithm", "min"], "invalid choice: 'min'"),
            (["--beta", "0,x"], "--beta as float values"),
            (["--beta", "0,2"], "`beta`"),
            (["--algorithm", "cnn_bayes"], "no --beta for cnn_bayes"),
            (["--cost-matrix", "nowhere.csv"], "nowhere.csv"),
            (["--cost-matrix", "a.npy", "--cost-seed", "1"], "not allowed with"),
        ],
    )
    def test_refuses(self, arguments, told, tmp_path, capsys):
        try:
            status = tune(tmp_path, *arguments)
        except SystemExit as exit:
            status = exit.code
        assert status == 2
        assert told in capsys.readouterr().err
        assert not (tmp_path / "run.json").exists()


class TestCostMatrixFile:
    @pytest.mark.parametrize("name", ["matrix.csv", "matrix.npy"])
    def test_reads(self, name, tmp_path):
        if name.endswith("csv"):
            np.savetxt(tmp_path / name, C, delimiter=",")
        else:
            np.save(tmp_path / name, C)
        np.testing.assert_array_equal(read_cost_matrix(tmp_path / name, 10), C)

    @pytest.mark.parametrize(
        "name,content,told",
        [
            ("m.csv", "a,b\nc,d\n", "2 x 2 numbers"),
            ("m.csv", "", "cost_matrix"),
            ("m.csv", "0,1\n1\n", "2 x 2 numbers"),
            ("m.csv", "0,1,1\n1,0,1\n1,1,0\n", "cost_matrix"),
            ("m.csv", "0,-1\n1,0\n", "cost_matrix"),
            ("m.npy", "0,1\n1,0\n", "2 x 2 numbers"),
            ("m.txt", "0,1\n1,0\n", ".npy or .csv"),
        ],
    )
    @pytest.mark.filterwarnings("ignore:loadtxt")  # says that a file is empty, before the error
    def test_refuses(self, name, content, told, tmp_path):
        (tmp_path / name).write_text(content)
        with pytest.raises(ValueError, match=told):
            read_cost_matrix(tmp_path / name, 2)

    def test_no_pickles(self, tmp_path):
        np.save(tmp_path / "m.npy", np.array([[{}]], dtype=object))
        with pytest.raises(ValueError, match="allow_pickle"):
            read_cost_matrix(tmp_path / "m.npy", 2)


class TestSearchSpace:
    @pytest.mark.parametrize(
        "name,text,space",
        [
            ("beta", "0.25", [0.25]),
            ("beta", "0, 0.25,1", [0.0, 0.25, 1.0]),
            ("depth", "1,2", [1, 2]),
            ("depth", "1:5", Range(1, 5)),
            ("learning_rate", "0.01:1:log", Range(0.01, 1.0, sampling="log")),
            ("optimizer", "sgd, adam", ["sgd", "adam"]),
        ],
    )
    def test_reads(self, name, text, space):
        assert parse_space(name, text) == space

    @pytest.mark.parametrize("text", ["", "a", "1.5", "1:", "1:2:log:3", "2:1", "1:2:sqrt"])
    def test_refuses(self, text):
        with pytest.raises(ValueError, match="Expected --depth as int values.*received"):
            parse_space("depth", text)


class TestRecords:
    RECORDS = [
        TrialRecord("0", "COMPLETED", 0.5, 1, {"beta": 0.0, "depth": 1, "optimizer": "sgd"}),
        TrialRecord("1", "COMPLETED", 0.7, 2, {"beta": 0.5, "depth": 1, "optimizer": "adam"}),
        TrialRecord("2", "FAILED", None, None, {"beta": 1.0, "depth": 1, "momentum": 0.9}),
    ]

    def test_what_varies(self):
        assert varied(self.RECORDS) == ["beta", "optimizer", "momentum"]

    def test_plot(self, tmp_path):
        plot_search(self.RECORDS, tmp_path / "search.png")
        assert (tmp_path / "search.png").stat().st_size > 1000


def test_every_option_has_a_default_that_parses():
    arguments = build_parser().parse_args(["tune"])
    assert (arguments.dataset, arguments.algorithm, arguments.tuner) == (
        "mnist_5k",
        "csdnn",
        "random",
    )
