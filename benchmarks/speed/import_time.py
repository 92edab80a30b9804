"""What importing the package takes beyond Keras."""

import os
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
from paired import Ratio
from row import Row

BACKENDS, PROCESSES = ("tensorflow", "jax", "torch"), 1
CODE = """
import time
import keras
start = time.perf_counter()
import csdl_keras
print(time.perf_counter() - start)
"""


def _seconds() -> float:
    # Messages of the backend are discarded.
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ,
        text=True,
    )
    return float(done.stdout.splitlines()[-1])


def measure(quick: bool) -> Iterator[Row]:
    """Measures seconds of `import csdl_keras` after `import keras` in fresh processes."""
    # The first process reads files from the disk.
    taken = np.array([_seconds() for _ in range(3 if quick else 4)])[1:]
    yield Row(
        "import csdl_keras",
        "seconds after import keras",
        Ratio.of(taken),
        "<= 0.1",
        "fresh processes",
    )
