"""Ends a run when its time is spent; what it has finished stays, and it can go on later."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

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

    @contextlib.contextmanager
    def alarm(self) -> Iterator[None]:
        """Raises `BudgetSpent` inside the `with` block as soon as the time is spent.

        For a process that waits for others, in which no callback of this one is called. Their
        trainings go on later from their last epoch, as after Ctrl-C. Without such signals, as on
        Windows, or outside the main thread, only `check` ends the run.
        """
        if not hasattr(signal, "setitimer") or (
            threading.current_thread() is not threading.main_thread()
        ):
            yield
            return

        def end(number: int, frame: FrameType | None) -> None:
            raise BudgetSpent

        before = signal.signal(signal.SIGALRM, end)
        try:
            signal.setitimer(signal.ITIMER_REAL, max(self.end - time.monotonic(), 1e-3))
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
