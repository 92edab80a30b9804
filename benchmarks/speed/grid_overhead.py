"""The seconds of a whole grid relative to the sum of its stages."""

import contextlib
import io
import pathlib
import tempfile
import time
from collections.abc import Iterator

from paired import Ratio, Row

from csdl_keras._utils.files import DamagedFileError, read_arrays
from csdl_keras_cli.main import main

BACKENDS, PROCESSES = ("tensorflow",), 1


def measure(quick: bool) -> Iterator[Row]:
    """Measures `csdl-keras table2 --profile tiny` in one process."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["table2", "--profile", "tiny", "--jobs", "1", "--out", folder]
        if quick:
            command += ["--algorithms", "csdnn"]
        start = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            main(command)
        whole = time.perf_counter() - start
        stages = 0.0
        for path in pathlib.Path(folder).rglob("*.npz"):
            with contextlib.suppress(DamagedFileError):  # Files of decisions are not stages.
                stages += read_arrays(path)[0].get("seconds", 0.0)
    yield Row(
        "table2 --profile tiny" + (", one row" if quick else ""),
        "seconds relative to the sum of its stages",
        Ratio.exactly(whole / stages),
        "<= 1.1",
        f"{whole:.0f} s of {stages:.0f} s of stages",
    )
