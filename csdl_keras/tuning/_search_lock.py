"""A lock that keeps two processes from searching in one folder."""

import contextlib
import pathlib
from collections.abc import Iterator

import filelock


@contextlib.contextmanager
def search_lock(path: pathlib.Path, folder: pathlib.Path) -> Iterator[None]:
    """Holds a search against other processes; the system lets go if this one is killed.

    Args:
        path: the lock's file.
        folder: what is locked, for the message.

    Raises:
        ValueError: at once, if somebody else holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(path)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise ValueError(
            f"Expected no other search under way in {folder}; received one that is. Wait for it, "
            "search in another folder, or share the work: see KerasTuner's distributed tuning."
        ) from None
    try:
        yield
    finally:
        lock.release()
