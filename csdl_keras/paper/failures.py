"""What failed in a run whose other parts went on."""

import contextlib
import sys
from collections.abc import Iterator


class Failures:
    """Keeps the errors of parts of a run, so that the other parts go on."""

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
        parts = self._parts.setdefault(f"{type(error).__name__}: {error}", [])
        if part not in parts:
            parts.append(part)

    def lines(self) -> list[str]:
        return [f"{', '.join(parts)} failed: {error}" for error, parts in self._parts.items()]

    def tell(self) -> int:
        """Prints the failures; returns the exit status, 1 if anything failed."""
        for line in self.lines():
            print(f"csdl-keras: {line}", file=sys.stderr)
        return int(bool(self))
