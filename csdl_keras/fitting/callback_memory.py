"""The callbacks of a fit, and what they remember from epoch to epoch."""

import inspect
import json
import pathlib
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.array_file import fingerprint, pack, unpack

#: Callbacks of Keras that remember nothing on which the results of training depend.
_WITHOUT_MEMORY = (
    keras.callbacks.LambdaCallback,
    keras.callbacks.ProgbarLogger,
    keras.callbacks.RemoteMonitor,
    keras.callbacks.TensorBoard,
)


#: Keras derives it from the argument again, together with the comparison, after the first epoch.
_DERIVED = "min_delta"


_CSV = "the file of a CSVLogger"


def call_first(callback: keras.callbacks.Callback) -> list[keras.callbacks.Callback]:
    """Makes a callback the first that `fit` calls; all of them, to be used in `set_params`.

    Keras tells no callback of the others, so the list is looked up where the call comes from.

    Raises:
        ValueError: if the callback is not itself in the list.
    """
    frame = inspect.currentframe()
    while frame is not None:
        found = frame.f_locals.get("self")
        if isinstance(found, keras.callbacks.CallbackList) and callback in found.callbacks:
            others = [one for one in found.callbacks if one is not callback]
            # A new list, since Keras goes through the old one at the moment.
            found.callbacks = [callback, *others]
            return others
        frame = frame.f_back
    raise ValueError(
        f"Expected {type(callback).__name__} in the list `callbacks` of `fit`; received it inside "
        "another callback."
    )


def with_memory(
    callbacks: Sequence[keras.callbacks.Callback], own: Sequence[keras.callbacks.Callback]
) -> list[keras.callbacks.Callback]:
    """Those of Keras' classes that can remember something, and `own` ones."""
    return [
        one
        for one in callbacks
        if any(one is other for other in own)
        or (_is_of_keras(one) and not isinstance(one, _WITHOUT_MEMORY))
    ]


def _is_of_keras(callback: keras.callbacks.Callback) -> bool:
    kinds = [kind for kind in type(callback).__mro__ if kind is not keras.callbacks.Callback]
    return any(kind.__module__.partition(".")[0] == "keras" for kind in kinds)


def digests(callback: keras.callbacks.Callback) -> dict[str, Any]:
    """A digest of each attribute that can be kept."""
    found = {}
    for name, value in vars(callback).items():
        arrays: list[np.ndarray] = []
        try:
            text = json.dumps(pack(value, arrays))
        except TypeError:
            continue
        found[name] = text, fingerprint(*arrays)
    return found


def recall(
    callback: keras.callbacks.Callback, beginning: dict[str, Any], arrays: list[np.ndarray]
) -> dict[str, Any]:
    """Describes what a callback remembers, as JSON that refers to arrays put at the list's end.

    Args:
        callback: which it is.
        beginning: its `digests` when training began; what is as it was then is left out, so
            that another `patience`, say, can be chosen for the rest of the training.
        arrays: the list.
    """
    memory: dict[str, Any] = {
        name: getattr(callback, name)
        for name, digest in digests(callback).items()
        if beginning.get(name) != digest and name != _DERIVED
    }
    if isinstance(callback, keras.callbacks.CSVLogger):
        path = pathlib.Path(callback.filename)
        rows = path.read_bytes() if path.exists() else b""
        memory[_CSV] = np.frombuffer(rows, np.uint8)
    return {name: pack(value, arrays) for name, value in memory.items()}


def remind(
    callback: keras.callbacks.Callback, memory: dict[str, Any], arrays: Sequence[np.ndarray]
) -> None:
    """Gives a callback that has begun what `recall` returned."""
    values = {name: unpack(value, arrays) for name, value in memory.items()}
    rows = values.pop(_CSV, None)
    for name, value in values.items():
        setattr(callback, name, value)
    if isinstance(callback, keras.callbacks.CSVLogger) and rows is not None:
        # It begins a new file, or goes on behind rows of epochs that are taken again.
        callback.csv_file.close()
        pathlib.Path(callback.filename).write_bytes(rows.tobytes())
        callback.csv_file = open(callback.filename, "a")  # noqa: SIM115
        callback.append_header = False
