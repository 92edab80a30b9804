"""Options of commands that go on in a folder: refused if they change what is there, or harmless."""

import json
import shutil

import keras
import pytest

from csdl_keras.experiments.commands.table2 import HARMLESS
from csdl_keras.experiments.grid import Grid
from csdl_keras_cli.main import build_parser, main
from tests.experiments.grid_runs import SHORT, TABLE2, Recorder, make_grid, read

#: A change of each option that makes other results of the same rows.
IDENTITY = {
    "profile": ["--profile", "small"],
    "train_size": ["--train-size", "400"],
    "epochs": ["--epochs", "2"],
    "seed": ["--seed", "1"],
    "hard_hinge": ["--hard-hinge"],
    "mixed_precision": ["--mixed-precision"],
    "tied_weights": ["--tied-weights"],
    "grayscale": ["--grayscale"],
    "authors_choices": ["--authors-choices"],
    "drop_rate": ["--drop-rate", "0.9"],
    "cost_factor": ["--cost-factor", "2000"],
    "cnn_variant": ["--cnn-variant", "full"],
}


@pytest.fixture
def folder(table2, tmp_path, monkeypatch):
    """A copy of the finished folder, to be changed."""
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(table2, tmp_path / "copy")


@pytest.fixture
def refused(monkeypatch, capsys):
    """A function that expects a command to be refused, and no file to change; its message."""
    monkeypatch.setattr(Grid, "run", None)

    def contents(folder):
        files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
        return {path: path.read_bytes() for path in files}

    def refused(folder, arguments):
        before = contents(folder)
        assert main([*arguments, "--out", str(folder)]) == 2
        assert contents(folder) == before
        message = capsys.readouterr().err
        assert len(message.splitlines()) == 1 and str(folder) in message
        return message

    return refused


def test_each_option_is_in_one_of_the_lists():
    commands = next(it for it in build_parser()._actions if it.dest == "command")
    options = {it.dest for it in commands.choices["table2"]._actions} - {"help"}
    assert {*IDENTITY, *HARMLESS} == options and not IDENTITY.keys() & {*HARMLESS}


class TestTable2:
    def test_another_experiment_is_refused(self, folder, refused):
        for name, change in IDENTITY.items():
            message = refused(folder, [*TABLE2, *change])
            expected = "Expected --out to be a new folder or that of a run with the same options"
            assert expected in message and f" {name} " in message
        (run,) = json.loads((folder / "run.json").read_text())["runs"]
        (folder / "run.json").write_text(json.dumps({"runs": [run | {"backend": "another"}]}))
        assert f"backend another, not {keras.backend.backend()}" in refused(folder, TABLE2)
        (folder / "run.json").write_text('{"arguments": {"command": "compare"}}')
        assert "command compare, not table2" in refused(folder, TABLE2)
        (folder / "run.json").unlink()
        assert "run.json that says what made its results" in refused(folder, TABLE2)

    def test_in_python_matrices_of_another_kind_are_refused(self, folder):
        before = read(folder)
        grid, watcher = make_grid(folder, SHORT, cost_scale=2000.0), Recorder()
        [line] = grid.run(watcher).lines()
        assert "'matrix_1000' is another one" in line and watcher.ran == []
        assert read(folder) == before
