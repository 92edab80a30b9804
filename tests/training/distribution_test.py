"""Several devices and processes: the weights of one, to rounding, at the same global batch."""

import concurrent.futures
import json
import socket

import keras
import pytest

from tests.support.fresh_process import run_python

BACKEND = keras.backend.backend()
FOUR_DEVICES = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}


def differences(call: str, **environment: str) -> list[float]:
    """What a function of `tests.support.distributed` tells, called in a process of its own."""
    printed = run_python(
        f"from tests.support import distributed; distributed.{call}", **environment
    )
    return json.loads(printed.splitlines()[-1])


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.mark.skipif(BACKEND == "torch", reason="Keras splits no batch between PyTorch's devices")
class TestReplicas:
    def test_equal_one_device(self):
        """Pre-training with masking noise and training, by hand and as a row."""
        if BACKEND == "jax":
            found = differences("data_parallel()", **FOUR_DEVICES)
        else:
            found = differences("mirrored_strategy()")
        assert len(found) == 2
        assert max(found) < 1e-5


@pytest.mark.skipif(BACKEND != "jax", reason="Keras trains in several processes on JAX alone")
@pytest.mark.slow
def test_two_processes_equal_one():
    port = free_port()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        calls = [f"worker({process}, {port})" for process in range(2)]
        found = list(pool.map(differences, calls))
    assert max(found) < [1e-5]
