"""Formats tables in Markdown."""

from collections.abc import Iterable, Sequence


def markdown_table(head: Sequence[str], body: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """Returns the lines of a table, whose first `left` columns are aligned to the left."""
    rules = ["---"] * left + ["---:"] * (len(head) - left)
    return ["| " + " | ".join(cells) + " |" for cells in (head, rules, *body)]
