"""Commands from a user's file to the printed lines that load the best model."""

import pathlib
import re

import keras
import numpy as np
import pandas
import pytest
from csdl_keras.experiments.commands.sources import source_of

import csdl_keras as csdl
from csdl_keras_cli.main import build_parser, main
from tests.experiments.own_tables import FRAME, ROWS, images, source, table


class TestCommand:
    ARGUMENTS = "--label answer --drop id,price_no,price_yes --jobs 1 --epochs 1".split()

    def compare(self, tmp_path, path, *arguments):
        out = tmp_path / "run"
        return main(["compare", "--data", str(path), *arguments, "--out", str(out)]), out

    def test_table(self, tmp_path, capsys):
        costs = tmp_path / "costs.csv"
        costs.write_text(",yes,no\nyes,0,9\nno,2,0\n")
        status, out = self.compare(
            tmp_path,
            table(tmp_path),
            *self.ARGUMENTS,
            "--cost-matrix",
            str(costs),
            "--algorithms",
            "dnn_bayes,dnn_sosr",
        )
        printed = capsys.readouterr().out
        assert status == 0
        assert "36 training (60%), 12 validation (20%) and 12 test (20%)" in printed
        assert printed.index("Costs of decisions") < printed.index("average cost")
        code = printed[printed.index("import keras") :]
        exec(code, {})
        assert {*re.findall(r"\w+", capsys.readouterr().out)} <= {"no", "yes"}
        assert {path.name for path in out.iterdir()} == {
            "best_model.keras",
            "costs.png",
            "results.csv",
            "run.json",
        }
        row = pandas.read_csv(out / "results.csv").set_index("algorithm").loc["dnn_bayes"]
        assert row["dataset"] == "table" and row["train_size"] == 48

    def test_own_costs_of_examples(self, tmp_path, capsys):
        status, out = self.compare(
            tmp_path,
            table(tmp_path, ".parquet"),
            "--label",
            "answer",
            "--drop",
            "id",
            "--jobs",
            "1",
            "--epochs",
            "1",
            "--cost-columns",
            "price_no,price_yes",
            "--algorithms",
            "dnn_sosr",
        )
        assert status == 0 and "Mean costs of decisions" in capsys.readouterr().out
        (row,) = pandas.read_csv(out / "results.csv").to_dict("records")
        model = keras.saving.load_model(out / "best_model.keras")
        data = source(table(tmp_path, ".parquet"), cost_columns=("price_no", "price_yes")).load()
        paid = data.costs["test"][np.arange(12), csdl.decide(model, data.x_test.rows)]
        assert row["average_cost"] == pytest.approx(paid.mean(), abs=1e-6)

    def test_identifiers_are_told(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(csdl.Trainer, "train_all", lambda *_, **__: iter(()))
        path = tmp_path / "table.csv"
        FRAME.assign(name=[f"customer {i}" for i in range(ROWS)]).to_csv(path, index=False)
        self.compare(tmp_path, path, *self.ARGUMENTS, "--algorithms", "cost_model")
        assert "a category of their own in 'name': --drop" in capsys.readouterr().out

    def test_defaults_leave_out_what_does_not_fit(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(csdl.Trainer, "train_all", lambda *_, **__: iter(()))
        costs = tmp_path / "costs.csv"
        costs.write_text(",no,yes,ask\nno,0,3,1\nyes,9,0,1\n")
        self.compare(tmp_path, table(tmp_path), *self.ARGUMENTS, "--cost-matrix", str(costs))
        (line,) = [it for it in capsys.readouterr().out.splitlines() if it.startswith("Left out")]
        assert "cnn_blind, cnn_bayes, cnn_sosr" in line and "dnn_sosr" in line
        assert "cost_model" not in line and "dnn_bayes" not in line

    @pytest.mark.parametrize(
        "arguments, dropped, costs",
        [
            ("--drop id --drop age", ["id", "age"], []),
            ("--drop id,age --drop job", ["id", "age", "job"], []),
            ("--cost-columns price_no --cost-columns price_yes", [], ["price_no", "price_yes"]),
            ("--cost-columns price_no,price_yes --drop id", ["id"], ["price_no", "price_yes"]),
            ("--categories id --categories age", [], []),
        ],
    )
    def test_options_that_name_columns_are_repeated(self, arguments, dropped, costs, tmp_path):
        """The record of a run takes the arguments as they are then."""
        parsed = build_parser().parse_args(
            ["compare", "--data", str(table(tmp_path)), "--label", "answer", *arguments.split()]
        )
        own, _ = source_of(parsed)
        assert parsed.drop == dropped and parsed.cost_columns == costs
        assert not {*dropped, *costs} & {*own.load().x_train.columns.names}
        assert (own.load().costs is not None) == bool(costs)

    def test_broken_images(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(csdl.Trainer, "train_all", lambda *_, **__: iter(()))
        folder = images(tmp_path / "pets")
        (folder / "cat" / "5.png").write_bytes(b"broken")
        arguments = ["--jobs", "1", "--algorithms", "cnn_bayes"]
        status, out = self.compare(tmp_path, folder, *arguments)
        error = capsys.readouterr().err
        assert status == 2 and len(error.splitlines()) == 1 and "5.png" in error
        self.compare(tmp_path, folder, *arguments, "--skip-broken")
        told = f"left out 1 other file, such as {pathlib.Path('cat') / '5.png'} (broken)"
        assert told in capsys.readouterr().out

    def test_columns_are_reported_before_training(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(csdl.Trainer, "train_all", None)
        path = tmp_path / "table.csv"
        FRAME.assign(paid=[f"{i}%" for i in range(ROWS)]).to_csv(path, index=False)
        status, out = self.compare(tmp_path, path, *self.ARGUMENTS)
        error = capsys.readouterr().err
        assert status == 2 and len(error.splitlines()) == 1 and not out.exists()
        assert "column 'paid'; received '0%' and '1%'. --drop paid" in error

    @pytest.mark.parametrize(
        "arguments, told",
        [
            (["--algorithms", "cnn_bayes"], "Expected images for 'cnn_bayes'"),
            (["--algorithms", "csosr"], "keeps neither columns nor the names of labels"),
            (["--label", "anwser"], "Did you mean 'answer'?"),
        ],
    )
    def test_refusals_come_before_training(self, arguments, told, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(csdl.Trainer, "train_all", None)
        status, out = self.compare(tmp_path, table(tmp_path), *self.ARGUMENTS, *arguments)
        assert status == 2 and told in capsys.readouterr().err and not out.exists()

    @pytest.mark.parametrize("costs", [["--cost-columns", "price_no,price_yes"], ["--drop", "id"]])
    def test_tune(self, costs, tmp_path, capsys):
        out = tmp_path / "search"
        arguments = ["tune", "--data", str(table(tmp_path)), "--label", "answer", "--out", str(out)]
        arguments += "--max-trials 1 --epochs 1 --pretraining-epochs 1 --depth 1 --units 4".split()
        assert main([*arguments, *costs]) == 0
        printed = capsys.readouterr().out
        assert re.search(r"Inputs: \d columns of numbers, \d of categories", printed)
        exec(printed[printed.index("import keras") :], {})
        assert {*re.findall(r"\w+", capsys.readouterr().out)} <= {"no", "yes"}
        assert (out / "trials.csv").exists()
