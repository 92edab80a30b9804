"""Options of commands that go on in a folder: refused if they change what is there, or harmless."""

import csv
import shutil

import keras
import pytest

import csdl_keras as csdl
from csdl_keras.experiments.cli import build_parser, main
from csdl_keras.experiments.commands.table2 import HARMLESS
from csdl_keras.experiments.failures import Failures
from csdl_keras.experiments.grid import Grid

#: A change of each option that makes other results of the same rows.
IDENTITY = {
    "profile": ["--profile", "small"],
    "train_size": ["--train-size", "400"],
    "epochs": ["--epochs", "2"],
    "seed": ["--seed", "1"],
    "hard_hinge": ["--hard-hinge"],
    "tied_weights": ["--tied-weights"],
    "grayscale": ["--grayscale"],
    "drop_rate": ["--drop-rate", "0.9"],
    "cost_factor": ["--cost-factor", "2000"],
    "cnn_variant": ["--cnn-variant", "full"],
}
#: Changes of the others, after which all results that were there must be there.
ADDITIONS = {
    "datasets": [["--datasets", "digits_imb"]],
    "algorithms": [["--algorithms", "dnn_sosr"]],
    "cost_seeds": [["--cost-seeds", "3"], ["--cost-seeds", "1"]],
    "jobs": [["--jobs", "2"]],
    "cache": [["--cache", "elsewhere"]],
}
#: They name another folder, or other processes on the same folder; no run is compared.
ELSEWHERE = {"out", "scheduler"}
TABLE2 = ["table2", "--datasets", "digits", "--train-size", "343", "--epochs", "1"]
TABLE2 += ["--cost-seeds", "2", "--algorithms", "dnn_bayes,csdnn"]


def options(command):
    """The names of all options of a command."""
    commands = next(it for it in build_parser()._actions if it.dest == "command")
    return {it.dest for it in commands.choices[command]._actions if it.dest != "help"}


def contents(folder):
    """All files but locks, which hold nothing."""
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".lock" and path.name != ".lock"
    }


def rows(folder, name="results.csv"):
    with (folder / name).open(newline="") as file:
        found = list(csv.DictReader(file))
    return [{key: row[key] for key in row if key != "train_seconds"} for row in found]


def test_each_option_is_in_one_of_the_lists():
    lists = [set(IDENTITY), set(HARMLESS)]
    assert set.union(*lists) == options("table2")
    assert not set.intersection(*lists)
    assert set(ADDITIONS) | ELSEWHERE == set(HARMLESS)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    assert main([*TABLE2, "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def folder(finished, tmp_path, monkeypatch):
    """A copy of the finished folder, to be changed."""
    shutil.copytree(finished, tmp_path / "copy")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "copy"


class TestTable2:
    @pytest.mark.parametrize("name", IDENTITY)
    def test_another_experiment_is_refused(self, name, folder, capsys, monkeypatch):
        monkeypatch.setattr(Grid, "run", None)
        before = contents(folder)
        change = IDENTITY[name]
        # The option itself comes once, as in the command of a user.
        base = [*TABLE2]
        if change[0] in base:
            place = base.index(change[0])
            del base[place : place + 2]
        assert main([*base, *change, "--out", str(folder)]) == 2
        told = capsys.readouterr().err
        assert "Expected --out to be a new folder or that of a run with the same options" in told
        assert f" {name} " in told and str(folder) in told and len(told.splitlines()) == 1
        assert contents(folder) == before

    def test_another_backend_is_refused(self, folder, capsys, monkeypatch):
        monkeypatch.setattr(Grid, "run", None)
        monkeypatch.setattr(keras.backend, "backend", lambda: "another")
        assert main([*TABLE2, "--out", str(folder)]) == 2
        assert "not another" in capsys.readouterr().err

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "change", [change for many in ADDITIONS.values() for change in many], ids=" ".join
    )
    def test_what_is_there_stays(self, change, folder):
        before = {name: rows(folder, name) for name in ("results.csv", "choices.csv")}
        assert main([*TABLE2, *change, "--out", str(folder)]) == 0
        for name, there in before.items():
            after = rows(folder, name)
            assert all(row in after for row in there)
        assert main(["report", str(folder), "--out", str(folder / "report")]) == 0

    def test_results_without_a_record_are_refused(self, folder, capsys, monkeypatch):
        monkeypatch.setattr(Grid, "run", None)
        (folder / "run.json").unlink()
        before = contents(folder)
        assert main([*TABLE2, "--out", str(folder)]) == 2
        assert "run.json that says what made its results" in capsys.readouterr().err
        assert contents(folder) == before

    def test_a_folder_of_another_command_is_refused(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr(Grid, "run", lambda self, progress: Failures())
        folder = tmp_path / "compare"
        arguments = ["--train-size", "343", "--epochs", "1", "--algorithms", "csosr"]
        assert main(["compare", "--dataset", "digits", *arguments, "--out", str(folder)]) == 0
        before = contents(folder)
        capsys.readouterr()
        assert main([*TABLE2, "--out", str(folder)]) == 2
        assert "command compare, not table2" in capsys.readouterr().err
        assert contents(folder) == before

    def test_in_python_matrices_of_another_kind_are_refused(self, folder):
        from tests.experiments.grid_runs import SHORT, Recorder, make_grid

        before = contents(folder)
        grid = make_grid(folder, SHORT, cost_scale=2000.0)
        watcher = Recorder()
        [line] = grid.run(watcher).lines()
        assert "'matrix_1000' is another one" in line and watcher.ran == []
        assert contents(folder) == before


#: A change of each option of `compare`.
COMPARE = {
    "dataset": ["--dataset", "mnist_5k"],
    "algorithms": ["--algorithms", "dnn_blind"],
    "cost_seeds": ["--cost-seeds", "1"],
    "imbalanced": ["--imbalanced"],
    "train_size": ["--train-size", "400"],
    "epochs": ["--epochs", "2"],
    "seed": ["--seed", "1"],
    "jobs": ["--jobs", "1"],
}


class TestCompare:
    def test_no_option_is_left_out(self):
        assert set(COMPARE) | {"out"} == options("compare")

    @pytest.mark.parametrize("name", COMPARE)
    def test_a_folder_that_holds_anything_is_refused(self, name, folder, capsys, monkeypatch):
        monkeypatch.setattr(csdl.Trainer, "train_all", None)
        before = contents(folder)
        assert main(["compare", "--dataset", "digits", *COMPARE[name], "--out", str(folder)]) == 2
        assert "new or empty folder" in capsys.readouterr().err
        assert contents(folder) == before
