"""Standard output whose failures cost no result."""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO


class TolerantStream:
    """A text stream that ignores errors of writing, and writes nothing after the first one.

    A reader that has ended (`| head`), a full disk behind a log or a closed terminal
    then stops nothing. Characters that the encoding lacks become question marks.

    Args:
        stream: the stream to write to, such as `sys.stdout`; `None`, Python's value for
            a closed stream, discards everything.

    Example:

    >>> stream = TolerantStream(None)
    >>> stream.write("lost")
    4
    """

    def __init__(self, stream: TextIO | None):
        self._stream = open(os.devnull, "w", encoding="utf-8") if stream is None else stream
        self.error: Exception | None = None

    def write(self, text: str) -> int:
        """Writes a text, as far as possible."""
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        self._try("write", text.encode(encoding, "replace").decode(encoding))
        return len(text)

    def flush(self) -> None:
        """Flushes the stream."""
        self._try("flush")

    def _try(self, name: str, *arguments: str) -> None:
        if self.error is not None:
            return
        try:
            getattr(self._stream, name)(*arguments)
        except (OSError, ValueError) as error:
            self.error = error
            # At its end Python would try again to write what is buffered, and fail.
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def tolerant_output() -> Iterator[TolerantStream]:
    """Makes printing raise no errors inside the `with`; yields the standard output."""
    before = sys.stdout, sys.stderr
    output, errors = TolerantStream(sys.stdout), TolerantStream(sys.stderr)
    sys.stdout, sys.stderr = output, errors  # type: ignore[assignment]
    try:
        yield output
    finally:
        for stream in (output, errors):
            stream.flush()
        sys.stdout, sys.stderr = before
