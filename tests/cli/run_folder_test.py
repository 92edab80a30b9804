"""run.json holds values of their types, and runs that come to nothing leave none in it."""

import argparse
import json
import pathlib

import pytest

from csdl_keras import tuning
from csdl_keras_cli.data import data_record
from csdl_keras_cli.main import main
from csdl_keras_cli.run_folder import RunRecord
from tests.cli.own_files import images, load
from tests.cli.runs import TUNE


def written(folder):
    return json.loads((folder / "run.json").read_text())


def test_an_argument_is_a_value_of_its_type(tmp_path):
    values = {"none": None, "no": False, "size": 343, "rate": 0.7, "text": "5", "list": ["a,b"]}
    path = pathlib.Path("data") / "it is.csv"
    RunRecord(tmp_path, argparse.Namespace(**values, pair=(24, 32), path=path), {}, {})
    kept = values | {"pair": [24, 32], "path": "data/it is.csv"}
    assert repr(written(tmp_path)["arguments"]) == repr(kept)


def test_what_made_the_results(tmp_path):
    RunRecord(tmp_path, argparse.Namespace(), {"epochs": 3}, {}).add_findings({"warning": ""})
    record = written(tmp_path)
    assert record["versions"].keys() >= {"csdl_keras", "keras", "numpy", "python"}
    assert record["settings"] == {"epochs": 3} and record["findings"] == {"warning": ""}
    assert record["machine"]["cores"] >= 1 and "commit" in record


def test_a_continued_folder_keeps_the_records_before(tmp_path):
    for number in range(2):
        record = RunRecord(tmp_path, argparse.Namespace(), {"n": number}, {}, continued=True)
    assert [run["settings"]["n"] for run in written(tmp_path)["runs"]] == [0, 1]
    record.remove()
    assert [run["settings"]["n"] for run in written(tmp_path)["runs"]] == [0]


@pytest.mark.parametrize("kind", ["images", "named"])
def test_data_are_described(kind, tmp_path):
    if kind == "images":
        arguments = argparse.Namespace(data=images(tmp_path / "animals", mode="RGB"))
        found = data_record(arguments, load(arguments.data))
        assert (found["path"], found["rows"]) == (str(arguments.data), 10)
        assert (found["shape"], found["labels"]) == ((6, 4, 3), ("cat", "dog"))
    else:
        found = data_record(argparse.Namespace(data=None), load(train_size=100))
        assert (found["name"], found["rows"]) == ("digits", 640)
        assert found["labels"] == tuple(range(10))


def test_a_search_of_which_all_trials_fail(tmp_path, monkeypatch, capsys):
    def fail(*_, **__):
        raise ValueError("it fails")

    monkeypatch.setattr(tuning.CSDNNHyperModel, "network", fail)
    assert main([*TUNE, "--out", str(tmp_path)]) in (1, 2)
    assert "it fails" in capsys.readouterr().err
    assert not (tmp_path / "run.json").exists()


@pytest.mark.parametrize("command", ["compare", "tune"])
def test_refused_data(command, tmp_path, capsys):
    path, out = tmp_path / "table.csv", tmp_path / "run"
    path.write_text("x,y\n1,a\n2,b\n")
    assert main([command, "--data", str(path), "--label", "y", "--out", str(out)]) == 2
    assert "3 examples of each label" in capsys.readouterr().err
    assert not (out / "run.json").exists()
