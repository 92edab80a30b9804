"""Folders that can be written to, and files that are written as a whole."""

import contextlib
import os
import pathlib
import tempfile
import uuid
from collections.abc import Iterator


@contextlib.contextmanager
def replacing(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yields a new file to write, which replaces `path` at the end; the old one stays till then."""
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
    """Makes a folder, called `name` in messages, and checks that files can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise ValueError(
            f"Expected {name} to be a folder that can be written to; received {folder}: {error}."
        ) from error


def check_new(name: str, folder: pathlib.Path) -> None:
    """Makes a folder, called `name` in messages, unless it has files that would be mixed up."""
    check_writable(name, folder)
    if any(folder.iterdir()):
        raise ValueError(
            f"Expected {name} to be a new or empty folder, so that nothing is overwritten; "
            f"received {folder}."
        )
