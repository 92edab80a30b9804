"""Pieces of SVG figures."""

import html
from collections.abc import Iterable, Sequence


def svg_figure(width: int, height: int, label: str, parts: Iterable[str]) -> str:
    """An inline SVG that scales with the page.

    Args:
        width: of its coordinates; at that width on the screen, text has its size.
        height: of its coordinates.
        label: what it shows, for screen readers.
        parts: its elements.

    Returns:
        The element `svg`.
    """
    body = "".join(parts)
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(label)}">'
        f"{body}</svg>"
    )


def svg_text(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> str:
    """A text at a point.

    Args:
        x: position to the right.
        y: position of the baseline, downwards.
        text: the text, not yet escaped.
        anchor: `"start"` (default), `"middle"` or `"end"`.
        kind: classes of the style sheet.

    Returns:
        The element `text`.

    Example:

    >>> svg_text(1, 2, "a < b")
    '<text x="1.0" y="2.0" text-anchor="start" class="">a &lt; b</text>'
    """
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">'
        f"{html.escape(text)}</text>"
    )


def svg_line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line of a class of the style sheet."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def svg_points(points: Iterable[tuple[float, float]]) -> str:
    """Coordinates for `polyline` and `polygon`."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def spaced(positions: Sequence[float], gap: float) -> list[int]:
    """Indices of positions that are at least `gap` apart; the first and the last are kept.

    Example:

    >>> spaced([0, 5, 10, 25, 99, 100], gap=10)
    [0, 2, 3, 5]
    """
    kept: list[int] = []
    for index, position in enumerate(positions):
        if not kept or position - positions[kept[-1]] >= gap:
            kept.append(index)
    last = len(positions) - 1
    while kept and kept[-1] != last and positions[last] - positions[kept[-1]] < gap:
        kept.pop()
    return kept if not positions or last in kept else [*kept, last]
