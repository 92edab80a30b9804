"""The command `csdl-keras tune`, run within the process, and its parts."""

import json
import shutil

import keras
import numpy as np
import pandas
import pytest

import csdl_keras as csdl
from csdl_keras.tuning import Range
from csdl_keras.tuning.resumable import search_lock
from csdl_keras_cli import search
from csdl_keras_cli.main import main
from tests.cli.own_files import table
from tests.cli.runs import names

C = 1.0 - np.eye(10)
C[3, 5] = 7.0
FILES = {"trials.csv", "search.png", "best_model.keras"}


@pytest.fixture(scope="module")
def tune(tmp_path_factory):
    """A function that runs the command in the folder of a search of two trials; its status."""
    folder = tmp_path_factory.mktemp("runs")
    np.savetxt(folder / "matrix.csv", C, delimiter=",")
    quick = "tune --dataset digits --train-size 300 --epochs 2 --depth 1 --units 8 --tuner grid"
    quick = f"{quick} --pretraining-epochs 1 --beta 0,0.25 --optimizer sgd --cost-matrix".split()
    quick.append(str(folder / "matrix.csv"))

    def tune(*arguments):
        return main([*quick, "--out", str(folder / "search"), *arguments])

    assert tune("--max-trials", "2") == 0
    tune.folder = folder / "search"
    return tune


def test_files(tune):
    trials = pandas.read_csv(tune.folder / "trials.csv")
    costs = [*trials.validation_cost]
    assert [*trials.status] == ["COMPLETED"] * 2 and costs == sorted(costs)
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
def test_more_trials_go_on_from_there(tune, capsys):
    before = pandas.read_csv(tune.folder / "trials.csv").set_index("trial").validation_cost
    stages = len(list((tune.folder / "stages").rglob("*.npz")))
    assert tune("--max-trials", "3") == 0
    printed = capsys.readouterr().out
    assert "The best of 3 trials" in printed
    after = pandas.read_csv(tune.folder / "trials.csv").set_index("trial").validation_cost
    assert len(after) == 3 and after[before.index].equals(before)
    assert stages <= len(list((tune.folder / "stages").rglob("*.npz"))) <= stages + 1
    exec(printed[printed.index("import keras") :], {})  # the lines that load the model
    decided, labels = capsys.readouterr().out.splitlines()[-1].split("] [")
    assert len(decided.split()) == len(labels.split()) == 10


def test_another_search_needs_another_folder(tune, capsys):
    for change in (["--epochs", "3"], ["--algorithm", "seae_sosr"], ["--seed", "5"]):
        assert tune(*change) == 2
        assert str(tune.folder) in capsys.readouterr().err
    with search_lock(tune.folder / "tune.lock"):
        assert tune() == 2
    assert (
        f"no other search under way; received one that has locked {tune.folder}"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "arguments, told",
    [
        ("--beta 0,x", "--beta as float values"),
        ("--algorithm dnn_sosr", "no --beta for dnn_sosr, which has no such value; received"),
    ],
)
def test_refuses(arguments, told, tune, tmp_path, capsys):
    assert tune("--out", str(tmp_path), *arguments.split()) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "run.json").exists()


@pytest.mark.parametrize(
    "name, text, space",
    [
        ("beta", "0, 0.25,1", [0.0, 0.25, 1.0]),
        ("depth", "1:5", Range(1, 5)),
        ("learning_rate", "0.01:1:log", Range(0.01, 1.0, sampling="log")),
        ("optimizer", "sgd, adam", ["sgd", "adam"]),
        *(("depth", text, None) for text in ["1.5", "1:", "1:2:log:3", "2:1"]),
    ],
)
def test_spaces(name, text, space):
    if space is not None:
        assert search.parse_space(name, text) == space
        return
    with pytest.raises(ValueError, match=r"Expected --depth as int values.*received"):
        search.parse_space(name, text)


def trials_of(*values):
    head = {"status": "COMPLETED", "best_epoch": 1}
    rows = [
        {"trial": str(i), "validation_cost": 0.5 + i, **head, **it} for i, it in enumerate(values)
    ]
    return pandas.DataFrame(rows).astype({"best_epoch": "Int64"})


def test_the_table_has_the_best_trials(tmp_path):
    values = {"beta": 0.25, "pretraining_learning_rate": 1.25e-3, "optimizer": "adam"}
    done = [{**values, "depth": i, "momentum": i / 3} for i in range(9)]
    failed = {**values, "status": "FAILED", "validation_cost": None, "best_epoch": None}
    head, trials, *rows, last = search.trials_text(trials_of(*done, failed)).splitlines()
    assert head == "The best of 10 trials" and last == "all trials: trials.csv"
    assert trials.split() == ["trial", *"012345"]
    assert [row.split()[0] for row in rows] == "validation_cost best_epoch depth momentum".split()
    assert rows[0].split()[1:3] == ["0.5", "1.5"] and rows[3].split()[2] == "0.3333"
    single = trials_of({"beta": 0.25, "depth": 3})  # of which nothing varies
    assert "beta" in (text := search.trials_text(single)) and "depth" in text
    search.plot_search(single, tmp_path / "nothing varies.png")


@pytest.mark.parametrize("name, file", [("plot_search", "search.png"), ("trials_text", "table")])
def test_a_step_that_fails_costs_no_other(name, file, tune, tmp_path, capsys, monkeypatch):
    ignored = shutil.ignore_patterns(*FILES)
    folder = shutil.copytree(tune.folder, tmp_path / "copy", ignore=ignored)
    monkeypatch.setattr(search, name, lambda *_: 1 / 0)
    assert tune("--out", str(folder), "--max-trials", "2") == 1
    assert f"{file} failed: ZeroDivisionError: division by zero\n" in capsys.readouterr().err
    assert names(folder) & FILES == FILES - {file}


@pytest.mark.parametrize("name", ["run.json", "search.json"])
def test_a_damaged_file(name, tune, tmp_path, capsys):
    (path,) = shutil.copytree(tune.folder, tmp_path / "copy").rglob(name)
    path.write_bytes(path.read_bytes()[:9])
    assert tune("--out", str(tmp_path / "copy")) == 2
    error = capsys.readouterr().err
    assert str(tmp_path / "copy") in error and len(error.splitlines()) == 1


def test_own_data_with_costs_of_examples(tmp_path, capsys):
    arguments = ["tune", "--data", str(table(tmp_path)), "--label", "answer", "--max-trials", "1"]
    arguments += "--epochs 1 --pretraining-epochs 1 --depth 1 --units 4 --cost-columns".split()
    arguments.append("price_no,price_yes")
    assert main([*arguments, "--out", str(tmp_path / "search")]) == 0
    printed = capsys.readouterr().out
    assert "columns of numbers" in printed
    exec(printed[printed.index("import keras") :], {})
    assert "yes" in (told := capsys.readouterr().out) or "no" in told
