"""The commands `csdl-keras table1`, `table2` and `report`, run within the process."""

import csv
import dataclasses
import io
import json
import re
import time
import types

import pytest
from rich.console import Console

import csdl_keras as csdl
from csdl_keras.experiments import cell_runner
from csdl_keras.experiments.cli import build_parser, main
from csdl_keras.experiments.commands.table2 import build_profile
from csdl_keras.experiments.display import CellDisplay, SearchDisplay
from csdl_keras.experiments.profiles import PROFILES
from tests.experiments.grid_runs import SHORT, make_grid, run

SMALL = ["table2", "--epochs", "1", "--train-size", "343", "--cost-seeds", "1"]


def parsed(*arguments):
    return build_parser().parse_args(["table2", *arguments])


class TestTable1:
    def test_a_line_for_each_algorithm(self, capsys):
        assert main(["table1"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 16
        for line, (name, row) in zip(lines[1:], csdl.ALGORITHMS.items(), strict=False):
            cells = re.split(r" {2,}", line)
            assert cells == [row.title, name, *row.awareness]
            assert not line.endswith(" ")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a run of two rows, from the command line."""
    folder = tmp_path_factory.mktemp("runs") / "new" / "table2"
    arguments = ["--algorithms", "dnn_bayes,scae_sosr", "--out", str(folder)]
    assert main([*SMALL, *arguments]) == 0
    return folder


class TestTable2:
    def test_files(self, finished):
        names = {path.name for path in finished.iterdir() if not path.name.startswith(".")}
        expected = {"results.csv", "choices.csv", "beta_curve.csv", "run.json", "stages"}
        assert names == expected | {"test_decisions"}
        with (finished / "results.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert [row["algorithm"] for row in rows] == ["dnn_bayes", "csdnn"]

    def test_the_record_tells_the_command(self, finished):
        runs = json.loads((finished / "run.json").read_text())["runs"]
        assert len(runs) == 1
        assert {"command", "date", "versions", "machine", "settings", "backend"} <= set(runs[0])

    def test_again_it_trains_nothing(self, finished, capsys, monkeypatch):
        monkeypatch.setattr(csdl.Trainer, "train_all", None)
        before = (finished / "results.csv").read_bytes()
        arguments = ["--algorithms", "dnn_bayes,csdnn", "--out", str(finished)]
        assert main([*SMALL, *arguments]) == 0
        assert "Trained 0 stages" in capsys.readouterr().out
        assert (finished / "results.csv").read_bytes() == before
        assert len(json.loads((finished / "run.json").read_text())["runs"]) == 2

    def test_report(self, finished, capsys, tmp_path):
        assert main(["report", str(finished), "--out", str(tmp_path / "new")]) == 0
        paths = capsys.readouterr().out.splitlines()
        assert str(tmp_path / "new" / "report.html") in paths
        assert "CSDNN" in (tmp_path / "new" / "table2.md").read_text()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--algorithms", "dnn"], "Expected algorithms among dnn_blind"),
            (["--algorithms", ","], "Expected algorithms among dnn_blind"),
            (["--datasets", "nothing_like_it"], "received 'nothing_like_it'"),
            (["--datasets", ","], "Expected at least one data set"),
            (["--drop-rate", "2"], "Expected `drop_rate`"),
            (["--cost-factor", "0"], "Expected `cost_factor`"),
        ],
    )
    def test_wrong_arguments(self, arguments, message, capsys, tmp_path, monkeypatch):
        monkeypatch.setattr(cell_runner.CellRunner, "run", None)
        assert main([*SMALL, *arguments, "--out", str(tmp_path / "new")]) == 2
        assert message in capsys.readouterr().err

    def test_a_folder_that_cannot_be_written(self, capsys, tmp_path):
        (tmp_path / "file").write_text("")
        assert main([*SMALL, "--out", str(tmp_path / "file" / "below")]) == 2
        assert "Expected --out to be a folder that can be written" in capsys.readouterr().err

    def test_a_report_of_nothing(self, capsys, tmp_path):
        assert main(["report", str(tmp_path)]) == 2
        assert "results.csv" in capsys.readouterr().err


class TestOptions:
    def test_defaults_are_the_profile(self):
        assert build_profile(parsed("--profile", "paper")) == PROFILES["paper"]

    def test_options_reach_the_profile(self):
        profile = build_profile(
            parsed(
                *["--profile", "small", "--datasets", "mnist_imb,svhn", "--cost-seeds", "4"],
                *["--algorithms", "csdnn,dnn_weighted", "--train-size", "5000", "--hard-hinge"],
                *["--tied-weights", "--cnn-variant", "full"],
            )
        )
        assert profile.datasets == ("mnist_imb", "svhn")
        assert profile.algorithms == ("csdnn", "dnn_weighted")
        assert (profile.cost_seeds, profile.slow_cost_seeds) == (4, 4)
        assert (profile.train_size, profile.cnn_train_size) == (5000, 5000)
        settings = profile.settings
        assert settings.hard_hinge and settings.pretraining.tied_weights
        assert settings.cnn.variant == "full"
        assert profile.grids == PROFILES["small"].grids

    def test_options_of_the_data_reach_the_cells(self, tmp_path):
        choices = {"drop_rate": 0.9, "grayscale": True}
        grid = make_grid(
            tmp_path, PROFILES["tiny"], cost_scale=2000.0, seed=7, source_choices=choices
        )
        cells = grid.cells("digits_imb")
        assert all(cell.cost_scale == 2000.0 and cell.seed == 7 for cell in cells)
        sources = {cell.source for cell in cells}
        assert all(s.drop_rate == 0.9 and s.grayscale and s.imbalanced for s in sources)


class TestDisplay:
    def test_stages_are_as_many_as_expected(self, tmp_path):
        grid = make_grid(tmp_path)
        display = CellDisplay(Console(file=io.StringIO(), width=200), grid.runner)
        assert not grid.run(display)
        assert display.done == display.total == len(grid.runner.trained) > 0
        printed = display.progress.console.file.getvalue()
        assert "digits_imb csdnn: beta = 0." in printed
        assert "digits_imb csosr: average test cost" in printed and "over 1 matrices" in printed

    def test_data_sets_to_come_are_expected_to_be_alike(self, tmp_path):
        profile = dataclasses.replace(SHORT, datasets=("digits", "digits_imb"))
        watcher = run(tmp_path, profile)
        first = watcher.expected[0]
        assert first % 2 == 0 and watcher.expected[2] == first / 2
        assert watcher.trained <= first

    def test_time_left_is_the_mean_of_what_ran(self, monkeypatch):
        display = SearchDisplay(Console(file=io.StringIO(), width=200), "trials", 11, before=2)
        monkeypatch.setattr(time, "monotonic", lambda: display._start + 600)
        display.finished(types.SimpleNamespace(status="COMPLETED", trial_id="2", score=0.5))
        printed = display.progress.console.file.getvalue()
        assert "0.5000, the best so far; 3 of 11 trials, about 80 min left" in printed
        display.finished(types.SimpleNamespace(status="FAILED", trial_id="3", message="a\nlast"))
        assert "trial 3: failed last; 4" in display.progress.console.file.getvalue()
        assert display.minutes_left == pytest.approx(5 * 7)
