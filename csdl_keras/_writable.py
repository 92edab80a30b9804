"""Folders that can be written to, found out before there is something to write."""

import os
import pathlib
import shutil
import tempfile

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
