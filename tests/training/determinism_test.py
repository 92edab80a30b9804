"""The same weights bit for bit from one seed, and to rounding on several devices."""

import concurrent.futures
import json
import socket

import keras
import numpy as np
import pytest

from tests.support.fresh_process import run_python
from tests.support.trainers import MATRICES, VALIDATION, make_trainer


def trained(algorithm, **arguments):
    trainer = make_trainer(validation_data=VALIDATION, **arguments)
    return trainer.train(algorithm, MATRICES[0]).model.get_weights()


@pytest.mark.parametrize("algorithm", ["csdnn", "calibrated_bayes"])
def test_the_global_seed(algorithm, run_eagerly):
    found = []
    for _ in range(2):
        keras.utils.set_random_seed(3)
        found.append(trained(algorithm, seed=None))
    assert all(map(np.array_equal, *found))


@pytest.mark.slow
def test_fresh_processes_agree():
    code = """
import hashlib
from tests.training.determinism_test import trained
print(hashlib.sha256(b"".join(it.tobytes() for it in trained("csdnn"))).hexdigest())
"""
    one, other = (run_python(code, PYTHONHASHSEED=seed).split()[-1] for seed in ("1", "2"))
    assert one == other and len(one) == 64


BACKEND = keras.backend.backend()


def differences(call: str, **environment: str) -> list[float]:
    """Differences that a function of `tests.support.distributed` finds in its own process."""
    code = f"from tests.support import distributed; distributed.{call}"
    return json.loads(run_python(code, **environment).splitlines()[-1])


@pytest.mark.slow
@pytest.mark.skipif(BACKEND == "torch", reason="Keras splits no batch between PyTorch's devices")
def test_replicas_equal_one_device():
    """Pre-training with masking noise and training, by hand and as an algorithm."""
    if BACKEND == "jax":
        flags = "--xla_force_host_platform_device_count=4"
        found = differences("data_parallel()", XLA_FLAGS=flags)
    else:
        found = differences("mirrored_strategy()")
    assert len(found) == 2
    assert max(found) < 1e-5


@pytest.mark.skipif(BACKEND != "jax", reason="Keras trains in several processes on JAX alone")
@pytest.mark.slow
def test_two_processes_equal_one():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        calls = [f"worker({process}, {port})" for process in range(2)]
        found = list(pool.map(differences, calls))
    assert max(found) < [1e-5]
