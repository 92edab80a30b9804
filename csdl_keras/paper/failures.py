"""What failed in a run whose other parts went on."""

import contextlib
import sys
from collections.abc import Iterator


class Failures:
    """Keeps the errors of parts of a run as `lines`, so that the other parts go on."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __bool__(self) -> bool:
        return bool(self.lines)

    @contextlib.contextmanager
    def step(self, part: str) -> Iterator[None]:
        """Runs the code inside the `with`; an exception ends that code and is kept."""
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
