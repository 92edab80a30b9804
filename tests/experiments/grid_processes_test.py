"""Grids that are killed, crowded, and spread over processes and machines."""

import dataclasses
import gc
import os
import random
import signal
import time

import pytest

from csdl_keras.training.workers import _spare_modules, forget_models, workers
from tests.experiments.grid_runs import SHORT, read, run, stage_times, start


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder of a run in a process of its own, as those that are killed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    start(folder).communicate(timeout=300)
    return folder


@pytest.mark.slow
class TestProcesses:
    def test_killed_at_random_it_ends_with_the_same_results(self, undisturbed, tmp_path):
        rng = random.Random(int(time.time()))
        for _ in range(2):
            process = start(tmp_path)
            assert process.stdout.readline() == "started\n"
            target = len(stage_times(tmp_path)) + rng.randint(0, 4)
            deadline = time.monotonic() + 60
            while len(stage_times(tmp_path)) < target and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        found = stage_times(tmp_path)
        assert start(tmp_path).communicate(timeout=300)[0].split() == ["started", "finished"]
        # It went on from where it was.
        after = stage_times(tmp_path)
        assert found.items() <= after.items() and after.keys() == stage_times(undisturbed).keys()
        for name in ("results.csv", "choices.csv"):
            assert read(tmp_path, name) == read(undisturbed, name)

    def test_two_processes_on_one_cache(self, undisturbed, tmp_path):
        """Both finish with the same results, and each stage is run by one of them."""
        folders = [tmp_path / "0", tmp_path / "1"]
        crowd = [start(folder, cache=tmp_path / "stages") for folder in folders]
        outputs = [process.communicate(timeout=300)[0].split() for process in crowd]
        assert outputs == [["started", "finished"]] * 2
        files = list((tmp_path / "stages").rglob("*"))
        assert not [path for path in files if path.name.startswith("unfinished")]
        assert len([p for p in files if p.suffix == ".npz"]) == len(stage_times(undisturbed))
        assert all(read(folder) == read(undisturbed) for folder in folders)

    def test_a_dask_cluster_of_two_workers(self, tmp_path):
        distributed = pytest.importorskip("distributed")
        # Nothing to choose: rounding, which differs with the number of threads, would choose too.
        profile = dataclasses.replace(SHORT, grids={})
        alone = run(tmp_path / "alone", profile)
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        )
        with cluster, workers(scheduler=cluster.scheduler_address):
            spread = run(tmp_path / "cluster", profile, jobs=2)
        assert set(spread.ran) == set(alone.ran) and spread.trained == alone.trained
        names = [stage_times(tmp_path / each).keys() for each in ("alone", "cluster")]
        assert names[0] == names[1]
        for one, other in zip(read(tmp_path / "cluster"), read(tmp_path / "alone"), strict=True):
            costs = [float(row["average_cost"]) for row in (one, other)]
            assert costs[0] == pytest.approx(costs[1], rel=0.1)


class TestWorkers:
    def test_no_scheduler_there(self, monkeypatch):
        distributed = pytest.importorskip("distributed")
        client = distributed.Client
        monkeypatch.setattr(distributed, "Client", lambda a, timeout: client(a, timeout="1s"))
        with pytest.raises(ValueError, match="Expected a Dask scheduler at 'tcp://127.0.0.1:9'"):
            with workers(scheduler="tcp://127.0.0.1:9"):
                pass

    def test_the_environment_is_restored_after_an_error(self, monkeypatch):
        monkeypatch.setenv("TF_NUM_INTRAOP_THREADS", "7")
        monkeypatch.delenv("TF_NUM_INTEROP_THREADS", raising=False)
        with pytest.raises(RuntimeError), workers(2):
            assert os.environ["TF_NUM_INTRAOP_THREADS"] == "7"
            assert int(os.environ["TF_NUM_INTEROP_THREADS"]) >= 1
            raise RuntimeError
        assert os.environ["TF_NUM_INTRAOP_THREADS"] == "7"
        assert "TF_NUM_INTEROP_THREADS" not in os.environ

    def test_collections_spare_what_modules_hold(self):
        gc.unfreeze()
        _spare_modules.cache_clear()
        forget_models()
        assert gc.get_freeze_count() > 100_000
        gc.unfreeze()
