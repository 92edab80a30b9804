"""The folder of a run, and the record of what made it."""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import shlex
import sys
from importlib import metadata

from csdl_keras.settings import Settings


def prepare_folder(folder: pathlib.Path | None, dataset: str) -> pathlib.Path:
    """Makes the folder of a run; raises a ValueError unless it is writable and empty."""
    if folder is None:
        stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
        folder = pathlib.Path("csdl_runs") / f"{dataset.replace('/', '_')}-{stamp}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError as error:
        raise ValueError(f"Expected --out to be a folder that can be written; {error}.") from error
    if any(folder.iterdir()):
        raise ValueError(
            f"Expected --out to be a new or empty folder, so that nothing is overwritten; "
            f"{folder} holds {len(list(folder.iterdir()))} entries."
        )
    return folder


def write_record(folder: pathlib.Path, arguments: argparse.Namespace, settings: Settings) -> None:
    """Writes run.json: the command, versions and choices behind the results."""
    packages = ("csdl_keras", "keras", "tensorflow", "jax", "torch", "numpy", "scikit-learn")
    versions = {"python": platform.python_version()}
    for package in packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    record = {
        "command": shlex.join(["csdl-keras", *sys.argv[1:]]),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "arguments": {name: str(value) for name, value in vars(arguments).items()},
        "settings": dataclasses.asdict(settings),
        "versions": versions,
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
    }
    (folder / "run.json").write_text(json.dumps(record, indent=2) + "\n")
