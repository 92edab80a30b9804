"""Several devices and processes: the weights of one, to rounding, at the same global batch."""

import concurrent.futures
import json
import socket

import keras
import pytest

from tests.support.fresh_process import run_python

BACKEND = keras.backend.backend()


def differences(call: str, **environment: str) -> list[float]:
    """Differences that a function of `tests.support.distributed` finds in its own process."""
    code = f"from tests.support import distributed; distributed.{call}"
    return json.loads(run_python(code, **environment).splitlines()[-1])


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
