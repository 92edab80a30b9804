"""Turns a Matplotlib figure into an SVG element in the colours of the HTML page around it."""

import io
import re
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    "regression": Colour("#009e73", "#3fc79d"),
}

#: An artist whose gid starts with this shows the rest of the gid when the mouse rests on it.
TOOLTIP = "tooltip: "

_HREF = "{http://www.w3.org/1999/xlink}href"

_VARIABLES = {colour.light: f"var(--{name})" for name, colour in PALETTE.items()}


def inline_svg(figure: "Figure", name: str, title: str, description: str) -> str:
    """Saves a figure as an SVG element that follows the style of the page around it.

    Colours of `PALETTE` become the page's CSS variables, so that the figure follows its dark
    mode; text stays text, in the page's font; the width is that of the surrounding element.

    Args:
        figure: the figure, drawn within `figures.drawing_style`.
        name: prefix of all ids, unique on the page.
        title: short title, for screen readers.
        description: the figure's content in words, for screen readers.

    Returns:
        The element `svg`, without namespaces, as HTML needs none. Equal figures give
        equal elements.
    """
    buffer = io.BytesIO()
    empty = dict.fromkeys(["Creator", "Date", "Format", "Type"])
    figure.savefig(buffer, format="svg", transparent=True, metadata=empty)
    root = ElementTree.fromstring(buffer.getvalue())
    for parent in list(root.iter()):
        for child in list(parent):
            # Matplotlib's style sheet would apply to the whole page.
            if child.tag.endswith("}style"):
                parent.remove(child)
    # Nothing else refers to ids: the figures' artists are not clipped.
    references = {element.get(_HREF, "").removeprefix("#") for element in root.iter()}
    for element in list(root.iter()):
        element.tag = element.tag.partition("}")[2]
        element.text, element.tail = (element.text or "").strip(), ""
        label = element.get("id", "")
        element.attrib = {
            key.partition("}")[2] or key: _attribute(key, value, name)
            for key, value in element.attrib.items()
            if key != "id" or value in references
        }
        if label.startswith(TOOLTIP):
            tooltip = ElementTree.Element("title")
            tooltip.text = label.removeprefix(TOOLTIP)
            element.insert(0, tooltip)
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-labelledby": f"{name}-title {name}-description",
    }
    for index, (tag, kind, text) in enumerate(
        [("title", "title", title), ("desc", "description", description)]
    ):
        element = ElementTree.Element(tag, {"id": f"{name}-{kind}"})
        element.text = text
        root.insert(index, element)
    return ElementTree.tostring(root, encoding="unicode")


def _attribute(key: str, value: str, name: str) -> str:
    """The value of an attribute, with ids of this figure and the page's colours and font."""
    if key == "id":
        return f"{name}-{value}"
    if key == _HREF:
        return f"#{name}-{value.removeprefix('#')}"
    if key == "style":
        value = re.sub(r"'DejaVu Sans'.*?sans-serif", "var(--font)", value)
        return re.sub(r"#[0-9a-f]{6}", lambda found: _VARIABLES.get(found[0], found[0]), value)
    # Hundredths of a pixel are precise enough; line breaks in paths only take space.
    value = re.sub(r"\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}", value)
    return " ".join(value.split())
