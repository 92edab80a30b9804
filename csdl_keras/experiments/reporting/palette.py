"""The colours of the report's page and figures, on light and on dark backgrounds."""

from typing import NamedTuple


class Colour(NamedTuple):
    """A colour in its two versions, as `#rrggbb`.

    Args:
        light: on a light background, which figures are drawn for.
        dark: on a dark background.
    """

    light: str
    dark: str


#: The series have Okabe and Ito's colours, which colour-blind readers can tell apart; the page
#: has each colour as a CSS variable of its name.
PALETTE = {
    "ink": Colour("#1b1f24", "#e8eaed"),
    "line": Colour("#d8dde3", "#363d45"),
    "blind": Colour("#777777", "#b0b0b0"),
    "baseline": Colour("#b8578a", "#e39bc3"),
    "Bayes": Colour("#0072b2", "#56b4e9"),
    "SOSR": Colour("#d55e00", "#f08a3c"),
}
