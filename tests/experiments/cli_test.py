"""The command `csdl-keras compare`, run within the process."""

import contextlib
import csv
import io
import json

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.experiments.cli import main
from csdl_keras.training.algorithms import ALGORITHMS
from tests.experiments.grid_runs import train_all_with
from tests.support.fresh_process import run_python

TINY = ["compare", "--dataset", "digits", "--epochs", "1", "--train-size", "343"]


def read_results(folder):
    with (folder / "results.csv").open() as file:
        return list(csv.DictReader(file))


def matrix_of(row, data):
    return csdl.costs.randomized_proportional(data.y_train_val, seed=int(row["cost_seed"]))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder and the output of a run of two algorithms with two matrices."""
    folder = tmp_path_factory.mktemp("runs") / "new" / "run"
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        arguments = ["--algorithms", "dnn_blind, dnn_bayes", "--cost-seeds", "2"]
        status = main([*TINY, *arguments, "--out", str(folder)])
    assert status == 0
    return folder, output.getvalue()


@pytest.fixture
def untrained(monkeypatch):
    """Fails the test if anything is trained."""

    def fail(*args, **kwargs):
        raise AssertionError("trained")

    monkeypatch.setattr(csdl.Trainer, "train", fail)


class TestRun:
    def test_files(self, finished):
        names = {path.name for path in finished[0].iterdir()}
        assert names == {"results.csv", "costs.png", "best_model.keras", "run.json"}

    def test_rows(self, finished):
        rows = read_results(finished[0])
        columns = (
            "dataset imbalanced algorithm cost_seed average_cost error_rate train_seconds backend"
        )
        assert set(columns.split()) <= set(rows[0])
        assert [(row["algorithm"], row["cost_seed"]) for row in rows] == [
            (name, seed) for seed in ("1000", "1001") for name in ("dnn_blind", "dnn_bayes")
        ]
        for row in rows:
            assert (row["dataset"], row["imbalanced"]) == ("digits", "False")
            assert row["backend"] == keras.backend.backend()
            assert float(row["train_seconds"]) > 0
            assert 0 <= float(row["error_rate"]) <= 1

    def test_the_best_model_costs_what_its_row_says(self, finished):
        data = csdl.datasets.load("digits", train_size=343)
        best = min(read_results(finished[0]), key=lambda row: float(row["validation_cost"]))
        model = keras.saving.load_model(finished[0] / "best_model.keras")
        decisions = csdl.decide(model, data.x_test)
        cost = matrix_of(best, data)[data.y_test, decisions].mean()
        assert float(best["average_cost"]) == pytest.approx(cost, abs=1e-6)
        assert float(best["error_rate"]) == pytest.approx(np.mean(decisions != data.y_test))

    def test_blind_decisions_do_not_depend_on_the_matrix(self, finished):
        rows = [row for row in read_results(finished[0]) if row["algorithm"] == "dnn_blind"]
        assert rows[0]["error_rate"] == rows[1]["error_rate"]
        assert rows[0]["average_cost"] != rows[1]["average_cost"]

    def test_the_plot(self, finished):
        image = pytest.importorskip("matplotlib.image")
        pixels = image.imread(finished[0] / "costs.png")
        assert pixels.shape[0] > 200
        assert pixels.shape[1] > 600
        assert pixels.std() > 0.05

    def test_the_table(self, finished):
        rows = read_results(finished[0])
        for name in ("dnn_blind", "dnn_bayes"):
            costs = [float(row["average_cost"]) for row in rows if row["algorithm"] == name]
            error = np.std(costs, ddof=1) / np.sqrt(2)
            lines = [line for line in finished[1].splitlines() if f"{name} (" in line]
            (line,) = [line for line in lines if "±" in line]
            assert f"{np.mean(costs):.3f} ± {error:.3f}" in line

    def test_the_printed_python_runs(self, finished):
        lines = finished[1].splitlines()
        code = "\n".join(lines[lines.index("import keras") :])
        assert "best_model.keras" in code
        data = csdl.datasets.load("digits")
        model = keras.saving.load_model(finished[0] / "best_model.keras")
        expected = f"{csdl.decide(model, data.x_test[:10])} {data.y_test[:10]}"
        assert run_python(code).strip().endswith(expected)

    def test_the_record(self, finished):
        record = json.loads((finished[0] / "run.json").read_text())
        assert record["settings"]["mlp"]["epochs"] == 1
        assert record["arguments"]["train_size"] == "343"
        assert record["versions"]["keras"] == keras.__version__

    def test_imbalanced(self, tmp_path):
        arguments = ["--algorithms", "dnn_blind", "--cost-seeds", "1", "--imbalanced"]
        assert main([*TINY, *arguments, "--out", str(tmp_path)]) == 0
        (row,) = read_results(tmp_path)
        assert row["imbalanced"] == "True"
        data = csdl.datasets.load("digits", imbalanced=True, train_size=343)
        model = keras.saving.load_model(tmp_path / "best_model.keras")
        decisions = csdl.decide(model, data.x_test)
        cost = matrix_of(row, data)[data.y_test, decisions].mean()
        assert float(row["average_cost"]) == pytest.approx(cost, abs=1e-6)

    def test_ctrl_c_keeps_what_is_done(self, tmp_path, monkeypatch, capsys):
        def interrupt(name):
            if name == "dnn_bayes":
                raise KeyboardInterrupt

        monkeypatch.setattr(csdl.Trainer, "train_all", train_all_with(interrupt))
        arguments = ["--algorithms", "dnn_blind,dnn_bayes", "--cost-seeds", "1", "--jobs", "1"]
        assert main([*TINY, *arguments, "--out", str(tmp_path)]) == 130
        assert [row["algorithm"] for row in read_results(tmp_path)] == ["dnn_blind"]
        assert (tmp_path / "best_model.keras").exists()
        assert "Interrupted after 1 of 2 rows" in capsys.readouterr().out


@pytest.mark.usefixtures("untrained")
class TestRefusals:
    def test_unknown_algorithms(self, tmp_path, capsys):
        assert main([*TINY, "--algorithms", "csdnn,dnn", "--out", str(tmp_path / "run")]) == 2
        message = capsys.readouterr().err
        assert "['dnn']" in message
        assert all(name in message for name in ALGORITHMS)
        assert not (tmp_path / "run").exists()

    def test_unknown_data_sets(self, tmp_path, capsys):
        pytest.importorskip("tensorflow_datasets")
        assert main(["compare", "--dataset", "mnits", "--out", str(tmp_path / "run")]) == 2
        message = capsys.readouterr().err
        assert all(name in message for name in ("mnits", "digits", "mnist_5k"))
        assert not (tmp_path / "run").exists()

    def test_folders_that_are_not_empty(self, tmp_path, capsys):
        (tmp_path / "results.csv").write_text("precious")
        assert main([*TINY, "--out", str(tmp_path)]) == 2
        assert "new or empty folder" in capsys.readouterr().err
        assert [path.name for path in tmp_path.iterdir()] == ["results.csv"]
        assert (tmp_path / "results.csv").read_text() == "precious"

    def test_folders_that_cannot_be_written(self, tmp_path, capsys):
        (tmp_path / "file").write_text("precious")
        for folder in (tmp_path / "file", tmp_path / "file" / "run"):
            assert main([*TINY, "--out", str(folder)]) == 2
            assert "Expected --out to be a folder" in capsys.readouterr().err
        assert (tmp_path / "file").read_text() == "precious"

    @pytest.mark.parametrize(
        "option,value",
        [
            ("--cost-seeds", "0"),
            ("--cost-seeds", "two"),
            ("--epochs", "0"),
            ("--train-size", "-5"),
            ("--seed", "-1"),
        ],
    )
    def test_numbers_out_of_range(self, tmp_path, capsys, option, value):
        with pytest.raises(SystemExit) as caught:
            main(["compare", option, value, "--out", str(tmp_path / "run")])
        assert caught.value.code == 2
        message = capsys.readouterr().err
        assert option in message
        assert repr(value) in message

    def test_a_training_set_too_small(self, tmp_path, capsys):
        arguments = ["compare", "--dataset", "digits", "--train-size", "20"]
        assert main([*arguments, "--out", str(tmp_path / "run")]) == 2
        assert "Expected `train_size` from" in capsys.readouterr().err


class TestHelp:
    def show(self, capsys, *arguments):
        with pytest.raises(SystemExit) as caught:
            main([*arguments])
        assert caught.value.code == 0
        return " ".join(capsys.readouterr().out.split())

    def test_options(self, capsys):
        text = self.show(capsys, "compare", "--help")
        options = "dataset algorithms cost-seeds imbalanced train-size epochs seed out".split()
        assert all(f"--{option}" in text for option in options)
        assert all(name in text for name in ALGORITHMS)
        assert "70%" in text

    def test_commands(self, capsys):
        assert "compare" in self.show(capsys, "--help")
        assert self.show(capsys, "--version") == csdl.__version__


def test_commands_that_need_no_optional_package():
    """The module of every command is imported, whichever of them runs."""
    optional = ("joblib", "keras_tuner", "matplotlib", "sklearn", "tensorflow_datasets")
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({optional}))\n"
        "from csdl_keras.experiments.cli import main; sys.exit(main(['table1']))"
    )
    assert "CSDNN" in run_python(code)
