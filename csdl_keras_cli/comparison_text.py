"""Formats the table of a comparison as text."""

import math
from typing import Any

from csdl_keras_cli.choices import BASELINES

#: The headings and widths of the columns; the first column is left-aligned.
HEADS = ("", "cost", "saved", "95 % interval", "", "errors", "seconds")
WIDTHS = (20, 10, 7, 17, 4, 6, 8)


def kind_of(name: str) -> str:
    """Returns the kind of a row by its name."""
    if name == "today" or name.startswith("always "):
        return name.split()[0]
    plain = name.removesuffix("_bayes")
    return "scikit-learn and others" if plain in BASELINES else "networks"


def cells(name: str, row: Any) -> tuple[str, ...]:
    """Returns the cells of a row of `Comparison.to_frame()`."""
    constant = row["constant_cost"]
    saved, interval = "", ""
    if constant > 0 and not name.startswith("always "):
        shares = [100 * row[it] / constant for it in ("saved", "saved_low", "saved_high")]
        told, low, high = (f"{it:.1f}" if abs(it) < 1000 else f"{it:.0f}" for it in shares)
        saved, interval = f"{told}%", f"{low} to {high}%"
    seconds = "" if kind_of(name) in ("always", "today") else f"{row['train_seconds']:.1f}"
    # With these decimals, the cost of the constant decision has four digits.
    decimals = 3 - math.floor(math.log10(constant)) if constant > 0 else 3
    cost = f"{row['average_cost']:,.{min(max(decimals, 0), 8)}f}"
    return name, cost, saved, interval, row["mark"], f"{row['error_rate']:.1%}", seconds


def line(found: tuple[str, ...]) -> str:
    """Returns cells as a line of the table."""
    first, *others = zip(found, WIDTHS, strict=True)
    name = first[0] if len(first[0]) <= first[1] else f"{first[0][: first[1] - 3]}..."
    return " ".join([name.ljust(first[1]), *(it.rjust(width) for it, width in others)]).rstrip()


NOTE = (
    "saved: relative to the best constant decision, with the paired 95 % interval.\n"
    "=: no significant difference from the best. Intervals reflect test examples only."
)
