"""run.json holds values of their types and the data of the run; older ones count as before."""

import argparse
import json
import pathlib
import shlex

import keras
import pytest

from csdl_keras.experiments.asked_profile import AUTHORS_OPTIONS
from csdl_keras.experiments.commands.table2 import HARMLESS
from csdl_keras.experiments.reporting.record_text import setting
from csdl_keras.experiments.reporting.table import read_table
from csdl_keras.experiments.run_folder import append_record, read_run_records, write_record
from csdl_keras_cli.main import build_parser
from tests.support.fresh_process import REPOSITORY

RESULTS = REPOSITORY / "notebooks" / "results"


def written(folder, arguments, data=None):
    write_record(folder, arguments, {}, data or {})
    return json.loads((folder / "run.json").read_text())


@pytest.mark.parametrize(
    "value, kept",
    [
        (None, None),
        (False, False),
        (True, True),
        (0, 0),
        (343, 343),
        (0.7, 0.7),
        ("None", "None"),
        ("5", "5"),
        ([], []),
        (["claim_id"], ["claim_id"]),
        (["a,b", "c"], ["a,b", "c"]),
        (("dnn_bayes",), ["dnn_bayes"]),
        ((24, 32), [24, 32]),
        (pathlib.Path("data") / "it is.csv", "data/it is.csv"),
    ],
)
def test_an_argument_is_a_value_of_its_type(tmp_path, value, kept):
    found = written(tmp_path, argparse.Namespace(option=value))["arguments"]["option"]
    assert found == kept and type(found) is type(kept)
    append_record(tmp_path / "runs", argparse.Namespace(option=value), {}, ())
    # The same command goes on.
    append_record(tmp_path / "runs", argparse.Namespace(option=value), {}, ())


def arguments_of(text):
    return build_parser().parse_args(shlex.split(text))


@pytest.mark.parametrize("name", ["authors", "fair", "paper", "small"])
def test_runs_of_older_records_go_on(tmp_path, name):
    """Values were text: the same command goes on, and another one is told."""
    own = {"backend": keras.backend.backend()}
    records = [run | own for run in read_run_records(RESULTS / name)]
    assert all(type(it) is str for run in records for it in run["arguments"].values())
    distinct = {json.dumps(run["arguments"], sort_keys=True): run for run in records}
    for number, run in enumerate(distinct.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "run.json").write_text(json.dumps({"runs": [run]}))
        arguments = arguments_of(run["command"].removeprefix("csdl-keras "))
        if arguments.authors_choices:
            vars(arguments).update(AUTHORS_OPTIONS)
        append_record(folder, arguments, {}, HARMLESS)
        assert len(read_run_records(folder)) == 2
    for option, value in {"seed": 7, "drop_rate": 0.5, "train_size": 9, "epochs": 3}.items():
        other = argparse.Namespace(**vars(arguments) | {option: value})
        with pytest.raises(ValueError, match=f"{option} .*, not {value}"):
            append_record(folder, other, {}, HARMLESS)


@pytest.mark.parametrize("in_half", [True, "True"])
def test_the_report_reads_both(in_half):
    record = {"backend": "jax", "machine": {}}
    runs = [record, record | {"arguments": {"mixed_precision": in_half}}]
    told = setting(read_table(RESULTS / "mnist_5k"), [], runs)
    assert "computed in 2 ways: jax on the processor, jax in bfloat16 on the processor" in told
