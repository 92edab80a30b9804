"""The folder of a run, and the record of what made it."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import shlex
import sys
from importlib import metadata
from typing import Any

import keras

from csdl_keras._json_file import read_json
from csdl_keras._replace_file import replace_file
from csdl_keras._writable import check_writable


def prepare_folder(folder: pathlib.Path | None, dataset: str) -> pathlib.Path:
    """Makes the folder of a run; raises a ValueError unless it is writable and empty."""
    if folder is None:
        stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
        folder = pathlib.Path("csdl_runs") / f"{dataset.replace('/', '_')}-{stamp}"
    check_writable("--out", folder)
    if any(folder.iterdir()):
        raise ValueError(
            f"Expected --out to be a new or empty folder, so that nothing is overwritten; "
            f"{folder} holds {len(list(folder.iterdir()))} entries."
        )
    return folder


def write_record(
    folder: pathlib.Path, arguments: argparse.Namespace, choices: dict[str, Any]
) -> None:
    """Writes run.json: the command, versions and choices behind the results."""
    _write(folder / "run.json", _record(arguments, choices))


def append_record(
    folder: pathlib.Path, arguments: argparse.Namespace, choices: dict[str, Any]
) -> None:
    """Adds a run to the list in run.json, for folders in which runs go on."""
    path = folder / "run.json"
    runs = read_json(path).get("runs", []) if path.exists() else []
    _write(path, {"runs": [*runs, _record(arguments, choices)]})


def _write(path: pathlib.Path, content: dict[str, Any]) -> None:
    replace_file(path, (json.dumps(content, indent=2) + "\n").encode())


def _record(arguments: argparse.Namespace, choices: dict[str, Any]) -> dict[str, Any]:
    packages = ("csdl_keras", "keras", "tensorflow", "jax", "torch", "numpy", "scikit-learn")
    versions = {"python": platform.python_version()}
    for package in packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "command": shlex.join(["csdl-keras", *sys.argv[1:]]),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "arguments": {name: str(value) for name, value in vars(arguments).items()},
        "settings": choices,
        "versions": versions,
        "backend": keras.backend.backend(),
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
    }
