"""The command `csdl-keras tune`, run within the process, and its parts."""

import json
import shutil

import filelock
import joblib
import keras
import keras_tuner
import numpy as np
import pandas
import pytest

import csdl_keras as csdl
from csdl_keras import tuning
from csdl_keras.evaluation import CostDifference
from csdl_keras.tuning import Range
from csdl_keras_cli import search
from csdl_keras_cli.main import main
from csdl_keras_cli.spaces import SettingsHyperModel, parse_space
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
    quick = "tune --dataset digits --train-size 300 --algorithm csdnn --epochs 2 --tuner grid"
    quick = f"{quick} --depth 1 --units 8 --beta 0,0.25 --optimizer sgd --cost-matrix".split()
    quick.append(str(folder / "matrix.csv"))

    def tune(*arguments):
        return main([*quick, "--out", str(folder / "search"), *arguments])

    assert tune("--max-trials", "2") == 0
    tune.folder = folder / "search"
    return tune


def test_files(tune):
    trials = pandas.read_csv(tune.folder / "trials.csv")
    costs = [*trials.validation_cost]
    assert {*trials.trial} == {"default", "0", "1"} and costs == sorted(costs)
    assert [*trials.status] == ["COMPLETED"] * 3
    assert [*trials][:4] == ["trial", "status", "validation_cost", "seconds"]
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
    stages = {*(tune.folder / "stages").rglob("*.npz")}
    assert tune("--max-trials", "3") == 0
    printed = capsys.readouterr().out
    assert "The best of 3 trials" in printed
    after = pandas.read_csv(tune.folder / "trials.csv").set_index("trial").validation_cost
    assert len(after) == 4 and after[before.index].equals(before)
    # The third trial is trained, and perhaps pre-trained; nothing else is.
    assert 1 <= len({*(tune.folder / "stages").rglob("*.npz")} - stages) <= 2
    exec(printed[printed.index("import keras") :], {})  # the lines that load the model
    assert len(capsys.readouterr().out.splitlines()[-1].split()) == 10


