"""Output streams whose errors do not stop a command."""

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, TextIO


class TolerantStream:
    """A text stream that writes nothing after its first error, such as a closed pipe (`| head`)."""

    def __init__(self, stream: TextIO | None):
        self._stream = stream or open(os.devnull, "w")
        self.error: Exception | None = None
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")

    def write(self, text: str) -> int:
        self._try(self._stream.write, text)
        return len(text)

    def flush(self) -> None:
        self._try(self._stream.flush)

    def _try(self, function: Callable[..., object], *arguments: str) -> None:
        try:
            if self.error is None:
                function(*arguments)
        except (OSError, ValueError) as error:
            self.error = error
            # Otherwise Python would write its buffer at exit, and fail again.
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def tolerant_output() -> Iterator[TolerantStream]:
    """Suppresses printing errors inside the `with` block; yields the standard output."""
    errors, kept = sys.stderr, None
    # A closed or replaced stream has no file descriptor.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        # TensorFlow's native code writes to standard error on import, whatever its log level.
        if errors.fileno() == 2 and os.environ.get("TF_CPP_MIN_LOG_LEVEL") != "0":
            kept = os.dup(2)
            errors = open(kept, "w", errors="replace", buffering=1)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    output, own = TolerantStream(sys.stdout), TolerantStream(errors)
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(own):  # type: ignore
            yield output
            output.flush()
            own.flush()
    finally:
        if kept is not None:
            os.dup2(kept, 2)
            errors.close()
