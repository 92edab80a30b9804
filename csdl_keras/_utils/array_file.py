"""Arrays with a record in one file, without pickles."""

import hashlib
import io
import json
import pathlib
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.files import replacing


class DamagedFileError(ValueError):
    """A file that is not what was written."""


class OtherFitError(ValueError):
    """A file of the state of another training than the one that is to go on."""


def write_arrays(
    path: pathlib.Path, record: dict[str, Any], arrays: Sequence[np.ndarray] = ()
) -> None:
    """Writes a record, as JSON with arrays anywhere, and arrays to an .npz file, whole or not."""
    stored = [*arrays]

    def put(value: Any) -> dict[str, int]:
        if keras.ops.is_tensor(value):
            value = keras.ops.convert_to_numpy(value)
        if not isinstance(value, (np.ndarray, np.generic)):
            raise TypeError(f"Expected numbers, strings or arrays; received {type(value)}.")
        stored.append(np.asarray(value))
        return {"array": len(stored) - 1}

    text = json.dumps({"arrays": len(arrays), "record": record}, default=put)
    named: dict[str, Any] = {f"array_{i}": _plain(it) for i, it in enumerate(stored)}
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        np.savez(file, record=np.frombuffer(text.encode(), np.uint8), **named)


def read_arrays(path: pathlib.Path) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Reads what `write_arrays` wrote; in the record tuples are lists, tensors arrays of NumPy."""
    named = read_npz(path)

    def get(value: dict[str, Any]) -> Any:
        return named[f"array_{value['array']}"] if value.keys() == {"array"} else value

    try:
        text = json.loads(named["record"].tobytes(), object_hook=get)
        return text["record"], [named[f"array_{i}"] for i in range(text["arrays"])]
    except (AttributeError, KeyError, ValueError, TypeError) as error:
        raise DamagedFileError(
            f"Expected {path} to be as csdl_keras wrote it; received another npz file."
        ) from error


def read_npz(path: pathlib.Path) -> dict[str, np.ndarray]:
    """Reads the arrays of an .npz file by name; nothing in it is ever executed."""
    content = io.BytesIO(path.read_bytes())
    try:
        with np.load(content, allow_pickle=False) as file:
            return dict(file)
    # A damaged file makes NumPy and zipfile raise nearly anything.
    except Exception as error:
        raise DamagedFileError(
            f"Expected {path} to be an npz file as csdl_keras wrote it; received a damaged one, "
            f"{type(error).__name__}: {error}."
        ) from error


def _plain(array: np.ndarray) -> np.ndarray:
    """The array in a type of NumPy's own; float32 holds what bfloat16 does."""
    array = np.asarray(array)
    if array.dtype.hasobject:
        raise ValueError(f"Expected arrays of numbers; received dtype {array.dtype}.")
    return array.astype("float32") if array.dtype.kind == "V" else array


def fingerprint(*arrays: np.ndarray) -> str:
    """A digest of the shapes, types and contents of arrays."""
    digest = hashlib.sha256()
    for array in arrays:
        if array.dtype.hasobject:
            raise ValueError(f"Expected arrays of plain values; received dtype {array.dtype}.")
        digest.update(f"{array.shape} {array.dtype}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
