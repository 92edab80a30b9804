"""run.json holds values of their types."""

import argparse
import json
import pathlib

from csdl_keras_cli.run_folder import RunRecord


def written(folder):
    return json.loads((folder / "run.json").read_text())["runs"]


def test_an_argument_is_a_value_of_its_type(tmp_path):
    values = {"none": None, "no": False, "size": 343, "rate": 0.7, "text": "5", "list": ["a,b"]}
    path = pathlib.Path("data") / "it is.csv"
    RunRecord(tmp_path, argparse.Namespace(**values, pair=(24, 32), path=path), {}, {})
    kept = values | {"pair": [24, 32], "path": "data/it is.csv"}
    assert repr(written(tmp_path)[0]["arguments"]) == repr(kept)


def test_a_continued_folder_keeps_the_records_before(tmp_path):
    for number in range(2):
        RunRecord(tmp_path, argparse.Namespace(), {"n": number}, {})
    assert [run["settings"]["n"] for run in written(tmp_path)] == [0, 1]
