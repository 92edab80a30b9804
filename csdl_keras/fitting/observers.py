"""Callbacks that only observe, with which a stage leaves what it leaves without them."""

from collections.abc import Sequence

import keras

#: Those of Keras. A subclass may do anything.
OBSERVERS = (
    keras.callbacks.CSVLogger,
    keras.callbacks.History,
    keras.callbacks.ModelCheckpoint,
    keras.callbacks.OrbaxCheckpoint,
    keras.callbacks.ProgbarLogger,
    keras.callbacks.RemoteMonitor,
    keras.callbacks.TensorBoard,
)


def check_observers(callbacks: Sequence[keras.callbacks.Callback], reason: str) -> None:
    """Raises if a callback may change what is trained.

    No key of a stage can tell what a callback does: where stages are shared, or trained in
    other processes, which do not call it, it must do nothing to them.

    Args:
        callbacks: the callbacks.
        reason: with what they come, such as "a `cache`".

    Raises:
        ValueError: unless each is one of `OBSERVERS`, or has a true attribute `observes_only`.
    """
    for callback in callbacks:
        if type(callback) not in OBSERVERS and not getattr(callback, "observes_only", False):
            raise ValueError(
                f"Expected `callbacks` that only observe with {reason}, since it does not know "
                f"what others do to training; received {type(callback).__name__}. If it changes "
                "nothing, set its attribute `observes_only = True`; else train without "
                f"{reason}."
            )
