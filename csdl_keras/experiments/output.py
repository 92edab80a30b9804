"""Output that never costs a result."""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any


class TolerantStream:
    """A text stream that swallows what cannot be written, and goes on in silence.

    A reader that has gone (`| head`), a full disk behind a log or a closed terminal
    ends nothing then. Characters that the encoding lacks become question marks.

    Args:
        stream: the stream that it writes to, `sys.stdout` for example; `None`, which
            Python has in place of a closed one, is nothing.

    Example:

    >>> stream = TolerantStream(None)
    >>> stream.write("lost")
    4
    """

    def __init__(self, stream: Any):
        self._stream = open(os.devnull, "w", encoding="utf-8") if stream is None else stream
        self.error: Exception | None = None

    def write(self, text: str) -> int:
        """Writes a text, as far as that can be."""
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        self._try("write", text.encode(encoding, "replace").decode(encoding))
        return len(text)

    def flush(self) -> None:
        """Writes what waits in a buffer."""
        self._try("flush")

    def _try(self, name: str, *arguments: str) -> None:
        if self.error is not None:
            return
        try:
            getattr(self._stream, name)(*arguments)
        except (OSError, ValueError) as error:
            self.error = error
            # Python would try again at its end to write what waits in the buffer, and fail.
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def tolerant_output() -> Iterator[TolerantStream]:
    """Inside the `with`, printing raises nothing; yields the standard output."""
    before = sys.stdout, sys.stderr
    output, errors = TolerantStream(sys.stdout), TolerantStream(sys.stderr)
    sys.stdout, sys.stderr = output, errors  # type: ignore[assignment]
    try:
        yield output
    finally:
        for stream in (output, errors):
            stream.flush()
        sys.stdout, sys.stderr = before
