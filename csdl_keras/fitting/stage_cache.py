"""Keeps the results of training stages, in memory or in a folder."""

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import filelock
import numpy as np

from csdl_keras._utils.array_file import DamagedFileError, read_arrays, write_arrays
from csdl_keras._utils.checks import check_path
from csdl_keras._utils.files import check_writable

#: Everything that a stage depends on, as a dict that JSON can hold.
Description: TypeAlias = Mapping[str, object]


@dataclasses.dataclass(frozen=True)
class StageResult:
    """Result of a finished stage.

    Args:
        arrays: weights or other arrays.
        info: a dict that JSON can hold, such as the number of epochs.
        seconds: time that the stage took. Defaults to 0.
    """

    arrays: Sequence[np.ndarray]
    info: dict[str, Any]
    seconds: float = 0.0


class StageCache:
    """Keeps the results of stages by a description of everything that they depend on.

    The key of a stage is a digest of its description: a changed choice finds nothing, and an
    unchanged one is never computed twice. Trainers with different data, seeds or settings of
    Keras can share a cache, since descriptions contain these and the versions of the package,
    Keras and its backend.

    Objects of your own (builders of networks, bodies, losses, layers, activations, ...) count by
    their names, their fields and an attribute `version`, which you raise whenever such an object,
    or anything that it uses, changes. What depends on one without that attribute is trained each
    time: neither looked up nor kept. Your own is what is defined outside csdl_keras, Keras, NumPy
    and Python's built-in names, also in another package.

    In memory, the cache keeps copies. In a folder, each stage is one file that is written as a
    whole, even if the process is killed, and processes that share the folder wait for each other
    instead of computing the same stage. The saved state of an unfinished stage lies beside its
    file. A damaged file counts as missing, with a warning, and its stage is computed anew.

    Args:
        folder: folder of the files, created if missing. `None` (default) keeps stages in memory.

    Raises:
        ValueError: if the folder is not a path or cannot be written to; later, if JSON cannot
            hold a description.

    Example:

    >>> cache = StageCache()
    >>> compute = lambda: ([np.arange(3)], {"epochs": 2})
    >>> cache.get({"stage": "a"}, compute).info
    {'epochs': 2}
    >>> {"stage": "a"} in cache, {"stage": "b"} in cache
    (True, False)
    """

    def __init__(self, folder: str | os.PathLike | None = None):
        # This process and those that it starts may change the working directory.
        self.folder = None if folder is None else check_path("folder", folder).absolute()
        if self.folder is not None:
            check_writable("`folder`", self.folder)
        self._memory: dict[str, StageResult] = {}

    @staticmethod
    def key(description: Description) -> str:
        """Returns the key of a stage, 64 hexadecimal digits."""
        try:
            text = json.dumps(description, sort_keys=True, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"Expected a description that JSON can hold; received {description!r}: {error}."
            ) from error
        return hashlib.sha256(text.encode()).hexdigest()

    def path(self, description: Description) -> pathlib.Path:
        """Returns the file of a stage."""
        if self.folder is None:
            raise ValueError("Expected a cache with a folder; this one is in memory.")
        key = self.key(description)
        return self.folder / key[:2] / f"{key}.npz"

    def unfinished(self, description: Description) -> pathlib.Path | None:
        """Returns the folder of an unfinished stage's state, or `None` for a cache in memory.

        It is removed when the stage is finished.
        """
        if self.folder is None:
            return None
        path = self.path(description).with_suffix(".unfinished")
        if path.is_file():
            warn_of_damage(path, "it is a file and no folder")
            path.unlink(missing_ok=True)
        return path

    def __contains__(self, description: Description) -> bool:
        if self.folder is None:
            return self.key(description) in self._memory
        return self.find(description) is not None

    def get(
        self,
        description: Description,
        compute: Callable[[], tuple[Sequence[np.ndarray], dict]],
    ) -> StageResult:
        """Returns the stage of that description and computes it if it is missing.

        Args:
            description: everything that the stage depends on, as JSON can hold it.
            compute: function that returns its arrays and `info`.
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

    def put(self, description: Description, result: StageResult) -> None:
        """Keeps a stage that was computed elsewhere, unless it is already there."""
        with self._lock(description):
            if description not in self:
                self._keep(description, result)
            self._remove_unfinished(description)

    def find(self, description: Description) -> StageResult | None:
        """Returns the stage of that description, or `None` if it is missing or damaged."""
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

    def _keep(self, description: Description, result: StageResult) -> None:
        if self.folder is None:
            self._memory[self.key(description)] = copy.deepcopy(result)
            return
        record = {"info": result.info, "seconds": result.seconds, "description": description}
        write_arrays(self.path(description), record, result.arrays)

    def _remove_unfinished(self, description: Description) -> None:
        folder = self.unfinished(description)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    @contextlib.contextmanager
    def _lock(self, description: Description) -> Iterator[None]:
        """Locks a stage against other processes; the system unlocks it if this one is killed."""
        if self.folder is None:
            yield
            return
        path = self.path(description).with_suffix(".lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(path):
            yield


def warn_of_damage(path: pathlib.Path, why: object) -> None:
    """Warns that a file of a stage cannot be used, so that the stage is computed again."""
    # The warning comes from this line always, so that Python shows it once for each file.
    warnings.warn(f"{path} is damaged; its stage is computed anew: {why}", stacklevel=1)


def check_cache(cache: object, seed: int | None) -> StageCache | None:
    """Returns `cache` if it is `None`, or a `StageCache` and `seed` is given."""
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
