"""Runs Python where nothing has been imported yet."""

import os
import pathlib
import subprocess
import sys

import keras

REPOSITORY = pathlib.Path(__file__).parents[2]


def run_python(code: str, exit_code: int = 0, **environment: str) -> str:
    """Runs `code` in a new process, on the same backend unless told otherwise; its output."""
    variables = {
        **os.environ,
        "KERAS_BACKEND": keras.backend.backend(),
        "PYTHONPATH": str(REPOSITORY),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        **environment,
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == exit_code, done.stderr
    return done.stdout
