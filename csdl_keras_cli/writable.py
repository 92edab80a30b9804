"""Checks folders before writing, and writes files atomically."""

import contextlib
import os
import pathlib
import tempfile
import uuid
from collections.abc import Iterator


@contextlib.contextmanager
def replacing(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yields a temporary path to write to, which replaces `path` when the block ends."""
    unfinished = path.with_name(f"unfinished-{uuid.uuid4().hex}{path.suffix}")
    try:
        yield unfinished
        with unfinished.open("r+b") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()


def check_writable(name: str, folder: pathlib.Path) -> None:
    """Creates a folder, called `name` in messages, and checks that it is writable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise ValueError(f"{name} {folder} is not a writable folder: {error}.") from error


def check_new(name: str, folder: pathlib.Path) -> None:
    """Creates a folder, called `name` in messages; raises an error if it is not empty."""
    check_writable(name, folder)
    if any(folder.iterdir()):
        raise ValueError(f"{name} {folder} is not empty. Choose a new or an empty folder.")
