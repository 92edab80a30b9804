"""The folder of a run: new or continued, with a record of what made it."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

import filelock
import keras

from csdl_keras._utils.files import check_writable, read_json, replace_file
from csdl_keras._utils.optional import optional_module
from csdl_keras.experiments.code_version import code_version
from csdl_keras.fitting.environment import environment


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
    folder: pathlib.Path,
    arguments: argparse.Namespace,
    choices: Mapping[str, object],
    data: Mapping[str, object],
) -> None:
    """Writes run.json: the command, versions, code, choices and data behind the results."""
    _write(folder / "run.json", _record(arguments, choices, data))


def append_record(
    folder: pathlib.Path,
    arguments: argparse.Namespace,
    choices: Mapping[str, object],
    harmless: Sequence[str] | None = None,
    data: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """Adds a run to the list in run.json, for folders in which runs go on.

    Args:
        folder: the folder.
        arguments: those of the command line.
        choices: the settings that follow from them.
        data: describes the data, see `data_record`; `None` (default) if `choices` do.
        harmless: names of the arguments that may differ between runs in one folder;
            `None` (default) allows all of them.

    Returns:
        The record that was added.

    Raises:
        ValueError: if the folder holds a run of which another argument or the backend
            is not the same; nothing is written then.
    """
    path = folder / "run.json"
    new = json.loads(_text(_record(arguments, choices, data)))  # as it is read again
    with filelock.FileLock(folder / ".lock"):
        runs = read_run_records(folder)
        if harmless is not None:
            for run in runs:
                _check_same(folder, run, new, harmless)
        if not runs and (folder / "results.csv").exists():
            raise ValueError(
                f"Expected --out to be a new folder or one with a run.json that says what made "
                f"its results; received {folder}."
            )
        _write(path, {"runs": [*runs, new]})
    return new


def add_findings(folder: pathlib.Path, findings: Mapping[str, object]) -> None:
    """Adds what a run found to its record, the last one."""
    path = folder / "run.json"
    content = read_json(path)
    content.get("runs", [content])[-1]["findings"] = findings
    _write(path, content)


def remove_record(folder: pathlib.Path, record: Mapping[str, Any]) -> None:
    """Removes the record of a run that came to nothing; other processes may have added theirs."""
    path = folder / "run.json"
    with filelock.FileLock(folder / ".lock"):
        runs = [run for run in read_run_records(folder) if run != record]
        if runs:
            _write(path, {"runs": runs})
        else:
            path.unlink(missing_ok=True)


def read_run_records(folder: pathlib.Path) -> list[dict[str, Any]]:
    """Reads `run.json`: `{"runs": [...]}`, or the one record of `csdl-keras compare`.

    Args:
        folder: results folder.

    Returns:
        Records with `command`, `date`, `versions`, `code` and `machine`, as far as they
        are known; an empty list if there is no such file.

    Raises:
        ValueError: if the file holds anything else.
    """
    path = folder / "run.json"
    if not path.exists():
        return []
    content = read_json(path)
    records = content.get("runs", [content])
    if not isinstance(records, list) or not all(_is_record(each) for each in records):
        raise ValueError(f'Expected {path} to be {{"runs": [records]}}; received other JSON.')
    return records


def _is_record(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("arguments", {}), dict)


def _check_same(
    folder: pathlib.Path, old: dict[str, Any], new: dict[str, Any], harmless: Sequence[str]
) -> None:
    before, now = (
        {"backend": run.get("backend"), **(run.get("arguments") or {})} for run in (old, new)
    )
    # An option that the record does not know came later; switched off, it changes nothing.
    newer = {name for name in now.keys() - before.keys() if str(now[name]) in ("False", "None")}
    names = [it for it in dict.fromkeys((*now, *before)) if it not in harmless and it not in newer]
    # Until 0.2 all values were written as text.
    changed = [name for name in names if str(before.get(name)) != str(now.get(name))]
    if changed:
        told = ", ".join(f"{name} {before.get(name)}, not {now.get(name)}" for name in changed)
        raise ValueError(
            "Expected --out to be a new folder or that of a run with the same options; "
            f"{folder} holds one with {told}."
        )


def _write(path: pathlib.Path, content: Mapping[str, object]) -> None:
    replace_file(path, (_text(content) + "\n").encode())


def _text(content: Mapping[str, object]) -> str:
    return json.dumps(content, indent=2, default=str)  # Paths are no values of JSON.


def _record(
    arguments: argparse.Namespace,
    choices: Mapping[str, object],
    data: Mapping[str, object] | None,
) -> dict[str, Any]:
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
        # The default of --dataset counts for nothing where own data are given.
        "arguments": vars(arguments) | ({"dataset": None} if vars(arguments).get("data") else {}),
        **({} if data is None else {"data": data}),
        "settings": choices,
        "versions": versions,
        "code": code_version(),
        "backend": keras.backend.backend(),
        "machine": {"processor": platform.machine(), "cores": os.cpu_count(), **_accelerators()},
        "variables": environment()["variables"],
    }


def _accelerators() -> dict[str, str]:
    """Returns the names of the accelerators that the backend computes on, if there are any."""
    backend = keras.backend.backend()
    if backend == "jax":
        devices = optional_module("jax").devices()
        names = [it.device_kind for it in devices if it.platform != "cpu"]
    elif backend == "torch":
        cuda = optional_module("torch").cuda
        names = [cuda.get_device_name(index) for index in range(cuda.device_count())]
    else:
        config = optional_module("tensorflow").config
        found = [
            config.experimental.get_device_details(it) for it in config.list_physical_devices("GPU")
        ]
        names = [it.get("device_name", "GPU") for it in found]
    return {"accelerators": ", ".join(names)} if names else {}
