"""Locks a folder, so that two processes do not search in it at the same time."""

import contextlib
import pathlib
from collections.abc import Iterator

import filelock


@contextlib.contextmanager
def search_lock(path: pathlib.Path, folder: pathlib.Path) -> Iterator[None]:
    """Holds a lock, which the operating system releases if this process is killed.

    Args:
        path: file of the lock.
        folder: the locked folder, for the message.

    Raises:
        ValueError: at once, if another process holds the lock.
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
