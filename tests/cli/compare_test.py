"""The command `csdl-keras compare`, run within the process."""

import json
import re

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras_cli import comparison
from csdl_keras_cli.data import Data
from csdl_keras_cli.main import main
from tests.cli.own_files import FRAME, ROWS, images, load, save, table
from tests.cli.runs import constant_model, names, results, train_all_with

TINY = "compare --dataset digits --epochs 1 --train-size 343 --jobs 1".split()
FILES = {"results.csv", "costs.png", "best_model.keras", "run.json"}


def test_rows_are_those_of_a_trainer(tmp_path, capsys):
    arguments = [
        "--algorithms",
        "dnn_blind, dnn_bayes",
        "--cost-seeds",
        "2",
        "--dataset",
        "digits_imb",
    ]
    assert main([*TINY, *arguments, "--out", str(tmp_path / "new" / "run")]) == 0
    printed, folder = capsys.readouterr().out, tmp_path / "new" / "run"
    assert names(folder) == FILES
    (record,) = json.loads((folder / "run.json").read_text())["runs"]
    assert record["settings"]["mlp"]["epochs"] == 1 and record["arguments"]["train_size"] == 343
    assert {*record["findings"]["savings"]} == {"dnn_blind", "dnn_bayes"}
    rows = results(folder)
    expected = [(name, 1000 + i) for i in range(2) for name in ("dnn_blind", "dnn_bayes")]
    assert list(zip(rows.algorithm, rows.cost_seed, strict=True)) == expected
    data = csdl.datasets.load("digits", imbalanced=True, train_size=343)
    settings = csdl.Settings().limit_epochs(1)
    trainer = csdl.Trainer(
        data.x_train, data.y_train, (data.x_val, data.y_val), settings=settings, seed=0
    )
    for _, row in rows.iloc[1:3].iterrows():
        matrix = csdl.costs.randomized_proportional(data.y_train_val, seed=row.cost_seed)
        model = trainer.train(row.algorithm, matrix).model
        test, val = (csdl.decide(model, x) for x in (data.x_test, data.x_val))
        assert row.average_cost == pytest.approx(matrix[data.y_test, test].mean(), abs=1e-6)
        assert row.validation_cost == pytest.approx(matrix[data.y_val, val].mean(), abs=1e-6)
        assert row.error_rate == pytest.approx(np.mean(test != data.y_test), abs=1e-6)
        assert (row.dataset, row.imbalanced, row.seed) == ("digits", True, 0)
        assert (row.epochs, row.backend) == (1, keras.backend.backend())
    exec(printed[printed.index("import keras") :], {})
    model = keras.saving.load_model(folder / "best_model.keras")
    data = csdl.datasets.load("digits")
    expected = f"{csdl.decide(model, data.x_test[:10])} {data.y_test[:10]}"
    assert expected in capsys.readouterr().out


