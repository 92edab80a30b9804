"""The commands `csdl-keras table1`, `table2` and `report`, run within the process."""

import dataclasses
import io
import json
import re
import shutil
import types

import numpy as np
import pytest
from rich.console import Console

import csdl_keras as csdl
from csdl_keras import datasets
from csdl_keras.experiments import cell_runner
from csdl_keras.experiments.asked_profile import build_profile
from csdl_keras.experiments.code_version import code_version
from csdl_keras.experiments.display import CellDisplay
from csdl_keras.experiments.grid import Grid
from csdl_keras.experiments.profiles import PROFILES
from csdl_keras.experiments.search import Search
from csdl_keras_cli.main import build_parser, main
from tests.experiments.grid_runs import SHORT, TABLE2, algorithms, failing, make_grid


def test_table1(capsys):
    assert main(["table1"]) == 0
    table, *legend = capsys.readouterr().out.split("\n\n")
    lines = table.splitlines()
    for mark in ("O ", "E ", "X ", "none", "pre-training", "training", "prediction"):
        assert any(line.startswith(f"  {mark}") for line in "\n".join(legend).splitlines())
    assert max(len(line) for part in legend for line in part.splitlines()) <= 80
    assert len(lines) == 16 and not any(line.endswith(" ") for line in lines)
    for line, (name, row) in zip(lines[1:], csdl.ALGORITHMS.items(), strict=False):
        assert re.split(r" {2,}", line) == [row.title, name, *row.awareness]


class TestTable2:
    def test_files(self, table2):
        names = {path.name for path in table2.iterdir() if not path.name.startswith(".")}
        tables = {"results.csv", "choices.csv", "beta_curve.csv", "curves.csv"}
        assert names == tables | {"run.json", "stages", "test_decisions"}
        assert algorithms(table2) == ["dnn_bayes"] * 2 + ["csdnn"] * 2
        (record,) = json.loads((table2 / "run.json").read_text())["runs"]
        assert {"command", "date", "versions", "machine", "settings", "backend"} <= set(record)
        assert record["code"] == code_version()

    def test_again_it_trains_nothing(self, table2, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr(csdl.Trainer, "train_all", None)
        folder = shutil.copytree(table2, tmp_path / "copy")
        assert main([*TABLE2, "--algorithms", "dnn_bayes,csdnn", "--out", str(folder)]) == 0
        assert "Trained 0 stages" in capsys.readouterr().out
        assert (folder / "results.csv").read_bytes() == (table2 / "results.csv").read_bytes()
        assert len(json.loads((folder / "run.json").read_text())["runs"]) == 2

    def test_report(self, table2, capsys, tmp_path):
        out = tmp_path / "new"
        assert main(["report", str(table2), "--out", str(out)]) == 0
        assert str(out / "report.html") in capsys.readouterr().out.splitlines()
        assert "CSDNN" in (out / "table2.md").read_text()
        assert main(["report", str(tmp_path)]) == 2
        assert "results.csv" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--datasets", "digits,nothing_like_it"], "received 'nothing_like_it'"),
            (["--datasets", ","], "Expected at least one data set"),
            (["--drop-rate", "2"], "Expected `drop_rate`"),
            (["--cost-factor", "0"], "Expected `cost_factor`"),
            (["--budget", "0"], "Expected `budget`"),
            (["--out", "/dev/null/a"], "Expected --out to be a folder"),
        ],
    )
    def test_wrong_arguments(self, arguments, message, capsys, tmp_path, monkeypatch):
        monkeypatch.setattr(cell_runner.CellRunner, "run", None)
        assert main([*TABLE2, "--out", str(tmp_path / "new"), *arguments]) == 2
        assert message in capsys.readouterr().err
        assert not (tmp_path / "new").exists()


