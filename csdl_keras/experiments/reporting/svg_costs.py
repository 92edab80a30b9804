"""How far algorithms are from the best one, as SVG."""

from collections.abc import Callable

import numpy as np

from csdl_keras.experiments.reporting.column import Column
from csdl_keras.experiments.reporting.relative_costs import RelativeCost, relative_costs
from csdl_keras.experiments.reporting.svg import (
    spaced,
    svg_figure,
    svg_line,
    svg_points,
    svg_text,
)

_WIDTH, _LEFT, _RIGHT, _TOP, _ROW = 340, 116, 326, 6, 21
_TICKS = (1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


def render_costs(column: Column) -> str:
    """Draws each algorithm's cost, divided by the lowest one, on a logarithmic scale.

    Args:
        column: a data set.

    Returns:
        An inline SVG; ours are discs in the colour of the series, the paper's
        are hollow diamonds.
    """
    rows = relative_costs(column)
    values = [value for row in rows for value in (row.ours, row.paper) if np.isfinite(value)]
    longest = np.log(max([*values, 1.5]) * 1.06)
    bottom = _TOP + _ROW * len(rows)

    def place(value: float) -> float:
        return _LEFT + 8 + (_RIGHT - _LEFT - 8) * float(np.log(value)) / longest

    ticks = [tick for tick in _TICKS if np.log(tick) <= longest]
    places = [place(tick) for tick in ticks]
    parts = []
    for index in spaced(places, 30):
        x = places[index]
        parts.append(svg_line(x, _TOP, x, bottom, "grid"))
        parts.append(svg_text(x, bottom + 15, f"{ticks[index]:g}×", "middle"))
    for index, row in enumerate(rows):
        parts += _row(row, _TOP + _ROW * (index + 0.5), place)
    label = f"Cost relative to the lowest on {column.title}"
    return svg_figure(_WIDTH, bottom + 22, label, parts)


def _row(row: RelativeCost, y: float, place: Callable[[float], float]) -> list[str]:
    parts = [svg_text(_LEFT - 4, y + 4, row.title, "end", "bold" if row.bold else "")]
    if np.isfinite(row.ours):
        x = place(row.ours)
        parts.append(svg_line(place(1), y, x, y, f"stem {row.series}"))
        title = f"<title>{row.title}: {row.ours:.2f}×</title>"
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" class="{row.series}">{title}</circle>'
        )
    if np.isfinite(row.paper):
        x = place(row.paper)
        corners = svg_points([(x - 5, y), (x, y - 5), (x + 5, y), (x, y + 5)])
        title = f"<title>{row.title}, paper: {row.paper:.2f}×</title>"
        parts.append(f'<polygon points="{corners}" class="paper">{title}</polygon>')
    return parts
