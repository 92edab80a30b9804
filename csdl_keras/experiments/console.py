"""The console that the commands print on."""

from rich.console import Console
from rich.table import Table

#: More columns than any table has.
_WIDEST = 10_000


def make_console() -> Console:
    """A console that prints texts as they are, square brackets and colons too.

    Names of folders and data sets are part of them, and are no markup.
    """
    return Console(markup=False, emoji=False, highlight=False)


def print_table(console: Console, table: Table) -> None:
    """Prints a table with all that is in it, however narrow the terminal is."""
    width = console.width
    wide = console.options.update(width=_WIDEST)
    try:
        console.width = max(width, console.measure(table, options=wide).maximum)
        console.print(table, crop=False)
    finally:
        console.width = width
