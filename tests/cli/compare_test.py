"""The command `csdl-keras compare`, run within the process."""

import contextlib
import io
import json
import pathlib
import re

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.training.algorithms import ALGORITHMS
from csdl_keras_cli import comparison
from csdl_keras_cli.main import main
from tests.cli.own_files import FRAME, ROWS, images, load, save, table
from tests.cli.runs import constant_model, fails_at, names, results, train_all_with
from tests.support.fresh_process import run_python

TINY = "compare --dataset digits --epochs 1 --train-size 343 --jobs 1".split()
FILES = {"results.csv", "costs.png", "best_model.keras", "run.json"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder and the output of a run of two algorithms with two matrices."""
    folder, output = tmp_path_factory.mktemp("runs") / "new" / "run", io.StringIO()
    arguments = ["--algorithms", "dnn_blind, dnn_bayes", "--cost-seeds", "2", "--imbalanced"]
    with contextlib.redirect_stdout(output):
        assert main([*TINY, *arguments, "--out", str(folder)]) == 0
    return folder, output.getvalue()


class TestRun:
    def test_files(self, finished):
        assert names(finished[0]) == FILES
        record = json.loads((finished[0] / "run.json").read_text())
        assert record["settings"]["mlp"]["epochs"] == 1
        assert record["arguments"]["train_size"] == 343
        assert record["versions"]["keras"] == keras.__version__
        assert {*record["findings"]["savings"]} == {"dnn_blind", "dnn_bayes"}

    def test_rows_are_those_of_a_trainer(self, finished):
        rows = results(finished[0])
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

    def test_the_printed_python_runs(self, finished):
        lines = finished[1].splitlines()
        data = csdl.datasets.load("digits")
        model = keras.saving.load_model(finished[0] / "best_model.keras")
        expected = f"{csdl.decide(model, data.x_test[:10])} {data.y_test[:10]}"
        code = "\n".join(lines[lines.index("import keras") :])
        assert expected in run_python(code)


def run_made(folder, make, *arguments):
    """Runs the command on models that no training made; its status."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csdl.Trainer, "train_all", train_all_with(make))
        return main([*TINY, "--cost-seeds", "1", *arguments, "--out", str(folder)])


BOTH = ["--algorithms", "dnn_blind,dnn_bayes"]


class TestModel:
    @pytest.mark.parametrize("best", [0, 1, 2])
    def test_the_best_one_has_the_lowest_validation_cost(self, best, tmp_path, capsys):
        data = csdl.datasets.load("digits", train_size=343)
        matrix = csdl.costs.randomized_proportional(data.y_train_val, seed=1000)
        lowest, *decisions = np.argsort(matrix[data.y_val].mean(axis=0))[:3].tolist()
        decisions.insert(best, lowest)
        made = dict(zip(("dnn_blind", "dnn_bayes", "dnn_sosr"), decisions, strict=True))
        algorithms = ["--algorithms", ",".join(made)]
        assert run_made(tmp_path, lambda name: constant_model(made[name]), *algorithms) == 0
        costs = matrix[data.y_val].mean(axis=0)[decisions]
        np.testing.assert_allclose(results(tmp_path).validation_cost, costs)
        model = keras.saving.load_model(tmp_path / "best_model.keras")
        assert {*csdl.decide(model, data.x_test)} == {lowest}
        assert f"is {[*made][best]} (" in capsys.readouterr().out.replace("\n", " ")

    def test_over_matrices_of_different_costs(self, tmp_path, capsys):
        """Costs count relative to the best constant decision of their matrix."""
        data = load(train_size=343)
        means = {seed: data.matrix_of(seed)[data.y["val"]].mean(axis=0) for seed in (1000, 1001)}
        cheap, dear = sorted(means, key=lambda seed: means[seed].min())
        decision = int(means[dear].argmin())
        assert means[cheap][decision] > means[cheap].min()
        arguments = ["--algorithms", "dnn_blind", "--cost-seeds", "2"]
        assert run_made(tmp_path, lambda _: constant_model(decision), *arguments) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert f"for the cost matrix of seed {dear}, which has the lowest validation cost" in told


def fail(name):
    raise RuntimeError("it fails")


class TestFailures:
    @pytest.mark.parametrize(
        "name, part",
        [
            ("plot_costs", "costs.png"),
            ("summary_text", "the table"),
            ("save_model", "the model of digits dnn_blind for matrix 1000"),
            ("savings_of", "digits dnn_blind for matrix 1000"),
        ],
    )
    def test_a_step_costs_no_other(self, name, part, tmp_path, monkeypatch, capsys):
        broken = fails_at(getattr(comparison, name), 1, RuntimeError("broken"))
        monkeypatch.setattr(comparison, name, broken)
        made = {"dnn_blind": 3, "dnn_bayes": 0}
        assert run_made(tmp_path, lambda name: constant_model(made[name]), *BOTH) == 1
        output, told = capsys.readouterr()
        assert told == f"csdl-keras: {part} failed: RuntimeError: broken\n"
        assert names(tmp_path) == FILES - {part}
        assert len(results(tmp_path)) == 2
        assert ("average test cost" in output) == (name != "summary_text")
        assert "keras.saving.load_model" in output

    def test_an_algorithm_that_fails(self, tmp_path, capsys):
        made = {"dnn_bayes": constant_model(0)}
        assert run_made(tmp_path, lambda name: made[name], *BOTH) == 1
        assert "digits dnn_blind for matrix 1000 failed: KeyError" in capsys.readouterr().err
        assert list(results(tmp_path).algorithm) == ["dnn_bayes"]

    def test_a_run_without_results_leaves_no_record(self, tmp_path, capsys):
        assert run_made(tmp_path, fail, *BOTH) == 1
        assert "it fails" in capsys.readouterr().err and names(tmp_path) == set()

    def test_ctrl_c_keeps_what_is_done(self, tmp_path, capsys):
        def interrupt(name):
            if name == "dnn_bayes":
                raise KeyboardInterrupt
            return constant_model(0)

        assert run_made(tmp_path, interrupt, *BOTH) == 130
        assert list(results(tmp_path).algorithm) == ["dnn_blind"]
        assert (tmp_path / "best_model.keras").exists()
        assert "Interrupted after 1 of 2 rows" in capsys.readouterr().out


def test_a_kernel_machine_is_loaded_by_the_printed_lines(tmp_path, capsys):
    arguments = ["--algorithms", "csosr", "--cost-seeds", "1", "--out", str(tmp_path)]
    assert main([*TINY, *arguments]) == 0
    printed = capsys.readouterr().out
    assert "csdl.baselines.CSOSR.load" in printed and (tmp_path / "best_model.npz").exists()
    exec(printed[printed.index("import csdl_keras") :], {})


class TestRefusals:
    """Nothing is trained."""

    @pytest.fixture(autouse=True)
    def untrained(self, monkeypatch):
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
        assert all(words in message for words in told) and not (tmp_path / "run").exists()

    def test_folders(self, tmp_path, capsys):
        file = tmp_path / "results.csv"
        file.write_text("precious")
        for folder, words in ((tmp_path, "new or empty"), (file, ""), (file / "run", "")):
            assert main([*TINY, "--out", str(folder)]) == 2
            assert f"Expected --out to be a {words}".strip() in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == [file] and file.read_text() == "precious"

    def test_algorithms_and_numbers(self, capsys):
        pairs = {"--cost-seeds": "0", "--epochs": "two", "--seed": "-1", "--algorithms": "dnn"}
        for option, value in (*pairs.items(), ("--seed", str(2**32))):
            with pytest.raises(SystemExit, match="2"):
                main(["compare", option, value])
            message = capsys.readouterr().err
            assert option in message and repr(value) in message
        with pytest.raises(SystemExit, match="0"):
            main(["compare", "--help"])
        printed = capsys.readouterr().out
        assert all(words in printed for words in ALGORITHMS)

    def test_own_data(self, tmp_path, capsys):
        path = save(FRAME.assign(paid=[f"{i}%" for i in range(ROWS)]), tmp_path / "table.csv")
        arguments = ["compare", "--data", str(path), "--out", str(tmp_path / "run"), "--label"]
        for own, told in (
            (["answer"], "column 'paid'; received '0%' and '1%'. --drop COLUMN"),
            (["anwser"], "Did you mean 'answer'?"),
            (["answer", "--drop", "paid", "--algorithms", "cnn_bayes"], "Expected images for"),
            (["answer", "--drop", "paid", "--algorithms", "csosr"], "keeps neither columns nor"),
        ):
            assert main([*arguments, *own]) == 2
            error = capsys.readouterr().err
            assert told in error and len(error.splitlines()) == 1
            assert not (tmp_path / "run").exists()


class TestOwnData:
    ARGUMENTS = "--label answer --drop id,price_no,price_yes --epochs 1 --jobs 1".split()

    def compare(self, tmp_path, path, *arguments):
        out = tmp_path / "run"
        return main(["compare", "--data", str(path), *arguments, "--out", str(out)]), out

    @pytest.fixture
    def untrained(self, monkeypatch):
        monkeypatch.setattr(csdl.Trainer, "train_all", lambda *_, **__: iter(()))

    def test_a_table(self, tmp_path, capsys):
        costs = tmp_path / "costs.csv"
        costs.write_text(",yes,no\nyes,0,9\nno,2,0\n")
        arguments = [*self.ARGUMENTS, "--cost-matrix", str(costs)]
        status, out = self.compare(
            tmp_path, table(tmp_path), *arguments, "--algorithms", "dnn_bayes,dnn_sosr"
        )
        printed = capsys.readouterr().out
        assert status == 0 and names(out) == FILES
        assert "36 training (60%), 12 validation (20%) and 12 test (20%)" in printed
        assert printed.index("Costs of decisions") < printed.index("average cost")
        exec(printed[printed.index("import keras") :], {})
        assert {*re.findall(r"\w+", capsys.readouterr().out)} <= {"no", "yes"}
        record = json.loads((out / "run.json").read_text())
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

    def test_what_the_screen_tells(self, untrained, tmp_path, capsys):
        costs = tmp_path / "costs.csv"
        costs.write_text(",no,yes,ask\nno,1,3,1\nyes,9,0,1\n")
        frame = FRAME.assign(name=[f"customer {i}" for i in range(ROWS)])
        path = save(frame, tmp_path / "table.csv")
        self.compare(tmp_path, path, *self.ARGUMENTS, "--cost-matrix", str(costs))
        printed = capsys.readouterr().out
        assert "a category of their own in 'name': --drop" in printed
        assert "Right decisions are not free" in printed
        (line,) = [it for it in printed.splitlines() if it.startswith("Left out")]
        assert "cnn_blind, cnn_bayes, cnn_sosr" in line and "dnn_sosr" in line
        assert "cost_model" not in line and "dnn_bayes" not in line

    def test_broken_images(self, untrained, tmp_path, capsys):
        folder = images(tmp_path / "pets")
        (folder / "cat" / "5.png").write_bytes(b"broken")
        assert self.compare(tmp_path, folder, "--algorithms", "cnn_bayes")[0] == 2
        error = capsys.readouterr().err
        assert len(error.splitlines()) == 1 and "5.png" in error
        self.compare(tmp_path, folder, "--algorithms", "cnn_bayes", "--skip-broken")
        told = f"left out 1 other file, such as {pathlib.Path('cat') / '5.png'} (broken)"
        assert told in capsys.readouterr().out


def test_commands_that_need_no_optional_package():
    """The modules of all commands can be imported; what is missing is told when they run."""
    code = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(('pandas', 'matplotlib')))\n"
        "from csdl_keras_cli.main import main\n"
        "print(main(['compare', '--dataset', 'digits']))"
    )
    assert run_python(code).split() == ["2"]
