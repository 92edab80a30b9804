"""Finished stages of training, in memory or in a folder."""

import contextlib
import copy
import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import filelock
import numpy as np

from csdl_keras._utils.array_file import DamagedFileError, read_arrays, write_arrays
from csdl_keras._utils.checks import check_path
from csdl_keras._utils.files import check_writable


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


class StageCache:
    """Keeps what stages leave, found by a description of everything that they depend on.

    The address of a stage is a digest of its description, so that a changed
    choice finds nothing and an unchanged one never computes twice. Trainers on
    different data, with different seeds or under different settings of Keras can
    share a cache: their descriptions hold all of that, and the versions of the
    package, Keras and its backend. In memory it keeps copies. In a folder,
    a stage is one file that appears whole or not at all: a process killed at
    any moment leaves nothing half-written, and processes that share the folder
    wait for each other instead of computing the same stage. Beside it lies, until
    it is finished, what the stage keeps to go on from. A damaged file counts as
    none, with a warning, and its stage is computed anew.

    Args:
        folder: where the files are, made if it is not there; `None` (default)
            keeps stages in memory.

    Raises:
        ValueError: if the folder is no path or cannot be written to; later, if a
            description is not fit for JSON.

    Example:

    >>> cache = StageCache()
    >>> compute = lambda: ([np.arange(3)], {"epochs": 2})
    >>> cache.get({"stage": "a"}, compute).info
    {'epochs': 2}
    >>> {"stage": "a"} in cache, {"stage": "b"} in cache
    (True, False)
    """

    def __init__(self, folder: str | os.PathLike | None = None):
        # A process may move to another working directory, and so may the workers that it starts.
        self.folder = None if folder is None else check_path("folder", folder).absolute()
        if self.folder is not None:
            check_writable("`folder`", self.folder)
        self._memory: dict[str, StageResult] = {}

    @staticmethod
    def key(description: dict[str, Any]) -> str:
        """The address of a stage, 64 hexadecimal digits."""
        try:
            text = json.dumps(description, sort_keys=True, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"Expected a description that JSON can hold; received {description!r}: {error}."
            ) from error
        return hashlib.sha256(text.encode()).hexdigest()

    def path(self, description: dict[str, Any]) -> pathlib.Path:
        """The file of a stage."""
        if self.folder is None:
            raise ValueError("Expected a cache with a folder; this one is in memory.")
        key = self.key(description)
        return self.folder / key[:2] / f"{key}.npz"

    def unfinished(self, description: dict[str, Any]) -> pathlib.Path | None:
        """A folder for what a stage needs to go on from, gone once it is finished.

        `None` if the cache is in memory.
        """
        if self.folder is None:
            return None
        path = self.path(description).with_suffix(".unfinished")
        if path.is_file():
            warn_of_damage(path, "it is a file and no folder")
            path.unlink(missing_ok=True)
        return path

    def __contains__(self, description: dict[str, Any]) -> bool:
        if self.folder is None:
            return self.key(description) in self._memory
        return self.find(description) is not None

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
            result = self.find(description)
            if result is None:
                start = time.perf_counter()
                arrays, info = compute()
                result = StageResult(list(arrays), info, round(time.perf_counter() - start, 3))
                self._keep(description, result)
            self._remove_unfinished(description)
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
            self._remove_unfinished(description)

    def find(self, description: dict[str, Any]) -> StageResult | None:
        """The stage of that description, or None; a damaged file counts as none."""
        key = self.key(description)
        if self.folder is None:
            return copy.deepcopy(self._memory.get(key))
        path = self.path(description)
        try:
            record, arrays = read_arrays(path)
            if self.key(record["description"]) != key:
                raise DamagedFileError("it holds another stage")
            return StageResult(arrays, record["info"], record["seconds"])
        except FileNotFoundError:
            return None
        except (DamagedFileError, KeyError, TypeError, ValueError) as error:
            warn_of_damage(path, error)
            return None

    def _keep(self, description: dict[str, Any], result: StageResult) -> None:
        if self.folder is None:
            self._memory[self.key(description)] = copy.deepcopy(result)
            return
        record = {"info": result.info, "seconds": result.seconds, "description": description}
        write_arrays(self.path(description), record, result.arrays)

    def _remove_unfinished(self, description: dict[str, Any]) -> None:
        folder = self.unfinished(description)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    @contextlib.contextmanager
    def _lock(self, description: dict[str, Any]) -> Iterator[None]:
        """Holds a stage against other processes; the system lets go if this one is killed."""
        if self.folder is None:
            yield
            return
        path = self.path(description).with_suffix(".lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(path):
            yield


def warn_of_damage(path: pathlib.Path, why: object) -> None:
    """Says that a file of a stage cannot be used, so that the stage begins anew."""
    # Always from this line, so that Python says it once for each file.
    warnings.warn(f"{path} is damaged; its stage is computed anew: {why}", stacklevel=1)


def check_cache(cache: Any, seed: int | None) -> StageCache | None:
    """Returns `cache` if it is a `StageCache`, which comes with a seed, or `None`."""
    if cache is None:
        return None
    if not isinstance(cache, StageCache):
        raise ValueError(f"Expected `cache` to be a StageCache or None; received {cache!r}.")
    if seed is None:
        raise ValueError(
            "Expected a `seed` with a `cache`, so that what is found there is what would be "
            "trained; received None."
        )
    return cache
