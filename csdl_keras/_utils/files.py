"""Replaces files as a whole and checks folders for writing."""

import contextlib
import json
import os
import pathlib
import tempfile
import uuid
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def replacing(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yields a new file to write, which replaces `path` at the end; the old one stays till then."""
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
    """Writes `content` to a file, which holds the old or the new content, never half."""
    with replacing(path) as unfinished:
        unfinished.write_bytes(content)


def save_model(model: Any, path: pathlib.Path) -> None:
    """Saves a Keras model, or a `CSOSR`, so that the file holds the old or the new one."""
    with replacing(path) as unfinished:
        model.save(unfinished)


def read_json(path: pathlib.Path) -> dict[str, Any]:
    """Reads a JSON object."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise ValueError(f"Expected {path} to be a JSON object; {error}.") from error


def check_writable(name: str, folder: pathlib.Path) -> None:
    """Makes a folder, called `name` in messages, and checks that files can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(65536))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise ValueError(
            f"Expected {name} to be a folder that can be written to; received {folder}: {error}."
        ) from error
