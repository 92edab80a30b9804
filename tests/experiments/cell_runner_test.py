"""How cells are run."""

import dataclasses
import gc
import os

import pytest

import csdl_keras as csdl
from csdl_keras.experiments import cell_runner
from csdl_keras.training.workers import _spare_modules, workers
from tests.experiments.failures_test import failing
from tests.experiments.grid_runs import SHORT, Recorder, make_grid, run


class TestWorkers:
    def test_environment_is_restored_after_an_error(self, monkeypatch):
        monkeypatch.setenv("TF_NUM_INTRAOP_THREADS", "7")
        monkeypatch.delenv("TF_NUM_INTEROP_THREADS", raising=False)
        with pytest.raises(RuntimeError), workers(2):
            assert os.environ["TF_NUM_INTRAOP_THREADS"] == "7"
            assert int(os.environ["TF_NUM_INTEROP_THREADS"]) >= 1
            raise RuntimeError
        assert os.environ["TF_NUM_INTRAOP_THREADS"] == "7"
        assert "TF_NUM_INTEROP_THREADS" not in os.environ


class TestCellRunner:
    def test_decisions_that_fail_keep_the_stages_before(self, tmp_path, monkeypatch):
        profile = dataclasses.replace(SHORT, algorithms=("sdae_sosr",), grids={})
        fail = failing(cell_runner.decide, lambda *_: True, OSError("no space left"))
        monkeypatch.setattr(cell_runner, "decide", fail)
        failures = make_grid(tmp_path, profile).run(Recorder())
        told = ["digits sdae_sosr for matrix 1000 failed: OSError: no space left"]
        assert failures.lines() == told
        monkeypatch.undo()
        watcher = run(tmp_path, profile)
        assert watcher.trained == 0 and len(watcher.ran) == 1

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_members_of_an_ensemble_and_their_decisions_are_found(self, jobs, tmp_path):
        algorithm = dataclasses.replace(
            csdl.ALGORITHMS["dnn_bayes"], name="two", title="Two", members=2
        )
        profile = dataclasses.replace(SHORT, algorithms=(algorithm,), grids={}, cost_seeds=2)
        watcher = run(tmp_path, profile, jobs=jobs)
        assert [cell.algorithm.name for cell in watcher.ran] == ["two", "two"]
        again = run(tmp_path, profile, jobs=jobs)
        assert again.trained == 0 and len(again.found) == 2

    def test_collections_spare_what_modules_hold(self, tmp_path):
        _spare_modules.cache_clear()
        gc.unfreeze()
        try:
            run(tmp_path, dataclasses.replace(SHORT, algorithms=("dnn_blind",), grids={}))
            assert gc.get_freeze_count() > 100_000
        finally:
            gc.unfreeze()
