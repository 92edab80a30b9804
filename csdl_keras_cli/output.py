"""Streams of output whose errors stop no command."""

import contextlib
import faulthandler
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, TextIO


class TolerantStream:
    """A text stream that ignores errors of writing, and writes nothing after the first one.

    A reader that has ended (`| head`), a full disk behind a log or a closed terminal, for which
    Python has `None`, then stops nothing. Characters that the encoding lacks become question marks.

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
        self._try(self._stream.write, text.encode(encoding, "replace").decode(encoding))
        return len(text)

    def flush(self) -> None:
        """Flushes the stream."""
        self._try(self._stream.flush)

    def _try(self, function: Callable[..., object], *arguments: str) -> None:
        if self.error is not None:
            return
        try:
            function(*arguments)
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
    # In place of closed streams, whose numbers other files would get, and processes inherit.
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    before = sys.stdout, sys.stderr
    output, errors = TolerantStream(sys.stdout), TolerantStream(sys.stderr)
    sys.stdout, sys.stderr = output, errors  # type: ignore[assignment]
    try:
        yield output
    finally:
        output.flush()
        errors.flush()
        sys.stdout, sys.stderr = before


@contextlib.contextmanager
def only_own_errors() -> Iterator[None]:
    """Keeps from the terminal what native code writes to the standard error stream.

    TensorFlow writes lines there before its log level counts, in each process that imports it.
    Messages, tracebacks and warnings of this process's Python still get through, and where it
    crashed. `TF_CPP_MIN_LOG_LEVEL=0` asks for the lines of TensorFlow and leaves all as it is.
    """
    try:
        shared = sys.stderr.fileno() == 2 and os.environ.get("TF_CPP_MIN_LOG_LEVEL") != "0"
        kept = os.dup(2) if shared else -1
    except (OSError, ValueError, AttributeError):  # a closed or replaced stream
        shared = False
    if not shared:
        yield
        return
    before = sys.stderr
    before.flush()
    with open(kept, "w", encoding=before.encoding, errors="replace", buffering=1) as stream:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 2)
        os.close(nothing)
        sys.stderr = TolerantStream(stream)  # type: ignore[assignment]
        faulthandler.enable(stream)
        try:
            yield
        finally:
            faulthandler.disable()
            sys.stderr.flush()
            os.dup2(kept, 2)
            sys.stderr = before
