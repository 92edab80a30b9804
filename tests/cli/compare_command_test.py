"""The command `csdl-keras compare`, run within the process."""

import contextlib
import io
import json

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.training.algorithms import ALGORITHMS
from csdl_keras_cli.main import main
from tests.experiments.grid_runs import algorithms, read, train_all_with
from tests.support.fresh_process import run_python

TINY = "compare --dataset digits --epochs 1 --train-size 343".split()


def fail(name):
    raise RuntimeError("it fails")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder and the output of a run of two algorithms with two matrices."""
    folder = tmp_path_factory.mktemp("runs") / "new" / "run"
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        arguments = [
            "--algorithms",
            "dnn_blind, dnn_bayes",
            "--cost-seeds",
            "2",
            "--imbalanced",
            "--jobs",
            "1",
        ]
        status = main([*TINY, *arguments, "--out", str(folder)])
    assert status == 0
    return folder, output.getvalue()


@pytest.fixture(scope="module")
def rows(finished):
    return read(finished[0], without=())


class TestRun:
    def test_files(self, finished):
        names = {path.name for path in finished[0].iterdir()}
        assert names == {"results.csv", "costs.png", "best_model.keras", "run.json"}
        record = json.loads((finished[0] / "run.json").read_text())
        assert record["settings"]["mlp"]["epochs"] == 1
        assert record["arguments"]["train_size"] == 343
        assert record["versions"]["keras"] == keras.__version__

    def test_rows(self, rows):
        assert [(row["algorithm"], row["cost_seed"]) for row in rows] == [
            (name, seed) for seed in ("1000", "1001") for name in ("dnn_blind", "dnn_bayes")
        ]
        for row in rows:
            assert (row["dataset"], row["imbalanced"]) == ("digits", "True")
            assert row["backend"] == keras.backend.backend()
            assert float(row["train_seconds"]) > 0
        # Blind decisions do not depend on the matrix.
        assert rows[0]["error_rate"] == rows[2]["error_rate"]
        assert rows[0]["average_cost"] != rows[2]["average_cost"]

    def test_the_best_model_costs_what_its_row_says(self, finished, rows):
        data = csdl.datasets.load("digits", imbalanced=True, train_size=343)
        best = min(rows, key=lambda row: float(row["validation_cost"]))
        model = keras.saving.load_model(finished[0] / "best_model.keras")
        decisions = csdl.decide(model, data.x_test)
        seed = int(best["cost_seed"])
        matrix = csdl.costs.randomized_proportional(data.y_train_val, seed=seed)
        cost = matrix[data.y_test, decisions].mean()
        assert float(best["average_cost"]) == pytest.approx(cost, abs=1e-6)
        assert float(best["error_rate"]) == pytest.approx(np.mean(decisions != data.y_test))

    def test_the_table(self, finished, rows):
        costs = [float(row["average_cost"]) for row in rows if row["algorithm"] == "dnn_bayes"]
        lines = [line for line in finished[1].splitlines() if "dnn_bayes (" in line]
        assert f"{np.mean(costs):.3f} ({min(costs):.3f}–{max(costs):.3f})" in lines[0]
        assert "mean and range over 2 cost matrices" in finished[1]

    def test_the_printed_python_runs(self, finished):
        lines = finished[1].splitlines()
        code = "\n".join(lines[lines.index("import keras") :])
        data = csdl.datasets.load("digits")
        model = keras.saving.load_model(finished[0] / "best_model.keras")
        expected = f"{csdl.decide(model, data.x_test[:10])} {data.y_test[:10]}"
        assert run_python(code).strip().endswith(expected)

    def test_ctrl_c_keeps_what_is_done(self, tmp_path, monkeypatch, capsys):
        def interrupt(name):
            if name == "dnn_bayes":
                raise KeyboardInterrupt

        monkeypatch.setattr(csdl.Trainer, "train_all", train_all_with(interrupt))
        arguments = ["--algorithms", "dnn_blind,dnn_bayes", "--cost-seeds", "1", "--jobs", "1"]
        assert main([*TINY, *arguments, "--out", str(tmp_path)]) == 130
        assert algorithms(tmp_path) == ["dnn_blind"]
        assert (tmp_path / "best_model.keras").exists()
        assert "Interrupted after 1 of 2 rows" in capsys.readouterr().out

    def test_epochs_are_shown(self, tmp_path, monkeypatch):
        """The trainer that trains has the callback of their bar."""
        given = []

        class Watched(csdl.Trainer):
            def __init__(self, *arguments, callbacks=(), **options):
                given.append([type(callback).__name__ for callback in callbacks])
                super().__init__(*arguments, callbacks=callbacks, **options)

        monkeypatch.setattr("csdl_keras.experiments.cell_runner.Trainer", Watched)
        arguments = ["--algorithms", "dnn_blind", "--cost-seeds", "1", "--jobs", "1"]
        assert main([*TINY, *arguments, "--out", str(tmp_path)]) == 0
        assert given == [["_EpochBar"]]


class TestRefusals:
    @pytest.fixture(autouse=True)
    def untrained(self, monkeypatch):
        """Nothing is trained."""
        monkeypatch.setattr(csdl.Trainer, "train_all", None)

    @pytest.mark.parametrize(
        "arguments, told",
        [
            (["--dataset", "mnits"], ["mnits", "digits", "mnist_5k", "Did you mean 'mnist'?"]),
            (["--train-size", "20"], ["Expected `train_size` from"]),
        ],
    )
    def test_wrong_values(self, arguments, told, tmp_path, capsys):
        if "--dataset" in arguments:
            pytest.importorskip("tensorflow_datasets")
        assert main([*TINY, *arguments, "--out", str(tmp_path / "run")]) == 2
        message = capsys.readouterr().err
        assert all(words in message for words in told)
        assert not (tmp_path / "run").exists()

    def test_folders(self, tmp_path, capsys):
        file = tmp_path / "results.csv"
        file.write_text("precious")
        expected = "Expected --out to be a"
        for folder, words in ((tmp_path, "new or empty"), (file, ""), (file / "run", "")):
            assert main([*TINY, "--out", str(folder)]) == 2
            assert f"{expected} {words}".strip() in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == [file] and file.read_text() == "precious"

    def test_algorithms(self, capsys):
        with pytest.raises(SystemExit):
            main(["compare", "--algorithms", "csdnn,dnn"])
        message = capsys.readouterr().err
        assert all(words in message for words in ("['dnn']", *ALGORITHMS))

    def test_a_run_without_results_leaves_no_record(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(csdl.Trainer, "train_all", train_all_with(fail))
        arguments = ["--algorithms", "dnn_blind", "--jobs", "1", "--out", str(tmp_path)]
        assert main([*TINY, *arguments]) == 1
        assert "it fails" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []

    def test_numbers_out_of_range(self, capsys):
        pairs = {"--cost-seeds": "0", "--epochs": "two", "--train-size": "-5", "--seed": "-1"}
        for option, value in (*pairs.items(), ("--seed", str(2**32))):
            with pytest.raises(SystemExit) as caught:
                main(["compare", option, value])
            assert caught.value.code == 2
            message = capsys.readouterr().err
            assert option in message and repr(value) in message


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["compare", "--help"], ["70%", *ALGORITHMS]),
        (["--help"], ["compare"]),
        (["--version"], [csdl.__version__]),
    ],
)
def test_help(arguments, told, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 0
    printed = capsys.readouterr().out
    assert all(words in printed for words in told)


def test_commands_that_need_no_optional_package():
    """The modules of all commands can be imported; what is missing is told when they run."""
    optional = ("joblib", "keras_tuner", "matplotlib", "pandas", "sklearn", "tensorflow_datasets")
    names = ("compare", "export", "report", "table1", "table2", "tune")
    code = (
        f"import importlib, sys; sys.modules.update(dict.fromkeys({optional}))\n"
        f"for name in {names}: importlib.import_module('csdl_keras.experiments.commands.' + name)\n"
        "print('all')"
    )
    assert run_python(code).split() == ["all"]
