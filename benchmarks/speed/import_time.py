"""The seconds of importing the package in addition to Keras."""

from collections.abc import Iterator

import child
import numpy as np
from paired import Ratio, Row

BACKENDS, PROCESSES = ("tensorflow", "jax", "torch"), 1
CODE = """
import time
import keras
start = time.perf_counter()
import csdl_keras
print(time.perf_counter() - start)
"""


def measure(quick: bool) -> Iterator[Row]:
    """Measures seconds of `import csdl_keras` after `import keras` in fresh processes."""
    # The first process reads files from the disk.
    taken = np.array([child.printed("-c", CODE) for _ in range(3 if quick else 4)])[1:]
    ratio = Ratio.of(taken)
    yield Row("import csdl_keras", "seconds after import keras", ratio, "<= 0.1", "fresh processes")
