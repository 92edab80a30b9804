"""Checks that callbacks only observe, and saves and restores the state of those that do not."""

import inspect
import json
import pathlib
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.array_file import fingerprint, pack, unpack

#: Keras' callbacks that leave the training unchanged. Subclasses of them may change it.
OBSERVERS = (
    keras.callbacks.CSVLogger,
    keras.callbacks.History,
    keras.callbacks.ModelCheckpoint,
    keras.callbacks.OrbaxCheckpoint,
    keras.callbacks.ProgbarLogger,
    keras.callbacks.RemoteMonitor,
    keras.callbacks.TensorBoard,
)

#: Keras' callbacks without a state on which the results of training depend.
_WITHOUT_STATE = (
    keras.callbacks.LambdaCallback,
    keras.callbacks.ProgbarLogger,
    keras.callbacks.RemoteMonitor,
    keras.callbacks.TensorBoard,
)

#: An attribute that Keras computes again from the argument after the first epoch.
_DERIVED = "min_delta"

#: Key of the content of a CSVLogger's file among the attributes.
_CSV = "the file of a CSVLogger"


def check_observers(callbacks: Sequence[keras.callbacks.Callback], reason: str) -> None:
    """Raises if a callback may change what is trained.

    The key of a stage cannot describe what a callback does, and processes that share the work do
    not call it. So callbacks must not change stages that are shared.

    Args:
        callbacks: the callbacks.
        reason: the argument that they are combined with, such as "a `cache`".

    Raises:
        ValueError: unless each is one of `OBSERVERS` or has a true attribute `observes_only`.
    """
    for callback in callbacks:
        if type(callback) not in OBSERVERS and not getattr(callback, "observes_only", False):
            raise ValueError(
                f"Expected `callbacks` that only observe with {reason}, since it does not know "
                f"what others do to training; received {type(callback).__name__}. If it changes "
                "nothing, set its attribute `observes_only = True`; else train without "
                f"{reason}."
            )


def call_first(callback: keras.callbacks.Callback) -> list[keras.callbacks.Callback]:
    """Moves a callback to the front of those that `fit` calls, and returns the others.

    Call it in the callback's `set_params`. Keras passes no callback the list of all, so this
    searches the call stack for it.

    Raises:
        ValueError: if the callback is not itself in the list.
    """
    frame = inspect.currentframe()
    while frame is not None:
        found = frame.f_locals.get("self")
        if isinstance(found, keras.callbacks.CallbackList) and callback in found.callbacks:
            others = [one for one in found.callbacks if one is not callback]
            # A new list, because Keras is iterating over the old one.
            found.callbacks = [callback, *others]
            return others
        frame = frame.f_back
    raise ValueError(
        f"Expected {type(callback).__name__} in the list `callbacks` of `fit`; received it inside "
        "another callback."
    )


def with_state(
    callbacks: Sequence[keras.callbacks.Callback], own: Sequence[keras.callbacks.Callback]
) -> list[keras.callbacks.Callback]:
    """Returns those in `own` and those of Keras' classes that may have a state."""
    return [
        one
        for one in callbacks
        if any(one is other for other in own)
        or (_is_from_keras(one) and not isinstance(one, _WITHOUT_STATE))
    ]


def _is_from_keras(callback: keras.callbacks.Callback) -> bool:
    kinds = [kind for kind in type(callback).__mro__ if kind is not keras.callbacks.Callback]
    return any(kind.__module__.partition(".")[0] == "keras" for kind in kinds)


def digests(callback: keras.callbacks.Callback) -> dict[str, tuple[str, str]]:
    """Returns a digest of each attribute that can be saved, by its name."""
    found = {}
    for name, value in vars(callback).items():
        arrays: list[np.ndarray] = []
        try:
            text = json.dumps(pack(value, arrays))
        except TypeError:
            continue
        found[name] = text, fingerprint(*arrays)
    return found


def save_state(
    callback: keras.callbacks.Callback,
    beginning: dict[str, tuple[str, str]],
    arrays: list[np.ndarray],
) -> dict[str, Any]:
    """Returns the state of a callback as JSON that refers to arrays by their place.

    Args:
        callback: the callback.
        beginning: its `digests` when training began. Attributes that have not changed since are
            left out, so that the rest of the training can use another `patience`, for example.
        arrays: list to which the arrays of the state are appended.
    """
    state: dict[str, Any] = {
        name: getattr(callback, name)
        for name, digest in digests(callback).items()
        if beginning.get(name) != digest and name != _DERIVED
    }
    if isinstance(callback, keras.callbacks.CSVLogger):
        path = pathlib.Path(callback.filename)
        rows = path.read_bytes() if path.exists() else b""
        state[_CSV] = np.frombuffer(rows, np.uint8)
    return {name: pack(value, arrays) for name, value in state.items()}


def restore_state(
    callback: keras.callbacks.Callback, state: dict[str, object], arrays: Sequence[np.ndarray]
) -> None:
    """Restores what `save_state` returned, after the callback's `on_train_begin`."""
    values = {name: unpack(value, arrays) for name, value in state.items()}
    rows = values.pop(_CSV, None)
    for name, value in values.items():
        setattr(callback, name, value)
    if isinstance(callback, keras.callbacks.CSVLogger) and rows is not None:
        # It has begun a new file, or would append to rows of epochs that are trained again.
        callback.csv_file.close()
        pathlib.Path(callback.filename).write_bytes(rows.tobytes())
        callback.csv_file = open(callback.filename, "a")  # noqa: SIM115
        callback.append_header = False
