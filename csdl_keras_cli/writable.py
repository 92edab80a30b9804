"""Checks that a folder can be written to."""

import pathlib
import tempfile


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
