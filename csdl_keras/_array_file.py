"""Arrays with a record in one file, without pickles."""

import io
import json
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from csdl_keras._replace_file import replacing


class DamagedFileError(ValueError):
    """A file that is not what was written."""


def write_arrays(
    path: pathlib.Path, record: dict[str, Any], arrays: Sequence[np.ndarray] = ()
) -> None:
    """Writes an .npz file, whole or not at all.

    Args:
        path: the file.
        record: fit for JSON.
        arrays: of any shapes, of numbers or booleans.

    Raises:
        ValueError: if an array would have to be pickled.
        OSError: if it cannot be written.
    """
    text = json.dumps({"arrays": len(arrays), "record": record})
    named: dict[str, Any] = {f"array_{i}": _plain(it) for i, it in enumerate(arrays)}
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        np.savez(file, record=np.frombuffer(text.encode(), np.uint8), **named)


def read_arrays(path: pathlib.Path) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Reads what `write_arrays` wrote; nothing in a file is ever executed.

    Raises:
        FileNotFoundError: if there is no such file.
        DamagedFileError: if it holds something else.
    """
    content = io.BytesIO(path.read_bytes())
    try:
        with np.load(content, allow_pickle=False) as file:
            text = json.loads(file["record"].tobytes())
            return text["record"], [file[f"array_{i}"] for i in range(text["arrays"])]
    # A damaged file makes NumPy, zipfile and json raise nearly anything.
    except Exception as error:
        raise DamagedFileError(
            f"Expected {path} to be as csdl_keras wrote it; received a damaged file "
            f"({type(error).__name__}: {error})."
        ) from error


def _plain(array: np.ndarray) -> np.ndarray:
    """The array in a type of NumPy's own; float32 holds what bfloat16 does."""
    array = np.asarray(array)
    if array.dtype.hasobject:
        raise ValueError(f"Expected arrays of numbers; received dtype {array.dtype}.")
    return array.astype("float32") if array.dtype.kind == "V" else array
