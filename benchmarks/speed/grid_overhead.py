"""A whole grid beside the sum of what its stages took."""

import contextlib
import io
import json
import pathlib
import tempfile
import time
from collections.abc import Iterator

import numpy as np
from paired import Ratio
from row import Row

from csdl_keras.experiments.cli import main

BACKENDS = ("tensorflow",)


def measure(quick: bool) -> Iterator[Row]:
    """`csdl-keras table2 --profile tiny`, in one process."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["table2", "--profile", "tiny", "--jobs", "1", "--out", folder]
        if quick:
            command += ["--algorithms", "dnn_bayes,sdae_bayes,csdnn,csosr"]
        start = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            main(command)
        whole = time.perf_counter() - start
        stages = 0.0
        for path in pathlib.Path(folder).rglob("*.npz"):
            with np.load(path) as file:
                record = json.loads(file["record"].tobytes())
            if "seconds" in record:  # a stage, and not the decisions that are in the results
                stages += record["seconds"]
    yield Row(
        "table2 --profile tiny" + (", four rows" if quick else ""),
        "seconds beside the sum of its stages",
        Ratio(whole / stages, whole / stages, whole / stages),
        "<= 1.1",
        f"{whole:.0f} s of {stages:.0f} s of stages; one run",
    )
