"""The console that commands print on."""

from rich.console import Console
from rich.table import Table

#: More characters than any table has in a line.
_WIDEST = 10_000


def make_console() -> Console:
    """Returns a console that prints texts unchanged, square brackets and colons included.

    Texts hold names of folders and data sets, which are no markup.
    """
    return Console(markup=False, emoji=False, highlight=False)


def print_table(console: Console, table: Table) -> None:
    """Prints a whole table, even where the terminal is narrower."""
    width = console.width
    wide = console.options.update(width=_WIDEST)
    try:
        console.width = max(width, console.measure(table, options=wide).maximum)
        console.print(table, crop=False)
    finally:
        console.width = width
