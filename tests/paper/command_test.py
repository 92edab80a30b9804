"""The commands `csdl-keras table2` and `report`, run within the process."""

import dataclasses
import json
import pathlib
import shlex
import shutil
import signal
import time

import keras
import pytest

import csdl_keras as csdl
from csdl_keras import datasets
from csdl_keras.paper import folder as folders
from csdl_keras.paper import grid as grids
from csdl_keras.paper.failures import Failures
from csdl_keras.paper.grid import Grid
from csdl_keras.paper.profiles import PROFILES
from csdl_keras.paper.results import read_runs
from csdl_keras_cli import table2 as command
from csdl_keras_cli.main import build_parser, main
from tests.paper.grid_runs import TABLE2, algorithms, failing

RESULTS = pathlib.Path(__file__).parents[2] / "notebooks" / "results"


def arguments_of(text):
    return build_parser().parse_args(shlex.split(text))


class TestTable2:
    def test_files(self, table2):
        names = {path.name for path in table2.iterdir() if not path.name.startswith(".")}
        tables = {"results.csv", "choices.csv", "beta_curve.csv", "curves.csv"}
        assert names == tables | {"run.json", "stages", "test_decisions"}
        assert algorithms(table2) == ["dnn_bayes"] * 2 + ["csdnn"] * 2
        (record,) = json.loads((table2 / "run.json").read_text())["runs"]
        assert {"command", "date", "versions", "commit", "machine", "settings"} <= set(record)

    def test_report(self, table2, capsys, tmp_path):
        out = tmp_path / "new"
        assert main(["report", str(table2), "--out", str(out)]) == 0
        assert str(out / "report.html") in capsys.readouterr().out.splitlines()
        assert "CSDNN" in (out / "table2.md").read_text()
        assert main(["report", str(tmp_path)]) == 2
        assert "not a folder written by csdl-keras table2" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--datasets", "digits,nothing_like_it"], "'nothing_like_it'"),
            (["--out", "/dev/null/a"], "--out /dev/null/a is not a writable folder"),
        ],
    )
    def test_wrong_arguments(self, arguments, message, capsys, tmp_path, monkeypatch):
        monkeypatch.setattr(grids, "run_cells", None)
        assert main([*TABLE2, "--out", str(tmp_path / "new"), *arguments]) == 2
        assert message in capsys.readouterr().err
        assert not (tmp_path / "new").exists()

    def test_a_part_that_fails_costs_no_other(self, table2, tmp_path, monkeypatch, capsys):
        command = [*TABLE2, "--out", str(tmp_path), "--cache", str(table2 / "stages")]

        def is_bayes(outcome, *_):
            return outcome.cell.algorithm.name == "dnn_bayes"

        with monkeypatch.context() as patch:
            row = failing(folders.result_row, is_bayes, KeyError("auto"))
            patch.setattr(folders, "result_row", row)
            status, told = main(command), capsys.readouterr().err
        assert status == 1 and "failed: KeyError: 'auto'" in told
        assert "csdl-keras: digits dnn_bayes" in told
        assert algorithms(tmp_path) == ["csdnn"] * 2
        # The same command again runs what failed.
        assert main(command) == 0
        assert algorithms(tmp_path) == algorithms(table2)

    def test_each_result_is_written_as_it_comes(self, table2, tmp_path, monkeypatch):
        """What is there when the third one is about to be written."""
        written = []
        write = folders.Folder.write_result

        def killed(self, outcome, *arguments, **kwargs):
            if len(written) == 2:
                raise KeyboardInterrupt
            write(self, outcome, *arguments, **kwargs)
            written.append(outcome.cell.algorithm.name)

        monkeypatch.setattr(folders.Folder, "write_result", killed)
        assert main([*TABLE2, "--out", str(tmp_path), "--cache", str(table2 / "stages")]) == 130
        assert algorithms(tmp_path) == written == ["dnn_bayes", "dnn_bayes"]


