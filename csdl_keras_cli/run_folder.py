"""The folder of a run, new or continued, with a record of what made it, `run.json`."""

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
from csdl_keras._utils.files import check_writable, read_json, replace_file

_PACKAGES = ("csdl_keras", "keras", "tensorflow", "jax", "torch", "numpy", "scikit-learn")


def prepare_folder(folder: pathlib.Path | None, dataset: str) -> pathlib.Path:
    """Makes the folder of a run; raises a ValueError unless it is writable and empty."""
    if folder is None:
        stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
        folder = pathlib.Path("csdl_runs") / f"{dataset.replace('/', '_')}-{stamp}"
    check_writable("--out", folder)
    if any(folder.iterdir()):
        raise ValueError(
            "Expected --out to be a new or empty folder, so that nothing is overwritten; received "
            f"{folder}."
        )
    return folder


class RunRecord:
    """The record of one run in run.json: the command, versions, settings and data.

    In a folder where runs go on, `continued`, the records of earlier ones stay before it, in
    `{"runs": [records]}`.
    """

    def __init__(
        self,
        folder: pathlib.Path,
        arguments: argparse.Namespace,
        settings: Mapping[str, object],
        data: Mapping[str, object],
        continued: bool = False,
    ):
        self._path, self._continued = folder / "run.json", continued
        there = continued and self._path.exists()
        self._before: list[Any] = read_json(self._path).get("runs", []) if there else []
        # The default of --dataset counts for nothing where own data are given.
        own = {"dataset": None} if vars(arguments).get("data") else {}
        machine = {"processor": platform.machine(), "cores": os.cpu_count()}
        machine["accelerators"] = ", ".join(accelerators()) or "none"
        self._record = {
            "command": shlex.join(["csdl-keras", *sys.argv[1:]]),
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "arguments": vars(arguments) | own,
            "data": data,
            "settings": settings,
            "versions": _versions(),
            "commit": _commit(),
            "backend": keras.backend.backend(),
            "machine": machine,
        }
        self._write([*self._before, self._record])

    def add_findings(self, findings: Mapping[str, object]) -> None:
        """Adds what the run found."""
        self._write([*self._before, {**self._record, "findings": findings}])

    def remove(self) -> None:
        """Removes the record of a run that came to nothing."""
        self._write(self._before)

    def _write(self, records: list[Any]) -> None:
        if not records:
            self._path.unlink()
            return
        content = {"runs": records} if self._continued else records[0]
        # Paths are no values of JSON.
        replace_file(self._path, (json.dumps(content, indent=2, default=str) + "\n").encode())


def accelerators() -> list[str]:
    """Returns the names of the devices that the backend computes on, other than processors."""
    if keras.backend.backend() == "torch":
        cuda = importlib.import_module("torch").cuda
        return [cuda.get_device_name(index) for index in range(cuda.device_count())]
    names = map(str, keras.distribution.list_devices())
    return [name for name in names if "cpu" not in name.lower()]


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions


def _commit() -> str | None:
    """Returns the commit of the checkout that the package is in, `None` if it is in none."""
    folder = pathlib.Path(csdl_keras.__file__).parents[1]
    if not (folder / ".git").exists():
        return None
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12"]
    with contextlib.suppress(OSError):  # Git is not installed.
        return subprocess.run(command, capture_output=True, text=True).stdout.strip() or None
    return None
