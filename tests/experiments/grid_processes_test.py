"""Grids that are killed, crowded, and spread over processes and machines."""

import dataclasses
import os
import random
import signal
import time

import numpy as np
import pytest

from csdl_keras.training.workers import workers
from tests.experiments.grid_runs import SHORT, read, run, stage_times, start


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder of a run in a process of its own, as those that are killed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    start(folder).communicate(timeout=300)
    return folder


class TestProcesses:
    @pytest.mark.slow
    def test_killed_at_random_it_ends_with_the_same_results(self, undisturbed, tmp_path):
        rng = random.Random(int(time.time()))
        for _ in range(2):
            process = start(tmp_path)
            assert process.stdout.readline() == "started\n"
            before = len(stage_times(tmp_path))
            target = before + rng.randint(0, 4)
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
        assert read(tmp_path) == read(undisturbed)
        assert read(tmp_path, "choices.csv") == read(undisturbed, "choices.csv")

    @pytest.mark.slow
    def test_two_processes_on_one_cache(self, undisturbed, tmp_path):
        """Both finish with the same results, and each stage is run by one of them."""
        crowd = [start(tmp_path / str(i), cache=tmp_path / "stages") for i in range(2)]
        outputs = [process.communicate(timeout=300)[0].split() for process in crowd]
        assert all(output == ["started", "finished"] for output in outputs)
        files = list((tmp_path / "stages").rglob("*"))
        assert not [path for path in files if path.name.startswith("unfinished")]
        assert len([p for p in files if p.suffix == ".npz"]) == len(stage_times(undisturbed))
        for i in range(2):
            assert read(tmp_path / str(i)) == read(undisturbed)

    @pytest.mark.slow
    def test_two_jobs(self, undisturbed, tmp_path):
        before = dict(os.environ)
        run(tmp_path, SHORT, jobs=2)
        assert dict(os.environ) == before
        assert stage_times(tmp_path).keys() == stage_times(undisturbed).keys()
        assert read(tmp_path) == read(undisturbed)

    @pytest.mark.slow
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
        assert len(read(tmp_path / "cluster")) == len(read(tmp_path / "alone")) == 2
        names = stage_times(tmp_path / "alone").keys()
        assert names == stage_times(tmp_path / "cluster").keys()
        # The cluster's own threads draw from Python's random numbers; stages do not.
        for name in names:
            with (
                np.load(tmp_path / "alone" / name) as one,
                np.load(tmp_path / "cluster" / name) as other,
            ):
                for array in (array for array in one if array.startswith("array")):
                    if one[array].dtype == "float32":
                        np.testing.assert_allclose(one[array], other[array], atol=1e-3)

    def test_no_scheduler_there(self, monkeypatch):
        distributed = pytest.importorskip("distributed")
        client = distributed.Client
        monkeypatch.setattr(distributed, "Client", lambda a, timeout: client(a, timeout="1s"))
        with pytest.raises(ValueError, match="Expected a Dask scheduler at 'tcp://127.0.0.1:9'"):
            with workers(scheduler="tcp://127.0.0.1:9"):
                pass
