"""Grids that are spread over processes and machines."""

import dataclasses
import gc
import os
import signal
import threading
import time

import pytest
from csdl_keras.training.workers import _spare_modules, forget_models, workers

from csdl_keras.experiments.time_budget import BudgetSpent, TimeBudget
from tests.experiments.grid_runs import SHORT, read, run


@pytest.mark.slow
def test_a_dask_cluster_of_two_workers(tmp_path):
    distributed = pytest.importorskip("distributed")
    # Nothing to choose: rounding, which differs with the number of threads, would choose too.
    profile = dataclasses.replace(SHORT, searches=())
    alone = run(tmp_path / "alone", profile)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, workers(scheduler=cluster.scheduler_address):
        spread = run(tmp_path / "cluster", profile, jobs=2)
    assert set(spread.ran) == set(alone.ran) and spread.trained == alone.trained
    for one, other in zip(read(tmp_path / "cluster"), read(tmp_path / "alone"), strict=True):
        assert one["algorithm"] == other["algorithm"]
        assert float(one["average_cost"]) == pytest.approx(float(other["average_cost"]), rel=0.1)


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


class TestBudget:
    """The time of a run whose trainings are in other processes."""

    def test_waiting_ends(self):
        before = signal.getsignal(signal.SIGALRM)
        with pytest.raises(BudgetSpent), TimeBudget(1e-5).alarm():
            time.sleep(60)
        assert signal.getsignal(signal.SIGALRM) is before
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0

    def test_time_that_is_left_alarms_nobody(self):
        with TimeBudget(1e-5).alarm():
            pass
        time.sleep(0.1)

    def test_in_another_thread_no_signal_is_set(self):
        def enter():
            with TimeBudget(1).alarm():
                found.append(signal.getitimer(signal.ITIMER_REAL)[0])

        found = []
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        assert found == [0]

    @pytest.mark.slow
    def test_trainings_in_processes_end_and_go_on(self, tmp_path):
        # Training takes longer than this, also in processes that earlier tests began.
        with pytest.raises(BudgetSpent), TimeBudget(0.3 / 3600).alarm(), workers(2):
            run(tmp_path, SHORT, jobs=2)
        assert not (tmp_path / "results.csv").exists()
        with workers(2):
            assert len(run(tmp_path, SHORT, jobs=2).ran) > 0
