"""Records the runs that made a folder of results in `run.json`."""

import argparse
import contextlib
import datetime
import importlib
import json
import os
import pathlib
import platform
import shlex
import subprocess
import sys
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import keras

import csdl_keras
from csdl_keras._utils.files import replace_file
from csdl_keras.paper.results import read_runs


class RunRecord:
    """Appends a record with command, versions, settings and data of a run to `run.json`."""

    def __init__(
        self,
        folder: pathlib.Path,
        arguments: argparse.Namespace,
        settings: Mapping[str, object],
        data: Mapping[str, object],
    ):
        self._path, before = folder / "run.json", read_runs(folder)
        # With the user's own data, the default of --dataset is not used.
        own = {"dataset": None} if vars(arguments).get("data") else {}
        machine = {"processor": platform.machine(), "cores": os.cpu_count()}
        machine["accelerators"] = ", ".join(accelerators()) or "none"
        versions = {"python": platform.python_version()}
        for package in "csdl_keras keras tensorflow jax torch numpy scikit-learn".split():
            with contextlib.suppress(metadata.PackageNotFoundError):
                versions[package] = metadata.version(package)
        record = {
            "command": shlex.join(["csdl-keras", *sys.argv[1:]]),
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "arguments": vars(arguments) | own,
            "data": data,
            "settings": settings,
            "versions": versions,
            "commit": _commit(),
            "backend": keras.backend.backend(),
            "machine": machine,
        }
        self._records: list[dict[str, Any]] = [*before, record]
        self.add()

    def add(self, **findings: object) -> None:
        self._records[-1] |= findings
        # JSON has no type for paths, so they become text.
        content = json.dumps({"runs": self._records}, indent=2, default=str)
        replace_file(self._path, f"{content}\n".encode())


def accelerators() -> list[str]:
    """Returns the names of the accelerators that the backend uses."""
    if keras.backend.backend() == "torch":
        cuda = importlib.import_module("torch").cuda
        return [cuda.get_device_name(index) for index in range(cuda.device_count())]
    names = map(str, keras.distribution.list_devices())
    return [name for name in names if "cpu" not in name.lower()]


def _commit() -> str | None:
    """Returns the commit of the package's Git checkout, or `None` if there is none."""
    folder = pathlib.Path(csdl_keras.__file__).parents[1]
    if not (folder / ".git").exists():
        return None
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12"]
    with contextlib.suppress(OSError):  # Git is not installed.
        return subprocess.run(command, capture_output=True, text=True).stdout.strip() or None
    return None