def run_made(folder, make, *arguments):
    """Runs the command on models that no training made; its status."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csdl.Trainer, "train_all", train_all_with(make))
        return main([*TINY, "--cost-seeds", "1", *arguments, "--out", str(folder)])


BOTH = ["--algorithms", "dnn_blind,dnn_bayes"]


@pytest.mark.parametrize("best", [0, 1])
def test_the_best_model_has_the_lowest_validation_cost(best, tmp_path, capsys):
    data = csdl.datasets.load("digits", train_size=343)
    matrix = csdl.costs.randomized_proportional(data.y_train_val, seed=1000)
    lowest, other = np.argsort(matrix[data.y_val].mean(axis=0))[:2].tolist()
    made = {
        "dnn_blind": lowest if best == 0 else other,
        "dnn_bayes": other if best == 0 else lowest,
    }
    assert run_made(tmp_path, lambda name: constant_model(made[name]), *BOTH) == 0
    costs = matrix[data.y_val].mean(axis=0)[list(made.values())]
    np.testing.assert_allclose(results(tmp_path).validation_cost, costs)
    assert [*results(tmp_path).against_best][best] == "best"
    assert [*results(tmp_path).against_best][1 - best] in ("tied", "costlier")
    model = keras.saving.load_model(tmp_path / "best_model.keras")
    assert {*csdl.decide(model, data.x_test)} == {lowest}
    assert f"is {[*made][best]} (" in capsys.readouterr().out.replace("\n", " ")


def test_costs_count_relative_to_the_best_constant_decision_of_their_matrix(tmp_path, capsys):
    data = load(train_size=343)
    means = {seed: data.matrix_of(seed)[data.y["val"]].mean(axis=0) for seed in (1000, 1001)}
    cheap, dear = sorted(means, key=lambda seed: means[seed].min())
    decision = int(means[dear].argmin())
    assert means[cheap][decision] > means[cheap].min()
    arguments = ["--algorithms", "dnn_blind", "--cost-seeds", "2"]
    assert run_made(tmp_path, lambda _: constant_model(decision), *arguments) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"for the cost matrix of seed {dear}, which has the lowest validation cost" in told


@pytest.mark.parametrize(
    "owner, name, part",
    [
        (comparison, "plot_costs", "costs.png"),
        (comparison, "summary_text", "the table"),
        (comparison, "save_model", "the model of digits dnn_blind for matrix 1000"),
        (Data, "savings", "digits dnn_blind for matrix 1000"),
    ],
)
def test_a_step_that_fails_costs_no_other(owner, name, part, tmp_path, monkeypatch, capsys):
    whole, calls = getattr(owner, name), []

    def broken_at_first(*given):
        calls.append(given)
        return whole(*given) if len(calls) > 1 else 1 / 0

    monkeypatch.setattr(owner, name, broken_at_first)
    made = {"dnn_blind": 3, "dnn_bayes": 0}
    assert run_made(tmp_path, lambda name: constant_model(made[name]), *BOTH) == 1
    output, told = capsys.readouterr()
    assert told == f"csdl-keras: {part} failed: ZeroDivisionError: division by zero\n"
    assert names(tmp_path) == FILES - {part}
    assert len(results(tmp_path)) == 2
    assert ("average test cost" in output) == (name != "summary_text")
    assert "keras.saving.load_model" in output


def test_an_algorithm_that_fails_or_is_interrupted_leaves_the_others(tmp_path, capsys):
    made = {"dnn_bayes": constant_model(0)}
    assert run_made(tmp_path / "error", lambda name: made[name], *BOTH) == 1
    assert "digits dnn_blind for matrix 1000 failed: KeyError" in capsys.readouterr().err
    assert list(results(tmp_path / "error").algorithm) == ["dnn_bayes"]

    def interrupt(name):
        if name == "dnn_bayes":
            raise KeyboardInterrupt
        return made["dnn_bayes"]

    assert run_made(tmp_path / "ctrl-c", interrupt, *BOTH) == 130
    assert list(results(tmp_path / "ctrl-c").algorithm) == ["dnn_blind"]
    assert (tmp_path / "ctrl-c" / "best_model.keras").exists()
    assert "Interrupted after 1 of 2 rows" in capsys.readouterr().out
    assert run_made(tmp_path / "all", lambda name: 1 / 0, *BOTH) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err and names(tmp_path / "all") == {
        "run.json"
    }


def test_a_kernel_machine_is_loaded_by_the_printed_lines(tmp_path, capsys):
    arguments = ["--algorithms", "csosr", "--cost-seeds", "1", "--out", str(tmp_path)]
    assert main([*TINY, *arguments]) == 0
    printed = capsys.readouterr().out
    assert "csdl.baselines.CSOSR.load" in printed and (tmp_path / "best_model.npz").exists()
    exec(printed[printed.index("import csdl_keras") :], {})


def test_what_is_wrong_is_told_before_training(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(csdl.Trainer, "train_all", None)
    file, run = tmp_path / "results.csv", tmp_path / "run"
    file.write_text("precious")
    path = save(FRAME.assign(paid=[f"{i}%" for i in range(ROWS)]), tmp_path / "table.csv")
    own = ["compare", "--data", str(path), "--label"]
    for arguments, out, told in (
        ([*TINY, "--train-size", "20"], run, "Expected `train_size`"),
        (TINY, tmp_path, "Expected --out to be a new or empty"),
        (TINY, file, "Expected --out to be a folder"),
        ([*own, "answer"], run, "column 'paid'; received '0%' and '1%'. --drop COLUMN"),
        ([*own, "anwser"], run, "Did you mean 'answer'?"),
        ([*own, "answer", "--drop", "paid", "--algorithms", "cnn_bayes"], run, "Expected images"),
        ([*own, "answer", "--drop", "paid", "--algorithms", "csosr"], run, "keeps neither colum"),
    ):
        assert main([*arguments, "--out", str(out)]) == 2
        error = capsys.readouterr().err
        assert told in error and len(error.splitlines()) == 1 and not run.exists()
    assert file.read_text() == "precious"


class TestOwnData:
    ARGUMENTS = "--label answer --drop id,price_no,price_yes --epochs 1 --jobs 1".split()

    def compare(self, tmp_path, path, *arguments):
        out = tmp_path / "run"
        return main(["compare", "--data", str(path), *arguments, "--out", str(out)]), out

    def test_a_table(self, tmp_path, capsys):
        costs = tmp_path / "costs.csv"
        costs.write_text(",yes,no\nyes,0,9\nno,2,0\n")
        arguments = [*self.ARGUMENTS, "--cost-matrix", str(costs), "--algorithms", "dnn_sosr"]
        status, out = self.compare(tmp_path, table(tmp_path), *arguments)
        printed = capsys.readouterr().out
        assert status == 0 and names(out) == FILES
        assert "36 training, 12 validation and 12 test examples of 2 labels (no 40, yes" in printed
        assert printed.index("Costs of decisions") < printed.index("average cost")
        exec(printed[printed.index("import keras") :], {})
        assert {*re.findall(r"\w+", capsys.readouterr().out)} <= {"no", "yes"}
        (record,) = json.loads((out / "run.json").read_text())["runs"]
        assert record["arguments"]["drop"] == ["id", "price_no", "price_yes"]
        assert record["arguments"]["dataset"] is None
        assert record["data"]["columns"] == ["age", "job", "member"]
        assert record["data"]["split"] == {"train": 36, "val": 12, "test": 12}
        assert record["data"]["labels"] == ["no", "yes"]

    def test_costs_of_examples(self, tmp_path, capsys):
        path = table(tmp_path, ".parquet")
        arguments = "--label answer --drop id --jobs 1 --epochs 1 --algorithms dnn_sosr".split()
        prices = ["--cost-columns", "price_no", "--cost-columns", "price_yes"]
        status, out = self.compare(tmp_path, path, *arguments, *prices)
        assert status == 0 and "Mean costs of decisions" in capsys.readouterr().out
        model = keras.saving.load_model(out / "best_model.keras")
        data = load(path, drop=["id"], cost_columns=["price_no", "price_yes"])
        paid = data.costs["test"][np.arange(12), csdl.decide(model, data.x["test"].rows)]
        assert results(out).average_cost[0] == pytest.approx(paid.mean(), abs=1e-6)

    def test_what_the_screen_tells(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(csdl.Trainer, "train_all", lambda *_, **__: iter(()))
        costs = tmp_path / "costs.csv"
        costs.write_text(",no,yes,ask\nno,1,3,1\nyes,9,0,1\n")
        self.compare(tmp_path, table(tmp_path), *self.ARGUMENTS, "--cost-matrix", str(costs))
        printed = capsys.readouterr().out
        assert "1 of categories ('job')" in printed
        assert "Right decisions are not free" in printed
        (line,) = [it for it in printed.splitlines() if it.startswith("Left out")]
        assert "cnn_blind, cnn_bayes, cnn_sosr" in line and "dnn_sosr" in line
        assert "cost_model" not in line and "dnn_bayes" not in line
        folder = images(tmp_path / "pets")
        (folder / "cat" / "5.png").write_bytes(b"broken")
        self.compare(tmp_path / "b", folder, "--algorithms", "cnn_bayes", "--skip-broken")
        assert "5.png (broken)" in capsys.readouterr().out
