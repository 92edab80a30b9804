"""What the commands print on."""

from rich.console import Console


def make_console() -> Console:
    """A console that prints texts as they are, square brackets and colons too.

    Names of folders and data sets are part of them, and are no markup.
    """
    return Console(markup=False, emoji=False, highlight=False)
