"""The relation between beta and test cost, as SVG."""

import numpy as np

from csdl_keras.experiments.reporting.beta_curve import BetaCurve
from csdl_keras.experiments.reporting.svg import (
    spaced,
    svg_figure,
    svg_line,
    svg_points,
    svg_text,
)

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 340, 236, 50, 324, 10, 180


def render_beta_curve(curve: BetaCurve) -> str:
    """Draws cost by beta with a band of one standard error on both sides.

    Args:
        curve: the curve of a data set.

    Returns:
        An inline SVG; the beta that validation chose inside (0, 1) has a ring.
    """
    low, high = curve.costs - curve.standard_errors, curve.costs + curve.standard_errors
    ticks = _ticks(float(low.min()), float(high.max()))
    base, top = ticks[0], ticks[-1]
    xs = _LEFT + 12 + (_RIGHT - _LEFT - 24) * curve.betas

    def place(costs: np.ndarray) -> np.ndarray:
        return _BOTTOM - (_BOTTOM - _TOP) * (costs - base) / (top - base)

    parts = []
    decimals = max(0, int(np.ceil(-np.log10(ticks[1] - ticks[0]) - 1e-9)))
    for tick, y in zip(ticks, place(ticks), strict=True):
        parts.append(svg_line(_LEFT, y, _RIGHT, y, "grid"))
        parts.append(svg_text(_LEFT - 5, y + 4, f"{tick:.{decimals}f}", "end"))
    band = [*zip(xs, place(high), strict=True), *zip(xs[::-1], place(low)[::-1], strict=True)]
    line = list(zip(xs, place(curve.costs), strict=True))
    parts.append(f'<polygon points="{svg_points(band)}" class="band"/>')
    parts.append(f'<polyline points="{svg_points(line)}" class="curve"/>')
    for index, (x, y) in enumerate(line):
        if index == curve.chosen:
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" class="ring"/>')
        text = f"β = {curve.betas[index]:g}: {curve.costs[index]:.4g}"
        title = f"<title>{text} ± {curve.standard_errors[index]:.2g}</title>"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" class="SOSR">{title}</circle>')
    for index in spaced(list(xs), 24):
        parts.append(svg_text(xs[index], _BOTTOM + 18, f"{curve.betas[index]:g}", "middle"))
    parts.append(svg_text((_LEFT + _RIGHT) / 2, _BOTTOM + 18, "β", "middle", "bold"))
    ends = {0.0: (_LEFT, "start", "SDAE SOSR"), 1.0: (_RIGHT, "end", "fully cost-aware")}
    for end, (x, anchor, word) in ends.items():
        if end in curve.betas:
            parts.append(svg_text(x, _BOTTOM + 36, f"β = {end:g}", anchor, "bold"))
            parts.append(svg_text(x, _BOTTOM + 51, word, anchor))
    label = f"Test cost by beta on {curve.title}"
    return svg_figure(_WIDTH, _HEIGHT, label, parts)


def _ticks(low: float, high: float) -> np.ndarray:
    """Four to eight round numbers that span the range."""
    span = max(high - low, 1e-3 * abs(high), 1e-9)
    power = 10 ** np.floor(np.log10(span))
    step = next(factor * power for factor in (0.2, 0.5, 1, 2, 5) if span / (factor * power) <= 5)
    first, last = np.floor(low / step), np.ceil(high / step)
    return step * np.arange(first, max(last, first + 1) + 1)
