"""Training where joblib is configured to: in several processes, and on a cluster of Dask."""

import contextlib
import functools
import gc
import os
import signal
import time

import joblib
import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.fitting.cache import environment
from csdl_keras.training.parallel import forget_models, run_tasks
from tests.support.fresh_process import start_python
from tests.support.testing import dtype_policy
from tests.support.trainers import MATRICES, Counter, make_trainer, outputs
from tests.support.weights import assert_same_weights
from tests.training.own_parts_test import TOY

REQUESTS = [
    ("dnn_bayes", MATRICES[1]),
    ("sdae_sosr", MATRICES[0]),
    ("dnn_blind", MATRICES[0]),
    (TOY, MATRICES[0]),  # other processes unpickle classes of a test file
]


def work(number):
    if number == 2:
        raise csdl.DivergedError("no luck", epoch=3)
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number, keras.config.dtype_policy().name


@pytest.mark.slow
def test_a_task_that_fails_or_ends_its_process_stops_no_other():
    tasks = {str(number): functools.partial(work, number) for number in range(6)}
    with joblib.parallel_config(n_jobs=2), dtype_policy("mixed_bfloat16"):
        found = dict(run_tasks(tasks, environment()))
    assert isinstance(found["2"], csdl.DivergedError) and found["2"].epoch == 3
    assert isinstance(found["3"], Exception)
    for number in (0, 1, 4, 5):
        assert found[str(number)] == (number, "mixed_bfloat16")


@pytest.mark.slow  # It frees all that the tests before it left.
def test_settings_outlive_forgotten_models(monkeypatch):
    # All that other tests left behind takes half a minute to free.
    monkeypatch.setattr(gc, "collect", lambda: 0)
    with dtype_policy("mixed_bfloat16"):
        before = environment()
        forget_models()
        assert environment() == before


def test_what_several_processes_need():
    counter = Counter()
    with joblib.parallel_config(n_jobs=2):
        with pytest.raises(ValueError, match="needs a `seed`"):
            make_trainer(seed=None).train("dnn_blind", MATRICES[0])
        counter.observes_only = False
        with pytest.raises(ValueError, match="several processes, `callbacks` must only observe"):
            make_trainer(callbacks=[counter]).train("dnn_blind", MATRICES[0])


class TestTrainAll:
    """Requests that share trainings."""

    @pytest.fixture(scope="class")
    def alone(self, run_module_eagerly):
        return dict(make_trainer().train_all(REQUESTS))

    def compare(self, found, alone):
        assert found.keys() == alone.keys()
        assert found[0].seconds == found[2].seconds > 0
        for index, trained in found.items():
            expected = outputs(alone[index].model)
            np.testing.assert_allclose(outputs(trained.model), expected, rtol=1e-3, atol=1e-4)

    def test_what_train_returns_in_the_order_of_requests(self, alone):
        assert list(alone) == [0, 1, 2, 3]
        twin = make_trainer().train(*REQUESTS[1])
        assert_same_weights(alone[1].model, twin.model)
        assert alone[1].epochs == twin.epochs

    @pytest.mark.parametrize("folder", [pytest.param(False, marks=pytest.mark.slow), True])
    def test_two_processes(self, alone, folder, tmp_path):
        cache = csdl.StageCache(tmp_path) if folder else None
        counter = Counter()
        with joblib.parallel_config(n_jobs=2):
            found = dict(make_trainer(cache=cache, callbacks=[counter]).train_all(REQUESTS))
        self.compare(found, alone)
        assert counter.fits == 0
        assert len(list(tmp_path.rglob("*.npz"))) == (5 if folder else 0)  # each once

    @pytest.mark.slow
    def test_a_cluster(self, alone, tmp_path):
        distributed = pytest.importorskip("distributed")
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        )
        with cluster, distributed.Client(cluster), joblib.parallel_config("dask"):
            found = dict(make_trainer(cache=csdl.StageCache(tmp_path)).train_all(REQUESTS))
        self.compare(found, alone)

    def test_errors_of_requests(self, run_eagerly):
        failed = {}
        fast = csdl.Settings().limit_epochs(1).replace({"mlp.learning_rate": 1e38})
        requests = [("dnn_sosr", MATRICES[0], fast), ("dnn_blind", MATRICES[0])]
        trainer = make_trainer()
        found = dict(trainer.train_all(requests, on_error=failed.__setitem__))
        assert list(found) == [1] and isinstance(failed[0], csdl.DivergedError)
        with pytest.raises(csdl.DivergedError):
            list(trainer.train_all(requests))

    @pytest.mark.parametrize("wrong", [("dnn", MATRICES[0]), ("dnn_blind",)])
    def test_wrong_requests_are_refused_before_any_training(self, wrong):
        with pytest.raises((ValueError, TypeError), match="`algorithm` to be|'cost_matrix'"):
            make_trainer().train_all([("dnn_blind", MATRICES[0]), wrong])


ENDLESS = """
import joblib
import csdl_keras as csdl

data = csdl.datasets.load("digits")
matrices = [csdl.costs.randomized_proportional(data.y_train, seed=seed) for seed in range(4)]
settings = csdl.Settings().limit_epochs(100_000)
cache = csdl.StageCache({folder!r})
trainer = csdl.Trainer(data.x_train, data.y_train, settings=settings, seed=0, cache=cache)
with joblib.parallel_config(n_jobs=2):
    list(trainer.train_all([("dnn_sosr", matrix) for matrix in matrices]))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="elsewhere a parent that has ended stays")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGKILL"])
def test_workers_do_not_outlive_their_parent(name, tmp_path):
    psutil = pytest.importorskip("psutil")

    def alive(processes):
        found = []
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                found += [process] if process.status() != psutil.STATUS_ZOMBIE else []
        return found

    process, below = start_python(ENDLESS.format(folder=str(tmp_path))), []
    try:
        deadline = time.monotonic() + 240
        while len([it for it in alive(below) if sum(it.cpu_times()[:2]) > 5]) < 2:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.5)
            below = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(getattr(signal, name))
        process.communicate(timeout=60)
        deadline = time.monotonic() + 15
        while alive(below) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert alive(below) == []
    finally:
        for each in [process, *below]:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
