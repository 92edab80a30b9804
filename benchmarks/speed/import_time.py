"""What importing the package takes beyond Keras."""

import os
import subprocess
import sys
from collections.abc import Iterator

from paired import Ratio, interleaved
from row import Row

BACKENDS = ("tensorflow", "jax", "torch")


def _run(code: str) -> None:
    # With the backend's own messages out of the way.
    subprocess.run(
        [sys.executable, "-c", code], check=True, stderr=subprocess.DEVNULL, env=os.environ
    )


def measure(quick: bool) -> Iterator[Row]:
    """Seconds of a fresh process."""
    found = interleaved(
        {
            "keras": lambda: _run("import keras"),
            "ours": lambda: _run("import csdl_keras"),
        },
        2 if quick else 5,
    )
    yield Row(
        "import csdl_keras",
        "seconds more than import keras",
        Ratio.of(found["ours"] - found["keras"]),
        "<= 0.1",
    )
