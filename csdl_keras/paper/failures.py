"""Keeps the errors of some parts of a run until the other parts are done."""

import contextlib
import sys
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

    @contextlib.contextmanager
    def step(self, part: str) -> Iterator[None]:
        """Runs the code inside the `with`, which makes `part`; keeps an exception of it."""
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
        """Prints the failures to the standard error stream; returns 1 if there are any, else 0."""
        for line in self.lines():
            print(f"csdl-keras: {line}", file=sys.stderr)
        return int(bool(self._parts))
