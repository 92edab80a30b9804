"""Commands that come to nothing leave no run in run.json; those that go on add one."""

import importlib
import json
import types

import keras
import pytest

import csdl_keras as csdl
from csdl_keras.experiments.run_folder import (
    append_record,
    read_run_records,
    remove_record,
)
from csdl_keras_cli.main import build_parser, main
from tests.experiments.grid_runs import TABLE2, train_all_with


def fail(*_, **__):
    raise ValueError("it fails")


def test_a_run_removes_its_own_record(tmp_path):
    """Another process may have added one after it."""
    arguments = build_parser().parse_args(["table1"])
    first, second = (append_record(tmp_path, arguments, {"numbers": (it,)}) for it in range(2))
    remove_record(tmp_path, first)
    assert [run["settings"] for run in read_run_records(tmp_path)] == [{"numbers": [1]}]
    remove_record(tmp_path, second)
    assert not (tmp_path / "run.json").exists()


def test_an_option_that_a_record_does_not_know_must_be_off(tmp_path):
    arguments = build_parser().parse_args(["table2"])
    append_record(tmp_path, arguments, {}, ())
    path = tmp_path / "run.json"
    record = json.loads(path.read_text())
    del record["runs"][0]["arguments"]["mixed_precision"]
    path.write_text(json.dumps(record))
    append_record(tmp_path, arguments, {}, ())
    arguments.mixed_precision = True
    with pytest.raises(ValueError, match="mixed_precision None, not True"):
        append_record(tmp_path, arguments, {}, ())


def test_what_the_record_says_of_the_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    append_record(tmp_path, build_parser().parse_args(["table1"]), {})
    (run,) = read_run_records(tmp_path)
    assert run["variables"]["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    assert run["machine"]["cores"] >= 1


def test_the_record_names_accelerators(tmp_path, monkeypatch):
    if keras.backend.backend() == "jax":
        found = [types.SimpleNamespace(device_kind="H100", platform="gpu")]
        monkeypatch.setattr("jax.devices", lambda: found)
    elif keras.backend.backend() == "torch":
        monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
        monkeypatch.setattr("torch.cuda.get_device_name", lambda index: "H100")
    else:
        config = "tensorflow.config"
        monkeypatch.setattr(f"{config}.list_physical_devices", lambda kind: ["gpu:0"])
        details = {"device_name": "H100"}
        monkeypatch.setattr(f"{config}.experimental.get_device_details", lambda _: details)
    append_record(tmp_path, build_parser().parse_args(["table1"]), {})
    (run,) = read_run_records(tmp_path)
    assert run["machine"]["accelerators"] == "H100"


def test_table2_without_its_workers(tmp_path, monkeypatch, capsys):
    module = importlib.import_module("csdl_keras.experiments.commands.table2")
    monkeypatch.setattr(module, "workers", fail)
    assert main([*TABLE2, "--out", str(tmp_path)]) == 2
    assert "it fails" in capsys.readouterr().err
    assert not (tmp_path / "run.json").exists()


def test_table2_of_which_all_fails(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(csdl.Trainer, "train_all", train_all_with(fail))
    assert main([*TABLE2, "--out", str(tmp_path)]) == 1
    assert "it fails" in capsys.readouterr().err
    assert not (tmp_path / "run.json").exists()
