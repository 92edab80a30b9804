"""Finished stages of training, in memory or in a folder."""

import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from csdl_keras._optional import optional_module


@dataclasses.dataclass(frozen=True)
class StageResult:
    """What a finished stage leaves.

    Args:
        arrays: weights, or whatever arrays the stage makes.
        info: numbers and strings about it, fit for JSON.
        seconds: what it took.
    """

    arrays: Sequence[np.ndarray]
    info: dict[str, Any]
    seconds: float = 0.0


def fingerprint(*arrays: np.ndarray) -> str:
    """A digest of the shapes, types and contents of arrays."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype.str}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


class StageCache:
    """Keeps what stages leave, found by a description of everything that they depend on.

    The address of a stage is a digest of its description, so that a changed
    choice finds nothing and an unchanged one never computes twice. In a folder,
    a stage is one file that appears whole or not at all: a process killed at
    any moment leaves nothing half-written, and processes that share the folder
    wait for each other instead of computing the same stage.

    Args:
        folder: where the files are, made if it is not there; `None` (default)
            keeps stages in memory.

    Example:

    >>> cache = StageCache()
    >>> compute = lambda: ([np.arange(3)], {"epochs": 2})
    >>> cache.get({"stage": "a"}, compute).info
    {'epochs': 2}
    >>> {"stage": "a"} in cache, {"stage": "b"} in cache
    (True, False)
    """

    def __init__(self, folder: str | os.PathLike | None = None):
        self.folder = None if folder is None else pathlib.Path(folder)
        self._memory: dict[str, StageResult] = {}

    @staticmethod
    def key(description: dict[str, Any]) -> str:
        """The address of a stage, 64 hexadecimal digits."""
        text = json.dumps(description, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def path(self, description: dict[str, Any]) -> pathlib.Path:
        """The file of a stage."""
        if self.folder is None:
            raise ValueError("Expected a cache with a folder; this one is in memory.")
        key = self.key(description)
        return self.folder / key[:2] / f"{key}.npz"

    def __contains__(self, description: dict[str, Any]) -> bool:
        if self.folder is None:
            return self.key(description) in self._memory
        return self.path(description).exists()

    def get(
        self,
        description: dict[str, Any],
        compute: Callable[[], tuple[Sequence[np.ndarray], dict[str, Any]]],
    ) -> StageResult:
        """The stage of that description, computed unless it has been.

        Args:
            description: all that the stage depends on, fit for JSON.
            compute: makes its arrays and `info`.
        """
        with self._lock(description):
            found = self.find(description)
            if found is not None:
                return found
            start = time.perf_counter()
            arrays, info = compute()
            result = StageResult(list(arrays), info, round(time.perf_counter() - start, 3))
            self._keep(description, result)
            return result

    def put(self, description: dict[str, Any], result: StageResult) -> None:
        """Keeps a stage that was computed elsewhere, unless it is there.

        Args:
            description: all that the stage depends on, fit for JSON.
            result: what it left.
        """
        with self._lock(description):
            if description not in self:
                self._keep(description, result)

    def find(self, description: dict[str, Any]) -> StageResult | None:
        """The stage of that description, or None; an unreadable file counts as none."""
        if self.folder is None:
            return self._memory.get(self.key(description))
        try:
            with np.load(self.path(description), allow_pickle=False) as file:
                record = json.loads(file["record"].tobytes())
                arrays = [file[f"array_{i}"] for i in range(record["arrays"])]
        except (FileNotFoundError, zipfile.BadZipFile, KeyError, ValueError, EOFError):
            return None
        return StageResult(arrays, record["info"], record["seconds"])

    def _keep(self, description: dict[str, Any], result: StageResult) -> None:
        if self.folder is None:
            self._memory[self.key(description)] = result
            return
        record = {
            "arrays": len(result.arrays),
            "info": result.info,
            "seconds": result.seconds,
            "description": description,
        }
        arrays: dict[str, Any] = {f"array_{i}": it for i, it in enumerate(result.arrays)}
        path = self.path(description)
        unfinished = path.with_name(f"unfinished-{uuid.uuid4().hex}")
        with unfinished.open("wb") as file:
            np.savez(file, record=np.frombuffer(json.dumps(record).encode(), np.uint8), **arrays)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)

    @contextlib.contextmanager
    def _lock(self, description: dict[str, Any]) -> Iterator[None]:
        """Holds a stage against other processes; the system lets go if this one is killed."""
        if self.folder is None:
            yield
            return
        path = self.path(description).with_suffix(".lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        with optional_module("filelock", "compare").FileLock(path):
            yield
