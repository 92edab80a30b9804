"""Cells of a grid, their data, and how they are run."""

import dataclasses

import numpy as np
import pytest
from csdl_keras.fitting.stage_cache import StageCache

import csdl_keras as csdl
from csdl_keras.experiments import cell_runner
from csdl_keras.experiments.cell import Cell
from csdl_keras.experiments.cell_runner import CellRunner
from csdl_keras.experiments.data_source import DataSource
from tests.experiments.grid_runs import SHORT, Recorder, failing, make_grid, run

CELL = Cell(DataSource("digits"), csdl.ALGORITHMS["dnn_blind"], 1000, csdl.Settings())


class TestCell:
    def test_matrices_depend_on_scale_and_not_on_the_part_trained_on(self):
        part = dataclasses.replace(CELL, source=DataSource("digits", train_size=343))
        np.testing.assert_array_equal(part.matrix, CELL.matrix)
        other = dataclasses.replace(CELL, cost_scale=2000.0)
        np.testing.assert_allclose(other.matrix, 200 * CELL.matrix)

    def test_stages_say_which_images_were_decided(self, tmp_path):
        trainer = CellRunner(StageCache(tmp_path)).trainer
        other = dataclasses.replace(CELL, source=DataSource("digits", imbalanced=True))
        stages = [cell.stages(trainer(cell.source, cell.seed)) for cell in (CELL, other)]
        assert len({StageCache.key(each["decisions"]) for each in stages}) == 2


class TestDataSource:
    def test_drop_rate_and_grayscale(self):
        data = DataSource("digits", imbalanced=True, drop_rate=0.9).load()
        counts = np.sort(np.bincount(data.y_train_val))
        assert counts[3] < 0.15 * counts[4]
        assert DataSource("digits", grayscale=True).load().input_shape == (8, 8, 1)
        for rate in (-0.1, 1.1, np.nan):
            with pytest.raises(ValueError, match="Expected `drop_rate`"):
                DataSource("digits", drop_rate=rate)

    def test_parse(self):
        source = DataSource.parse("a/b:1.0.0_imb", seed=3)
        assert (source.name, source.imbalanced, source.seed) == ("a/b:1.0.0", True, 3)
        assert source.label == "a_b:1.0.0_imb"
        assert DataSource.parse("mnist") == DataSource("mnist")


class TestCellRunner:
    def test_decisions_that_fail_keep_the_stages_before(self, tmp_path, monkeypatch):
        profile = dataclasses.replace(SHORT, algorithms=("sdae_sosr",), searches=())
        fail = failing(cell_runner.decide, lambda *_: True, OSError("no space left"))
        monkeypatch.setattr(cell_runner, "decide", fail)
        failures = make_grid(tmp_path, profile).run(Recorder())
        told = ["digits sdae_sosr for matrix 1000 failed: OSError: no space left"]
        assert failures.lines() == told
        monkeypatch.undo()
        watcher = run(tmp_path, profile)
        assert watcher.trained == 0 and len(watcher.ran) == 1

    def test_members_of_an_ensemble_and_their_decisions_are_found(self, tmp_path):
        base = csdl.ALGORITHMS["dnn_bayes"]
        algorithm = dataclasses.replace(base, name="two", title="Two", members=2)
        profile = dataclasses.replace(SHORT, algorithms=(algorithm,), searches=(), cost_seeds=2)
        watcher = run(tmp_path, profile)
        assert [cell.algorithm.name for cell in watcher.ran] == ["two", "two"]
        again = run(tmp_path / "again", profile, cache=tmp_path / "stages")
        assert again.trained == 0 and len(again.found) == 2
