"""The command `csdl-keras`."""

import argparse
import logging
import sys
from collections.abc import Sequence

from csdl_keras._utils import __version__
from csdl_keras.experiments.commands import compare, export, report, table1, table2, tune
from csdl_keras.experiments.output import tolerant_output

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


if __name__ == "__main__":
    sys.exit(main())
