"""Files that are replaced as a whole."""

import contextlib
import os
import pathlib
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
