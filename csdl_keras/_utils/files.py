"""Files that are replaced as a whole."""

import contextlib
import json
import os
import pathlib
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def replacing(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A new file to be written within the `with`, which then takes the place of `path`.

    Whoever is killed, or finds the disk full, leaves what was there before.

    Raises:
        OSError: if it cannot be written.
    """
    unfinished = path.with_name(f"unfinished-{uuid.uuid4().hex}{path.suffix}")
    try:
        yield unfinished
        with unfinished.open("r+b") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        reason = error.strerror or error
        raise OSError(
            error.errno, f"Expected to write {path}, which stays as it was; {reason}"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()


def replace_file(path: pathlib.Path, content: bytes) -> None:
    """Puts `content` in the place of a file, so that it holds the old or the new, never half."""
    with replacing(path) as unfinished:
        unfinished.write_bytes(content)


def save_model(model: Any, path: pathlib.Path) -> None:
    """Saves a Keras model, or a `CSOSR`, so that the file holds the old or the new one."""
    with replacing(path) as unfinished:
        model.save(unfinished)


def read_json(path: pathlib.Path) -> dict[str, Any]:
    """Reads a JSON object.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it holds anything else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"Expected {path} to be JSON; {error}.") from error
    if not isinstance(content, dict):
        raise ValueError(f"Expected {path} to be a JSON object; received other JSON.")
    return content


#: What any folder must have room for.
_LEAST_BYTES = 65536


def check_writable(name: str, folder: pathlib.Path, size: int = _LEAST_BYTES) -> None:
    """Makes a folder; raises unless files of so many bytes in all can be written there.

    Args:
        name: what the folder is, for the message.
        folder: the folder.
        size: the bytes. Defaults to 64 KiB, which are really written.

    Raises:
        ValueError: if they cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_LEAST_BYTES))
            file.flush()
            os.fsync(file.fileno())
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise ValueError(
            f"Expected {name} to be a folder that can be written to; received {folder}: {error}."
        ) from error
    if free < size:
        raise ValueError(
            f"Expected {name} to have room for {size / 1e6:.3g} MB; received {folder} on a disk "
            f"with {free / 1e6:.3g} MB left."
        )


def write_json(path: Any, state: Any) -> None:
    """Writes a JSON file that appears whole or not at all."""
    replace_file(pathlib.Path(path), json.dumps(state).encode())
