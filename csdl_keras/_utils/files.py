"""Writes files atomically, and arrays with a JSON record without pickles."""

import hashlib
import io
import json
import pathlib
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.streams import StoredRows
from csdl_keras_cli.writable import replacing


def replace_file(path: pathlib.Path, content: bytes) -> None:
    """Writes `content` to a file atomically: if writing fails, an earlier file remains."""
    with replacing(path) as unfinished:
        unfinished.write_bytes(content)


class DamagedFileError(ValueError):
    """Raised if a file is damaged, or was not written by this package."""


def write_arrays(
    path: pathlib.Path, record: dict[str, Any], arrays: Sequence[np.ndarray] = ()
) -> None:
    """Writes arrays, and a JSON record that may contain arrays, to an .npz file atomically."""
    stored = [*map(np.asarray, arrays)]

    def put(value: Any) -> dict[str, int]:
        stored.append(keras.ops.convert_to_numpy(value))
        return {"array": len(stored) - 1}

    text = json.dumps({"arrays": len(arrays), "record": record}, default=put)
    # NumPy has no bfloat16 of its own; float32 represents all its values.
    stored = [it.astype("float32") if it.dtype.kind == "V" else it for it in stored]
    if any(array.dtype.hasobject for array in stored):  # NumPy would write a pickle.
        raise ValueError("An array has dtype object, which would need a pickle. Pass numbers.")
    named: dict[str, Any] = {f"array_{i}": it for i, it in enumerate(stored)}
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        np.savez(file, record=np.frombuffer(text.encode(), np.uint8), **named)


def read_arrays(path: pathlib.Path) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Reads a file of `write_arrays`; tuples in the record become lists, tensors become arrays."""
    named = read_npz(path)

    def get(value: dict[str, Any]) -> Any:
        return stored[value["array"]] if value.keys() == {"array"} else value

    try:
        stored = [named[f"array_{i}"] for i in range(len(named) - 1)]
        found = json.loads(named["record"].tobytes(), object_hook=get)
        return found["record"], stored[: found["arrays"]]
    except (AttributeError, LookupError, ValueError, TypeError) as error:
        raise DamagedFileError(f"{path} is not an .npz file that csdl_keras wrote.") from error


def read_npz(path: pathlib.Path) -> dict[str, np.ndarray]:
    """Reads the arrays of an .npz file by name; nothing in it is ever executed."""
    content = io.BytesIO(path.read_bytes())
    try:
        with np.load(content, allow_pickle=False) as file:
            return dict(file)
    # NumPy and zipfile raise errors of almost any type for a damaged file.
    except Exception as error:
        raise DamagedFileError(f"{path} is damaged, or not an .npz file: {error!r}.") from error


def fingerprint(*arrays: np.ndarray | StoredRows) -> str:
    """Returns a digest of the shapes, types and contents of arrays."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype}".encode())
        for part in array.blocks() if isinstance(array, StoredRows) else (array,):
            digest.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
