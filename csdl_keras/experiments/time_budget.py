"""Ends a run when its time is spent; what it has finished stays, and it can go on later."""

import time

import keras


class BudgetSpent(BaseException):
    """The time of a run is spent: no error, so that nothing that catches errors keeps it."""


class TimeBudget(keras.callbacks.Callback):
    """Raises `BudgetSpent` after the epoch in which the time of a run is spent.

    Args:
        hours: hours from now on.
    """

    observes_only = True

    def __init__(self, hours: float):
        super().__init__()
        self.end = time.monotonic() + 3600 * hours

    def check(self) -> None:
        """Raises `BudgetSpent` if the time is spent."""
        if time.monotonic() > self.end:
            raise BudgetSpent

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        """Checks the time after each epoch."""
        self.check()