class TestOptions:
    def build(self, text):
        return build_profile(build_parser().parse_args(["table2", *text.split()]))

    def test_options_reach_the_profile(self):
        assert self.build("--profile paper") == PROFILES["paper"]
        profile = self.build(
            "--profile small --datasets mnist_imb,svhn --cost-seeds 4 --train-size 5000 "
            "--algorithms csdnn,dnn_weighted --hard-hinge --tied-weights --cnn-variant full"
        )
        assert profile.datasets == ("mnist_imb", "svhn")
        assert profile.algorithms == ("csdnn", "dnn_weighted")
        assert (profile.cost_seeds, profile.slow_cost_seeds) == (4, 4)
        assert (profile.train_size, profile.cnn_train_size) == (5000, 5000)
        settings = profile.settings
        assert settings.hard_hinge and settings.pretraining.tied_weights
        assert settings.cnn.variant == "full"
        assert profile.searches == PROFILES["small"].searches

    def test_authors_choices(self):
        arguments = build_parser().parse_args("table2 --authors-choices --seeds 3".split())
        profile = build_profile(arguments)
        pretraining, mlp = profile.settings.pretraining, profile.settings.mlp
        # A cost term 100 times that of reconstruction, but for the size of both together.
        assert pretraining.beta / (1 - pretraining.beta) == pytest.approx(100)
        assert mlp.patience is None and profile.seeds == 3
        assert "pretraining.beta" not in {search.field for search in profile.searches}

    def test_data_that_are_not_at_hand(self, tmp_path, monkeypatch, capsys):
        """A profile runs the others and keeps why; data that were asked for are an error."""
        load, error = datasets.load, datasets.DataUnavailableError("no pixels")
        monkeypatch.setattr(
            datasets, "load", failing(load, lambda name, *_, **__: name == "svhn", error)
        )
        sets = dataclasses.replace(PROFILES["tiny"], datasets=("digits", "svhn"))
        monkeypatch.setitem(PROFILES, "tiny", sets)
        monkeypatch.setattr(Grid, "run", lambda *_: None)
        assert main(["table2", "--out", str(tmp_path)]) == 0
        assert "svhn. no pixels" in capsys.readouterr().out
        (record,) = json.loads((tmp_path / "run.json").read_text())["runs"]
        assert record["settings"]["unavailable"] == {"svhn": "no pixels"}
        assert record["settings"]["datasets"] == ["digits"]
        assert main(["table2", "--datasets", "svhn", "--out", str(tmp_path / "a")]) == 2
        assert "no pixels" in capsys.readouterr().err

    def test_options_of_the_data_reach_the_cells(self, tmp_path):
        choices = {"source_choices": {"drop_rate": 0.9, "grayscale": True}}
        grid = make_grid(tmp_path, PROFILES["tiny"], cost_scale=2000.0, seed=7, **choices)
        for cell in grid.cells("digits_imb"):
            assert (cell.cost_scale, cell.seed, cell.source.seed) == (2000.0, 7, 7)
            assert (cell.source.drop_rate, cell.source.grayscale) == (0.9, True)
            assert cell.source.imbalanced


class TestDisplay:
    @pytest.mark.slow
    def test_stages_are_as_many_as_expected(self, tmp_path, monkeypatch):
        """Data sets to come are expected to need as many as the current one."""
        searches = (Search("mlp.learning_rate", (0.01, 0.3)),)
        changes = {"algorithms": ("dnn_bayes",), "searches": searches}
        profile = dataclasses.replace(SHORT, datasets=("digits", "digits_imb"), **changes)
        grid = make_grid(tmp_path, profile)
        display = CellDisplay(Console(file=io.StringIO(), width=200), grid.runner)
        expected, expect = [], display.expect
        monkeypatch.setattr(display, "expect", lambda n: (expected.append(n), expect(n)))
        assert not grid.run(display)
        assert expected == [6, 3, 3, 0]  # a default value is trained unless one of the search is it
        assert display.done == display.total == len(grid.runner.trained) == 4
        printed = display.progress.console.file.getvalue()
        assert "digits dnn_bayes: learning_rate = 0." in printed
        assert "digits_imb dnn_bayes: average test cost" in printed and "over 1 matrix" in printed
        assert "about 0 min" not in printed

    def test_networks_that_are_trained_again_count(self):
        runner = types.SimpleNamespace(trained=["a"], jobs=1, callbacks=())
        display = CellDisplay(Console(file=io.StringIO(), width=200), runner)
        display.expect(1)
        for stages, total in ((["a", "b"], 2), (["a", "b", "c"], 3)):
            runner.trained = stages
            display.finished(None, found=True)
            assert (display.done, display.total) == (total, total)

    def test_cells_are_named_with_their_seeds(self):
        runner = types.SimpleNamespace(trained=["a"], jobs=1, callbacks=())
        display = CellDisplay(Console(file=io.StringIO(), width=200), runner)
        for seed in (0, 2):
            cell = types.SimpleNamespace(cost_seed=1000, seed=seed)
            cell.source = types.SimpleNamespace(label="digits")
            cell.algorithm = types.SimpleNamespace(name="csdnn")
            scores = {"test_costs": np.ones(2), "test_error": 0.5, "train_seconds": 3.0}
            display.finished(types.SimpleNamespace(cell=cell, **scores))
        printed = " ".join(display.progress.console.file.getvalue().split())
        assert "digits csdnn matrix 1000: average cost 1.000, error 50.0%, 3 s" in printed
        assert "digits csdnn matrix 1000 seed 2: average cost" in printed
