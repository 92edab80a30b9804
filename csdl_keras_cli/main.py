"""The command `csdl-keras`."""

import argparse
import difflib
import logging
import os
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

from csdl_keras_cli import compare, export, report, table1, table2, tune
from csdl_keras_cli.output import only_own_errors, tolerant_output

#: The module of each command: `HELP`, `DESCRIPTION`, `add_arguments(parser)`,
#: `check(arguments)` for what can be checked without `csdl_keras`, and `run(arguments)`.
COMMANDS = {
    module.__name__.rpartition(".")[2]: module
    for module in (compare, table1, table2, report, tune, export)
}


class _Parser(argparse.ArgumentParser):
    """Argument parser whose errors suggest the command, option or choice that was meant."""

    def error(self, message: str) -> NoReturn:
        """Prints the usage and the message with a suggestion, and exits with status 2."""
        choice = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        option = re.search(r"unrecognized arguments: (-[^\s=]+)", message)
        known = re.findall(r"[\w.-]+", choice[2] if choice else self.format_help())
        if meant := choice or option:
            close = difflib.get_close_matches(meant[1].lower(), known, n=1, cutoff=0.65)
            message += f" Did you mean {close[0]!r}?" if close else ""
        super().error(message)

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Parses the arguments; unknown ones are an error of this command, with its usage."""
        namespace, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return namespace, unknown


def build_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = _Parser(
        prog="csdl-keras", description="Multiclass cost-sensitive deep learning with Keras."
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, module in COMMANDS.items():
        texts = {"help": module.HELP, "description": module.DESCRIPTION}
        module.add_arguments(commands.add_parser(name, **texts))
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `csdl-keras` with the arguments `argv`; `None` (default) is those of the process.

    Returns:
        The exit status: 0; 1 if a part failed and the others are done; 2 for wrong
        arguments and files; 130 after Ctrl-C.
    """
    with tolerant_output() as output:
        arguments = build_parser().parse_args(argv)
        # Worker processes and TensorFlow, once it has started, follow the variable.
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        # TensorFlow warns of many models built in a loop, which a comparison does on purpose.
        for name in ("absl", "tensorflow"):
            logging.getLogger(name).setLevel(logging.ERROR)
        try:
            COMMANDS[arguments.command].check(arguments)
            with only_own_errors():
                status = COMMANDS[arguments.command].run(arguments)
        except KeyboardInterrupt:
            status = 130
        except (ValueError, OSError, MemoryError, ModuleNotFoundError) as error:
            print(f"csdl-keras: {error}", file=sys.stderr)
            status = 2
        output.flush()
        if output.error is not None and not isinstance(output.error, BrokenPipeError):
            print(f"csdl-keras: not all could be printed: {output.error}", file=sys.stderr)
            status = status or 1
    return status


class _Version(argparse.Action):
    """Prints the version; only then it is looked up, which takes longer than all else here."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib import metadata

        print(metadata.version("csdl_keras"))
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
