"""The command `csdl-keras`."""

import argparse
import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from csdl_keras._utils import __version__
from csdl_keras.experiments.commands import compare, export, report, table1, table2, tune

#: The module of each command: `add_arguments(parser)`, `run(arguments)`, `HELP`, `DESCRIPTION`.
COMMANDS = {
    "compare": compare,
    "table1": table1,
    "table2": table2,
    "report": report,
    "tune": tune,
    "export": export,
}


def build_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="csdl-keras", description="Multiclass cost-sensitive deep learning with Keras."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, module in COMMANDS.items():
        module.add_arguments(
            commands.add_parser(name, help=module.HELP, description=module.DESCRIPTION)
        )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `csdl-keras`.

    Args:
        argv: the arguments; `None` (default) takes those of the process.

    Returns:
        The exit status: 0; 1 if a part failed and the others are done; 2 for wrong
        arguments and files; 130 after Ctrl-C.
    """
    # TensorFlow warns of many models built in a loop, which a comparison does on purpose.
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    with tolerant_output() as output:
        arguments = build_parser().parse_args(argv)
        try:
            status = COMMANDS[arguments.command].run(arguments)
        except KeyboardInterrupt:
            status = 130
        except (ValueError, OSError, ModuleNotFoundError) as error:
            print(f"csdl-keras: {error}", file=sys.stderr)
            status = 2
        output.flush()
        if output.error is not None and not isinstance(output.error, BrokenPipeError):
            print(f"csdl-keras: not all could be printed: {output.error}", file=sys.stderr)
            # The only command that writes no file has done nothing then.
            status = status or int(arguments.command == "table1")
    return status


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


if __name__ == "__main__":
    sys.exit(main())
