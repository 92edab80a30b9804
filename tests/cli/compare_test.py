"""The command `csdl-keras compare`, run within the process."""

import json
import shlex

import joblib
import keras
import numpy as np
import pandas
import pytest

import csdl_keras as csdl
from csdl_keras_cli import baselines
from csdl_keras_cli.comparison import Comparison
from csdl_keras_cli.main import build_parser, main
from csdl_keras_cli.saved_model import load
from tests.cli.own_files import FRAME, ROWS, images, save
from tests.cli.runs import constant_model, names, only_networks, results, train_with
from tests.support.server import served

TINY = "compare --dataset digits --epochs 1 --train-size 343".split()
FILES = {"results.csv", "costs.png", "run.json"}
FOREST = ["logistic", "logistic_bayes", "forest", "forest_bayes"]
BOTH = ["--algorithms", "dnn_blind,dnn_bayes"]


def in_python(printed):
    """The printed lines that load the model and decide."""
    return printed[printed.index("In Python:\n") + 11 :]


def test_rows_are_those_of_a_trainer(tmp_path, capsys):
    arguments = ["--algorithms", "dnn_bayes, dnn_blind", "--cost-seeds", "2"]
    arguments += ["--dataset", "digits_imb"]
    assert main([*TINY, *arguments, "--out", str(tmp_path / "new" / "run")]) == 0
    printed, folder = capsys.readouterr().out, tmp_path / "new" / "run"
    (record,) = json.loads((folder / "run.json").read_text())["runs"]
    assert record["settings"]["mlp"]["epochs"] == 1 and record["arguments"]["train_size"] == 343
    rows = results(folder)
    order = ["always one decision", *FOREST, "dnn_blind", "dnn_bayes"]
    assert {*zip(rows.algorithm, rows.cost_seed, strict=True)} == {
        (name, seed) for name in order for seed in (1000, 1001)
    }
    assert [*dict.fromkeys(rows.algorithm)] == order
    data = csdl.datasets.load("digits", imbalanced=True, train_size=343)
    settings = csdl.Settings().limit_epochs(1)
    trainer = csdl.Trainer(
        data.x_train, data.y_train, (data.x_val, data.y_val), settings=settings, seed=0
    )
    for _, row in rows.iloc[[10, 13]].iterrows():
        matrix = csdl.costs.randomized_proportional(
            data.y_train_val, scale=10.0, seed=row.cost_seed
        )
        model = trainer.train(row.algorithm, matrix).model
        test, val = (csdl.decide(model, x) for x in (data.x_test, data.x_val))
        assert row.average_cost == pytest.approx(matrix[data.y_test, test].mean(), abs=1e-6)
        assert row.validation_cost == pytest.approx(matrix[data.y_val, val].mean(), abs=1e-6)
        assert row.error_rate == pytest.approx(np.mean(test != data.y_test), abs=1e-6)
        constant = matrix[data.y_test].mean(axis=0)
        assert row.constant_cost == pytest.approx(constant.min())
        assert row.constant_decision == constant.argmin()
        assert row.backend == keras.backend.backend()
        assert (row.dataset, row.imbalanced, row.seed, row.epochs) == ("digits", True, 0, 1)
    assert "means over 2 cost matrices" in printed and "for the cost matrix of seed 100" in printed
    # What is best differs with the machine; its lines load it.
    exec(in_python(printed), {})
    assert len(capsys.readouterr().out.split()) in (10, 11, 12)


