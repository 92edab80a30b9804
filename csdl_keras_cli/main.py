"""The command `csdl-keras`."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from importlib import metadata

from csdl_keras_cli import compare, decide, export, report, serve, table1, table2, tune
from csdl_keras_cli.output import tolerant_output

#: The module of each command, with `HELP`, `DESCRIPTION`, `add_arguments(parser)` and
#: `run(arguments)`, which checks what it can before it imports `csdl_keras`.
COMMANDS = {
    module.__name__.rpartition(".")[2]: module
    for module in (compare, decide, serve, table1, table2, report, tune, export)
}


def build_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="csdl-keras", description="Multiclass cost-sensitive deep learning with Keras."
    )
    parser.add_argument("--version", action="version", version=metadata.version("csdl_keras"))
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, module in COMMANDS.items():
        texts = {"help": module.HELP, "description": module.DESCRIPTION}
        module.add_arguments(commands.add_parser(name, **texts))
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `csdl-keras` with the arguments `argv`, by default those of the process.

    Returns:
        The exit status: 0 for success, 1 if some steps failed, 2 for errors in arguments or files,
        130 after Ctrl-C.
    """
    with tolerant_output() as output:
        arguments = build_parser().parse_args(argv)
        # Worker processes and TensorFlow, which is imported later, read this variable.
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        # TensorFlow warns of models built in a loop, which a comparison does on purpose.
        for name in ("absl", "tensorflow"):
            logging.getLogger(name).setLevel(logging.ERROR)
        try:
            status = COMMANDS[arguments.command].run(arguments)
        except KeyboardInterrupt:
            status = 130
        except (ValueError, OSError, MemoryError, ImportError) as error:
            print(f"csdl-keras: {error}", file=sys.stderr)
            status = 2
        output.flush()
        if output.error is not None and not isinstance(output.error, BrokenPipeError):
            print(f"csdl-keras: some output could not be printed: {output.error}", file=sys.stderr)
            status = status or 1
    return status


if __name__ == "__main__":
    sys.exit(main())
