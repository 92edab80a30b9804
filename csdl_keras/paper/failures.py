"""Collects the errors of optional steps."""

import contextlib
import sys
from collections.abc import Iterator


class Failures:
    """Collects the errors of steps in `lines`, so that they do not stop the other steps."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __bool__(self) -> bool:
        return bool(self.lines)

    @contextlib.contextmanager
    def step(self, part: str) -> Iterator[None]:
        """Runs the code inside the `with`; an exception ends it and is recorded."""
        try:
            yield
        except Exception as error:
            self.add(part, error)

    def add(self, part: str, error: Exception) -> None:
        self.lines.append(f"{part} failed: {type(error).__name__}: {error}")

    def tell(self) -> int:
        """Prints the failures; returns the exit status, 1 if anything failed."""
        for line in self.lines:
            print(f"csdl-keras: {line}", file=sys.stderr)
        return int(bool(self))
