"""How stages are handed to workers."""

import dataclasses
import gc
import os

import pytest

from csdl_keras.experiments import stage_runner
from csdl_keras.experiments.grid import Grid
from csdl_keras.training.workers import workers
from tests.experiments.grid_runs import SHORT, Recorder, run


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

    def test_a_stage_that_fails_keeps_those_before_it(self, tmp_path, monkeypatch):
        ran = []
        original = stage_runner._run

        def fail(cell, stage, *arguments):
            if stage == "decisions":
                raise OSError("no space left")
            ran.append(stage)
            return original(cell, stage, *arguments)

        monkeypatch.setattr(stage_runner, "_run", fail)
        profile = dataclasses.replace(SHORT, algorithms=("sdae_sosr",), grids={})
        failures = Grid(profile, tmp_path, tmp_path / "stages").run(Recorder())
        assert failures.lines() == ["digits sdae_sosr failed: OSError: no space left"]
        assert ran == ["pretraining", "training"]
        monkeypatch.undo()
        assert [stage for *_, stage in run(tmp_path, profile).stages] == ["decisions"]

    def test_collections_spare_what_modules_hold(self, tmp_path):
        stage_runner._spare_modules.cache_clear()
        gc.unfreeze()
        try:
            run(tmp_path, dataclasses.replace(SHORT, algorithms=("dnn_blind",), grids={}))
            assert gc.get_freeze_count() > 100_000
        finally:
            gc.unfreeze()
