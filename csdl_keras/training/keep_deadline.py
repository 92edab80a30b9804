"""Ends training in time."""

import time

import keras


class KeepDeadline(keras.callbacks.Callback):
    """Ends training before an epoch that would pass a deadline; logs the minutes that are left.

    Args:
        deadline: the time, as `time.time()` tells it.
    """

    observes_only = True

    def __init__(self, deadline: float):
        super().__init__()
        self.deadline = deadline

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        self._begin = time.time()

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        now = time.time()
        if logs is not None:
            logs["minutes_left"] = max(0.0, self.deadline - now) / 60
        if now + (now - self._begin) > self.deadline:
            self.model.stop_training = True