def run_made(folder, make, *arguments):
    """Runs the command on networks that no training made; its status."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csdl.Trainer, "train", train_with(make))
        return main([*TINY, "--cost-seeds", "1", *arguments, "--out", str(folder)])


@pytest.mark.parametrize("best", [0, 1])
def test_the_best_model_has_the_lowest_validation_cost(best, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Comparison, "add_baseline", lambda *_: None)
    only_networks(monkeypatch)
    data = csdl.datasets.load("digits", train_size=343)
    matrix = csdl.costs.randomized_proportional(data.y_train_val, seed=1000, scale=10.0)
    lowest, other = np.argsort(matrix[data.y_val].mean(axis=0))[:2].tolist()
    made = {"dnn_blind": (lowest, other)[best], "dnn_bayes": (other, lowest)[best]}
    assert run_made(tmp_path, lambda name: constant_model(made[name]), *BOTH) == 0
    costs = matrix[data.y_val].mean(axis=0)[list(made.values())]
    np.testing.assert_allclose(results(tmp_path).validation_cost[1:], costs)
    assert names(tmp_path) == FILES | {"best_model.keras"}
    model = keras.saving.load_model(tmp_path / "best_model.keras")
    assert {*csdl.decide(model, data.x_test)} == {lowest}
    printed = capsys.readouterr().out
    assert f"{[*made][best]} has the lowest validation cost. It is saved in {tmp_path}" in printed
    exec(in_python(printed), {})
    assert capsys.readouterr().out == f"{np.full(10, lowest)}\n"


@pytest.mark.parametrize(
    ("owner", "name", "parts"),
    [
        (Comparison, "plot", ["costs.png"]),
        (joblib, "dump", ["the model of logistic_bayes", "the model of forest_bayes"]),
        (csdl.Trainer, "train", ["dnn_blind", "dnn_bayes"]),
        (baselines, "baseline", ["logistic", "forest"]),
    ],
)
def test_a_step_that_fails_costs_no_other(owner, name, parts, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(csdl.Trainer, "train", train_with(lambda name: constant_model(3)))
    monkeypatch.setattr(owner, name, lambda *_, **__: 1 / 0)
    assert main([*TINY, *BOTH, "--out", str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    told = [it.split(" failed: ") for it in printed.splitlines() if " failed: " in it]
    assert {*dict(told).values()} == {"ZeroDivisionError: division by zero"}
    assert {it for it in dict(told) if not it.startswith("the model of")} <= {*parts}
    failed = {*parts} & {*FOREST, "dnn_blind", "dnn_bayes"}
    kept = {*FOREST, "dnn_blind", "dnn_bayes"} - failed
    kept -= {f"{it}_bayes" for it in failed}
    assert {*results(tmp_path).algorithm[1:]} == kept
    models = {it for it in names(tmp_path) if it.startswith("best_model")}
    assert names(tmp_path) - models == FILES - {*parts} and len(models) == (owner is not joblib)
    assert "average cost of 540 test examples" in printed


def test_ctrl_c_leaves_what_is_done(tmp_path, capsys):
    def interrupt(name):
        if name == "dnn_bayes":
            raise KeyboardInterrupt
        return constant_model(0)

    assert run_made(tmp_path, interrupt, *BOTH) == 130
    assert [*results(tmp_path).algorithm[1:]] == [*FOREST, "dnn_blind"]
    assert names(tmp_path) == FILES | {"best_model.joblib"}
    assert "Interrupted after 5 rows." in capsys.readouterr().out
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Comparison, "add_baseline", lambda *_: interrupt("dnn_bayes"))
        assert run_made(tmp_path / "early", interrupt, *BOTH) == 130
    assert names(tmp_path / "early") == {"results.csv"}


def test_what_is_wrong_is_told_before_training(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Comparison, "run", None)
    file, run = tmp_path / "results.csv", tmp_path / "run"
    file.write_text("precious")
    path = save(FRAME.assign(paid=[f"{i}%" for i in range(ROWS)]), tmp_path / "table.csv")
    own = ["compare", "--data", str(path), "--label"]
    for arguments, out, told in (
        ([*TINY, "--train-size", "20"], run, "Expected `train_size`"),
        (TINY, tmp_path, f"--out {tmp_path} is not empty"),
        (TINY, file, f"--out {file} is not a writable folder"),
        ([*own, "answer"], run, "looks like numbers, such as '0%' and '1%'. Use --drop COLUMN"),
        ([*own, "answer", "--drop", "paid", "--algorithms", "csosr"], run, "neither tables nor"),
    ):
        assert main([*arguments, "--out", str(out)]) == 2
        error = capsys.readouterr().err
        assert told in error and len(error.splitlines()) == 1 and not run.exists()
    assert file.read_text() == "precious"


class TestOwnData:
    SIZE = np.r_[np.arange(60), np.arange(60, 0, -1)] / 10
    FRAME = pandas.DataFrame(
        {
            "id": range(120),
            "when": [f"2026-{1 + i // 28:02}-{1 + i % 28:02}" for i in range(120)],
            "size": np.where(SIZE == 2, np.nan, SIZE),
            "job": np.where(SIZE > 4, "baker", None),
            "decided": np.where(np.arange(120) % 5 == 0, "no", "yes"),
            "amount": np.arange(120) % 7 + 5.0,
            "answer": np.where(SIZE > 3, "yes", "no"),
        }
    )
    COSTS = ["--cost", "decide=no,label=yes: amount", "--cost", "decide=yes,label=no: 5"]

    def compare(self, tmp_path, *arguments, path=None):
        path = path or save(self.FRAME, tmp_path / "my table.csv")
        out, own = tmp_path / "run", ["--label", "answer", "--drop", "id"]
        own = own if path.is_file() else []
        return main(["compare", "--data", str(path), *own, *arguments, "--out", str(out)]), out

    @pytest.mark.parametrize("known", [False, True])
    @pytest.mark.parametrize("best", ["scikit-learn", "network"])
    def test_the_printed_lines_decide(self, best, known, tmp_path, monkeypatch, capsys):
        network = ["--algorithms", "dnn_bayes", "--epochs", "1"]
        if best == "scikit-learn":
            monkeypatch.setattr(Comparison, "add_algorithms", lambda *_: None)
        else:
            monkeypatch.setattr(Comparison, "add_baseline", lambda *_: None)
            only_networks(monkeypatch)
        (tmp_path / "costs.csv").write_text(",yes,no\nyes,0,9\nno,2,0\n")
        costs = self.COSTS if known else ["--cost-matrix", str(tmp_path / "costs.csv")]
        status, out = self.compare(tmp_path, *costs, *network)
        printed = capsys.readouterr().out
        assert status == 0
        (path,) = out.glob("best_model.*")
        assert path.suffix == (".joblib" if best == "scikit-learn" else ".keras")
        exec(in_python(printed), {})
        told = capsys.readouterr().out
        rows = self.FRAME[:10]
        if best == "scikit-learn":
            decided = joblib.load(path).predict(rows)
        else:
            matrix = np.array([[[0, 5], [it, 0]] for it in rows["amount"]]) if known else None
            model = keras.saving.load_model(path)
            decided = csdl.decide(model, rows, costs=matrix, labels=True)
        assert told == f"{decided}\n" and {*decided} <= {"no", "yes"}
        monkeypatch.chdir(tmp_path)
        lines = [shlex.split(it) for it in printed.splitlines() if it.startswith("csdl-keras ")]
        decide, serve = lines
        assert main(decide[1:]) == 0
        assert [*pandas.read_csv("decisions.csv")["decision"][:10]] == [*decided]
        rows = json.loads(rows.drop(columns=["id", "answer"]).to_json(orient="records"))
        with served(load(build_parser().parse_args(serve[1:]).model)) as client:
            answer = client.post("/decide", json={"rows": rows}).json()
        assert answer["decisions"] == [*decided]
        table = printed[printed.index("my table: average cost") :].splitlines()
        assert any(it.startswith("always ") for it in table)

    def test_what_the_screen_and_the_record_tell(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(Comparison, "add_algorithms", lambda *_: None)
        (tmp_path / "costs.csv").write_text(",no,yes,ask\nno,1,3,1\nyes,9,0,1\n")
        options = ["--cost-matrix", str(tmp_path / "costs.csv"), "--today", "decided"]
        status, out = self.compare(tmp_path, *options, "--split-by", "when")
        printed = capsys.readouterr().out
        assert status == 0 and "Right decisions are not free" in printed
        for told in (
            "my table: 120 examples, 2 columns of numbers, 1 of categories (job), 1 of dates (when",
            "2 labels: no 50.8%, yes 49.2%.",
            "Split: 72 training, 24 validation, 24 test examples, the latest by 'when' in the te",
            "Your present decisions (--today) are compared too.",
            "true label  no  yes  ask\nno           1    3    1\nyes          9    0    1\n",
            "Comparing logistic, boosting, calibrated_bayes; results in",
        ):
            assert told in printed
        assert [*results(out).algorithm] == [
            *("always no", "today", "logistic", "logistic_bayes", "boosting", "boosting_bayes")
        ]
        (record,) = json.loads((out / "run.json").read_text())["runs"]
        assert record["arguments"]["drop"] == ["id"] and record["arguments"]["dataset"] is None
        assert record["data"]["columns"] == ["when", "size", "job", "amount"]
        assert record["data"]["split"] == {"train": 72, "val": 24, "test": 24}
        assert record["data"]["labels"] == ["no", "yes"]
        found = record["findings"]
        assert found["best"] in printed and found["sentence"] in " ".join(printed.split())

    def test_costs_of_examples(self, tmp_path, monkeypatch, capsys):
        """Columns of gains and costs, unknown when deciding."""
        monkeypatch.setattr(Comparison, "add_algorithms", lambda *_: None)
        wrong = self.FRAME["amount"]
        yes = self.FRAME["answer"] == "yes"
        frame = self.FRAME.assign(no=np.where(yes, wrong, -1), yes=np.where(yes, -1, wrong / 5))
        path = save(frame, tmp_path / "table.parquet")
        status, out = self.compare(tmp_path, "--cost-columns", "no,yes", path=path)
        printed = capsys.readouterr().out
        assert status == 0 and "Mean costs of decisions" in printed
        assert "Comparing logistic, boosting, calibrated_bayes, cost_model; res" in printed
        test = csdl.datasets.split(frame["answer"])["test"]
        model = joblib.load(out / "best_model.joblib")
        prices = frame[["no", "yes"]].to_numpy()[test] + 1
        paid = prices[np.arange(len(test)), model.decide(frame.iloc[test])].mean()
        rows = results(out).set_index("algorithm")
        best = rows.validation_cost.idxmin()
        assert rows.average_cost[best] == pytest.approx(paid)

    def test_images(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(Comparison, "add_algorithms", lambda *_: None)
        folder = images(tmp_path / "pets")
        (folder / "cat" / "5.png").write_bytes(b"broken")
        status, out = self.compare(tmp_path, "--skip-broken", path=folder)
        printed = capsys.readouterr().out
        assert status == 0 and "left out 1, such as cat/5.png (broken)" in printed
        assert {*FOREST} < {*results(out).algorithm}
        exec(in_python(printed), {})
        assert capsys.readouterr().out in ("['cat']\n", "['dog']\n")