def test_another_search_needs_another_folder(tune, capsys):
    for change in (["--epochs", "3"], ["--algorithm", "seae_sosr"], ["--seed", "5"]):
        assert tune(*change) == 2
        assert str(tune.folder) in capsys.readouterr().err
    with filelock.FileLock(tune.folder / "search_under_way.lock"):
        assert tune() == 2
    assert str(tune.folder) in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, told",
    [
        ("--beta 0,x", "--beta must be float values"),
        ("--algorithm dnn_sosr", "--beta 0,0.25 has no effect: dnn_sosr does not use it"),
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
        assert parse_space(name, text) == space
        return
    with pytest.raises(ValueError, match="--depth must be int values.*received"):
        parse_space(name, text)


def trials_of(*values):
    head = {"status": "COMPLETED", "seconds": 1.0}
    rows = [
        {"trial": str(i), "validation_cost": 0.5 + i, **head, **it} for i, it in enumerate(values)
    ]
    return pandas.DataFrame([*rows, {"trial": "default", "validation_cost": 20.5, **head}])


def test_the_table_has_the_best_trials(tmp_path):
    values = {"beta": 0.25, "pretraining_learning_rate": 1.25e-3, "optimizer": "adam"}
    done = [{**values, "depth": i, "momentum": i / 3} for i in range(9)]
    failed = {**values, "status": "FAILED", "validation_cost": None}
    head, trials, *rows = search.trials_text(trials_of(*done, failed)).splitlines()
    assert head == "The best of 10 trials (all are in trials.csv)"
    assert trials.split() == ["trial", "default", *"012345"]
    rows = {name: values for name, *values in map(str.split, rows)}
    assert [*rows][:2] == ["validation_cost", "seconds"] and {*values, "depth"} <= {*rows}
    assert rows["validation_cost"][:3] == ["20.5", "0.5", "1.5"]
    assert rows["momentum"][1] == "0.3333"
    single = trials_of({"beta": 0.25, "depth": 3})  # of which nothing varies
    search.plot_search(single, tmp_path / "nothing varies.png")


@pytest.mark.parametrize("name, file", [("plot_search", "search.png"), ("trials_text", "table")])
def test_a_step_that_fails_costs_no_other(name, file, tune, tmp_path, capsys, monkeypatch):
    ignored = shutil.ignore_patterns(*FILES)
    folder = shutil.copytree(tune.folder, tmp_path / "copy", ignore=ignored)
    monkeypatch.setattr(search, name, lambda *_: 1 / 0)
    assert tune("--out", str(folder), "--max-trials", "2") == 1
    assert f"{file} failed: ZeroDivisionError: division by zero\n" in capsys.readouterr().err
    assert names(folder) & FILES == FILES - {file}


def test_a_search_of_which_all_trials_fail(tune, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(SettingsHyperModel, "run", lambda *_, **__: 1 / 0)
    assert tune("--out", str(tmp_path), "--max-trials", "1") == 2
    printed = capsys.readouterr()
    assert "trial 0: failed ZeroDivisionError: division by zero\n" in printed.out
    assert "No trial succeeded" in printed.err


@pytest.mark.parametrize("name", ["run.json", "search.json"])
def test_a_damaged_file(name, tune, tmp_path, capsys):
    (path,) = shutil.copytree(tune.folder, tmp_path / "copy").rglob(name)
    path.write_bytes(path.read_bytes()[:9])
    assert tune("--out", str(tmp_path / "copy")) == 2
    error = capsys.readouterr().err
    assert str(tmp_path / "copy") in error and len(error.splitlines()) == 1


def test_own_data_with_costs_of_examples(tmp_path, capsys):
    arguments = ["tune", "--data", str(table(tmp_path)), "--label", "answer", "--max-trials", "1"]
    arguments += ["--epochs", "1", "--cost-columns", "price_no,price_yes"]
    assert main([*arguments, "--out", str(tmp_path / "search")]) == 0
    printed = capsys.readouterr().out
    assert "columns of numbers" in printed
    exec(printed[printed.index("import keras") :], {})
    assert "yes" in (told := capsys.readouterr().out) or "no" in told


def made(algorithm, given, shape=(90, 8, 8, 1)):
    trainer = csdl.Trainer(np.zeros(shape), np.arange(90) % 3, seed=0)
    algorithm = csdl.ALGORITHMS[algorithm]
    return SettingsHyperModel(algorithm, trainer, 1 - np.eye(3), given, train=None)


AUTO = {"learning_rate", "batch_size", "epochs"}
LAYERS = {"optimizer", "sgd_learning_rate", "adam_learning_rate", "depth", "units"}


@pytest.mark.parametrize(
    "algorithm, shape, searched",
    [
        ("calibrated_bayes", (90, 8, 8, 1), AUTO | {"filters", "label_smoothing"}),
        ("ensemble_bayes", (90, 5), AUTO | {"label_smoothing"}),
        ("cost_model", (90, 8, 8, 1), AUTO | {"filters"}),
        ("min", (90, 5), LAYERS),
        ("sdae_bayes", (90, 5), LAYERS | {"corruption", "pretraining_learning_rate"}),
        ("csdnn", (90, 5), LAYERS | {"beta", "corruption", "pretraining_learning_rate"}),
        ("cnn_weighted", (90, 8, 8, 1), {"optimizer", "sgd_learning_rate", "epochs"}),
        ("csosr", (90, 5), {"penalty", "gamma_factor"}),
    ],
)
def test_what_is_searched(algorithm, shape, searched, tmp_path):
    tuner = tuning.RandomSearch(made(algorithm, {}, shape), directory=tmp_path)
    assert {it.name for it in tuner.oracle.get_space().space} == searched


def test_settings_of_a_trial():
    given = {"depth": "2", "units": "7", "optimizer": "adam", "learning_rate": "0.5", "beta": "1"}
    settings = made("csdnn", given, (90, 5)).build(keras_tuner.HyperParameters())
    assert settings.mlp.hidden_units == (7, 7) and settings.pretraining.beta == 1.0
    assert (settings.mlp.optimizer_name, settings.mlp.learning_rate) == ("adam", 0.5)
    given = {"filters": "4", "epochs": "3"}
    body = made("calibrated_bayes", given).build(keras_tuner.HyperParameters()).auto
    assert (body.filters, body.epochs) == ((4, 8, 16, 32), 3)


@pytest.mark.parametrize(
    "difference, told, interval",
    [
        ((-0.5, -0.75, -0.25), "Tuning paid: on test examples trial 3 costs 0.5", "0.25 to 0.75"),
        ((-0.5, -1.5, 0.5), "Tuning did not pay: ", "-0.5 to 1.5, possibly by chance"),
        ((0.5, 0.25, 0.75), "Tuning did not pay: ", "-0.75 to -0.25"),
        ((0.0, -0.5, 0.5), "Tuning did not pay: ", "-0.5 to 0.5"),
    ],
)
def test_whether_tuning_paid(difference, told, interval):
    pair = CostDifference(*difference, p_value=0.1, ratio=1.0)
    text = search.verdict("3", pair, pair.cheaper)
    assert text.startswith(told) and f"of the saving {interval})." in text


def test_a_kernel_machine(tmp_path, capsys):
    """Beside its default and the best constant decision; the model of the lowest cost is kept."""
    run = "tune --dataset digits --train-size 300 --algorithm csosr --max-trials 2 --out".split()
    assert main([*run, str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    trials = pandas.read_csv(tmp_path / "trials.csv").set_index("trial").validation_cost
    cost = f"{trials['default']:.4g}, always 4 3.628)"
    assert f"trial 1: validation cost {trials['1']:.4g} (untuned {cost}" in printed
    assert "\nTuning " in printed and f"{tmp_path / 'best_model.joblib'} contains the " in printed
    data = csdl.datasets.load("digits", train_size=300, seed=0)
    record = json.loads((tmp_path / "run.json").read_text())["runs"][0]
    matrix = np.array(record["settings"]["cost_matrix"])
    model = joblib.load(tmp_path / "best_model.joblib")
    paid = matrix[data.y_val, model.decide(data.x_val)].mean()
    assert paid == pytest.approx(trials.min())
