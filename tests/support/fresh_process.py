"""Runs Python where nothing has been imported yet."""

import os
import pathlib
import subprocess
import sys
from typing import Any

import keras

REPOSITORY = pathlib.Path(__file__).parents[2]


def _process(code: str, arguments: tuple, environment: dict[str, str]) -> dict[str, Any]:
    """Arguments of `subprocess.Popen`: the same backend unless the environment says otherwise."""
    variables = {
        **os.environ,
        "KERAS_BACKEND": keras.backend.backend(),
        "PYTHONPATH": str(REPOSITORY),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        **environment,
    }
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return {"args": command, "env": variables, "text": True}


def start_python(code: str, *arguments: object, **environment: str) -> subprocess.Popen[str]:
    """Starts `code` in a new process, with pipes to its input and from its output."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen(**_process(code, arguments, environment), **pipes)


def run_python(code: str, exit_code: int = 0, **environment: str) -> str:
    """Runs `code` in a new process to its end; its output."""
    process = _process(code, (), environment)
    done = subprocess.run(**process, capture_output=True, timeout=300)
    assert done.returncode == exit_code, done.stderr
    return done.stdout