class TestOptions:
    def build(self, text):
        return command._profile(arguments_of(f"table2 {text}"))

    def test_options_reach_the_profile(self):
        assert self.build("--profile paper") == PROFILES["paper"]
        profile = self.build(
            "--profile small --datasets mnist_imb,svhn --cost-seeds 4 --train-size 5000 "
            "--algorithms csdnn,dnn_weighted --cnn-variant full --epochs 3 --seeds 2"
        )
        assert profile.datasets == ("mnist_imb", "svhn")
        assert profile.algorithms == ("csdnn", "dnn_weighted")
        assert (profile.cost_seeds, profile.seeds) == (4, 2)
        assert (profile.train_size, profile.cnn_train_size) == (5000, 5000)
        assert profile.settings.cnn.variant == "full" and profile.settings.mlp.epochs == 3
        assert profile.searches == PROFILES["small"].searches

    def test_authors_choices(self, tmp_path, monkeypatch):
        profile = self.build("--authors-choices --seeds 3")
        pretraining, mlp = profile.settings.pretraining, profile.settings.mlp
        # A cost term 100 times that of reconstruction, but for the size of both together.
        assert pretraining.beta / (1 - pretraining.beta) == pytest.approx(100)
        assert profile.settings.hard_hinge and pretraining.tied_weights and mlp.patience is None
        assert "pretraining.beta" not in {search.field for search in profile.searches}
        grids = []
        monkeypatch.setattr(Grid, "run", lambda it: grids.append(it) or Failures())
        assert main(["table2", "--authors-choices", "--out", str(tmp_path)]) == 0
        algorithm = csdl.ALGORITHMS["csdnn"]
        cell = grids[0]._cell("digits_imb", algorithm, profile.settings)
        assert (cell.cost_scale, cell.source.drop_rate, cell.source.grayscale) == (2000, 0.9, True)

    def test_data_that_are_not_at_hand(self, tmp_path, monkeypatch, capsys):
        """A profile runs the others and keeps why; data that were asked for are an error."""
        load, error = datasets.load, datasets.DataUnavailableError("no pixels")
        fails = failing(load, lambda name, *_, **__: name == "svhn", error)
        monkeypatch.setattr(datasets, "load", fails)
        sets = dataclasses.replace(PROFILES["tiny"], datasets=("digits", "svhn"))
        monkeypatch.setitem(PROFILES, "tiny", sets)
        monkeypatch.setattr(Grid, "run", lambda *_: Failures())
        assert main(["table2", "--out", str(tmp_path)]) == 0
        assert "Skipping svhn: its data are not available. no pixels" in capsys.readouterr().out
        (record,) = json.loads((tmp_path / "run.json").read_text())["runs"]
        assert record["settings"]["unavailable"] == {"svhn": "no pixels"}
        assert record["settings"]["datasets"] == ["digits"]
        assert main(["table2", "--datasets", "svhn", "--out", str(tmp_path / "a")]) == 2
        assert "no pixels" in capsys.readouterr().err


class TestRecords:
    @pytest.mark.parametrize("name", ["authors", "small"])
    def test_runs_of_older_records_go_on(self, tmp_path, name):
        """Values were text: the same command goes on, and another one is told."""
        own = {"backend": keras.backend.backend()}
        records = [run | own for run in read_runs(RESULTS / name)]
        distinct = {json.dumps(run["arguments"], sort_keys=True): run for run in records}
        for run in distinct.values():
            (tmp_path / "run.json").write_text(json.dumps({"runs": [run]}))
            arguments = arguments_of(run["command"].removeprefix("csdl-keras "))
            chosen = command._AUTHORS if arguments.authors_choices else command._PAPER
            vars(arguments).update(chosen)
            command._check_same(tmp_path, arguments)
        for option, value in {"seed": 7, "drop_rate": 0.5, "train_size": 9}.items():
            other = arguments_of(run["command"].removeprefix("csdl-keras "))
            vars(other).update(vars(arguments) | {option: value})
            with pytest.raises(ValueError, match=f"{option} .*, not {value}"):
                command._check_same(tmp_path, other)


#: A change of each option that makes other results of the same rows.
IDENTITY = {
    "profile": ["--profile", "small"],
    "train_size": ["--train-size", "400"],
    "epochs": ["--epochs", "2"],
    "seed": ["--seed", "1"],
    "mixed_precision": ["--mixed-precision"],
    "authors_choices": ["--authors-choices"],
    "cnn_variant": ["--cnn-variant", "full"],
}


class TestOtherOptions:
    """Refused if they change what is in a folder."""

    def test_each_option_is_in_one_of_the_lists(self):
        commands = next(it for it in build_parser()._actions if it.dest == "command")
        options = {it.dest for it in commands.choices["table2"]._actions} - {"help"}
        assert {*IDENTITY, *command._HARMLESS} == options
        assert not IDENTITY.keys() & {*command._HARMLESS}

    def test_another_experiment_is_refused(self, table2, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(Grid, "run", None)
        folder = shutil.copytree(table2, tmp_path / "copy")

        def refused(*more):
            before = {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
            assert main([*TABLE2, *more, "--out", str(folder)]) == 2
            assert all(path.read_bytes() == content for path, content in before.items())
            return capsys.readouterr().err

        for name, change in IDENTITY.items():
            message = refused(*change)
            assert f"has a run with {name} " in message and "the same options" in message
        (run,) = json.loads((folder / "run.json").read_text())["runs"]
        (folder / "run.json").write_text(json.dumps({"runs": [run | {"backend": "another"}]}))
        assert f"backend another, not {keras.backend.backend()}" in refused()
        (folder / "run.json").write_text(json.dumps({"arguments": {"command": "compare"}}))
        assert "has a run with " in refused()


def test_a_run_ends_with_its_budget_and_goes_on(table2, tmp_path, monkeypatch, capsys):
    """As after Ctrl-C, within whatever it does, also where SIGINT is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def work(grid):
        while True:
            time.sleep(0.01)

    command = [*TABLE2, "--out", str(tmp_path), "--cache", str(table2 / "stages")]
    with monkeypatch.context() as patch:
        patch.setattr(Grid, "run", work)
        assert main([*command, "--budget", "1e-5"]) == 0
    assert "The 1e-05 hours are over. Run the same command to continue." in capsys.readouterr().out
    monkeypatch.setattr(keras.Model, "fit", None)
    assert main([*command, "--budget", "1"]) == 0
    assert (tmp_path / "results.csv").read_bytes() == (table2 / "results.csv").read_bytes()
    assert len(json.loads((tmp_path / "run.json").read_text())["runs"]) == 2
