"""Says in the terminal how far a run is."""

import datetime
import time


class Progress:
    """Prints a line for each part that ends, with the time that those to come will need.

    It is the mean time of this run's parts for each; `done` parts were there before.
    """

    def __init__(self, unit: str, total: int, done: int = 0):
        self._unit, self._total, self._done, self._before = unit, total, done, done
        self._start = time.monotonic()

    def tell(self, text: str) -> None:
        """Counts a part and prints what came of it."""
        self._done += 1
        mean = (time.monotonic() - self._start) / (self._done - self._before)
        minutes = mean * (self._total - self._done) / 60
        left = "less than a minute left" if minutes < 1 else f"about {minutes:.0f} min left"
        now = f"{datetime.datetime.now():%H:%M:%S}"
        print(f"{now} {text}; {self._done} of {self._total} {self._unit}, {left}", flush=True)
