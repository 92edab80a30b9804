"""The commands `csdl-keras table1`, `table2` and `report`, run within the process."""

import csv
import io
import json
import re

import numpy as np
import pytest
from rich.console import Console

import csdl_keras as csdl
from csdl_keras.experiments import cell
from csdl_keras.experiments.arguments import build_parser
from csdl_keras.experiments.cli import main
from csdl_keras.experiments.grid import Grid
from csdl_keras.experiments.grid_progress import GridProgress, expected
from csdl_keras.experiments.profiles import PROFILES
from csdl_keras.experiments.table2 import build_profile

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
        monkeypatch.setattr(csdl.Trainer, "run_stage", None)
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
        monkeypatch.setattr(cell.Cell, "run", None)
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
        assert (profile.cost_seeds, profile.dear_cost_seeds) == (4, 4)
        assert (profile.train_size, profile.cnn_train_size) == (5000, 5000)
        settings = profile.settings
        assert settings.hard_hinge and settings.pretraining.tied_weights
        assert settings.cnn.variant == "full"
        assert profile.grids == PROFILES["small"].grids

    def test_options_of_the_data_reach_the_cells(self, tmp_path):
        choices = {"drop_rate": 0.9, "grayscale": True}
        grid = Grid(PROFILES["tiny"], tmp_path, tmp_path, 2000.0, 7, choices)
        cells = grid.cells("digits_imb")
        assert all(cell.cost_scale == 2000.0 and cell.seed == 7 for cell in cells)
        sources = {cell.source for cell in cells}
        assert all(s.drop_rate == 0.9 and s.grayscale and s.imbalanced for s in sources)


class TestExpected:
    def test_as_many_stages_as_there_are(self, tmp_path):
        """Counted without the data, equal to those that the data give."""
        profile = PROFILES["tiny"]
        cells = Grid(profile, tmp_path, tmp_path).cells("digits")
        stages = [(name, it) for cell in cells for name, it in cell.stages(tmp_path).items()]
        keys = {csdl.stage_cache.StageCache.key(description) for _, description in stages}
        kinds = expected(cells).values()
        assert len(kinds) == len(keys)
        for name in ("pretraining", "training", "decisions"):
            of_name = {csdl.stage_cache.StageCache.key(it) for n, it in stages if n == name}
            assert sum(stage == name for stage, _ in kinds) == len(of_name)

    def test_blind_and_bayes_share_training(self, tmp_path):
        profile = PROFILES["tiny"]
        cells = Grid(profile, tmp_path, tmp_path).cells("digits")
        pair = [cell for cell in cells if cell.algorithm in ("cnn_blind", "cnn_bayes")]
        kinds = list(expected(pair).values())
        assert kinds.count(("training", "cnn")) == 1
        assert np.sum([kind[0] == "decisions" for kind in kinds]) == 3  # blind, two matrices


class TestProgress:
    def make(self, tmp_path):
        grid = Grid(PROFILES["tiny"], tmp_path, tmp_path)
        return GridProgress(Console(file=io.StringIO(), width=200), grid, jobs=2), grid

    def test_time_left_follows_from_stages_that_have_run(self, tmp_path):
        progress, grid = self.make(tmp_path)
        cells = grid.cells("digits")
        total = len(expected(cells))
        cnn = next(cell for cell in cells if cell.row.body == "cnn")
        mlp = next(cell for cell in cells if cell.row.body == "mlp")
        progress.finished(cnn, "training", 600.0, cells)
        progress.finished(mlp, "training", 120.0, cells)
        printed = progress.progress.console.file.getvalue().splitlines()
        kinds = list(expected(cells).values())
        left = 600 * (kinds.count(("training", "cnn")) - 1)
        left += 120 * (kinds.count(("training", "mlp")) - 1)
        # Of what has not run yet: as long as other trainings, or as other stages.
        left += 360 * kinds.count(("training", "svm")) + 360 * kinds.count(("pretraining", "mlp"))
        assert f"2 of {total} stages, {left / 60 / 2:.0f} min left" in printed[-1]
        assert progress.trained == 2

    def test_a_finished_data_set_leaves_nothing(self, tmp_path):
        progress, grid = self.make(tmp_path)
        progress.finished(grid.cells("digits")[0], "training", 1.0, grid.cells("digits"))
        progress.complete("digits", [])
        assert progress._total() == 1 and progress._left() == 0
