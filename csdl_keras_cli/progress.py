"""Says in the terminal how far a run is, and at the end what failed."""

import contextlib
import datetime
import sys
import time
from collections.abc import Iterator


class Failures:
    """Keeps the errors of parts of a run, so that the other parts go on.

    >>> failures = Failures()
    >>> with failures.step("the plot"):
    ...     raise ValueError("Expected costs; received none.")
    >>> failures.lines()
    ['the plot failed: ValueError: Expected costs; received none.']
    """

    def __init__(self) -> None:
        self._parts: dict[str, list[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._parts)

    @contextlib.contextmanager
    def step(self, part: str) -> Iterator[None]:
        """Runs the code inside the `with`; an exception ends that code and is kept."""
        try:
            yield
        except Exception as error:
            self.add(part, error)

    def add(self, part: str, error: Exception) -> None:
        """Keeps the error of a part."""
        parts = self._parts.setdefault(f"{type(error).__name__}: {error}", [])
        if part not in parts:
            parts.append(part)

    def lines(self) -> list[str]:
        """Returns a line for each error, with all parts that failed by it."""
        return [f"{', '.join(parts)} failed: {error}" for error, parts in self._parts.items()]

    def tell(self) -> int:
        """Prints the failures; returns the exit status, 1 if anything failed."""
        for line in self.lines():
            print(f"csdl-keras: {line}", file=sys.stderr)
        return int(bool(self))


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
