"""The plot of `worth.py` against how overconfident a network is."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from worth_comparisons import BASE, costs_of
from worth_plots import COLOURS, panels, set_ratio_axis

from csdl_keras.plots._axes import GREY

_NETWORK = ["labels", "hidden", "noise", "beyond", "seed"]
_COLOURS = {BASE: "#000000", "SOSR": COLOURS["SOSR"], "Poisson": COLOURS["Poisson"]}


def draw_overconfidence(frame: pd.DataFrame) -> Figure | None:
    """Draws ratios to the Bayes decision against confidence minus accuracy.

    A point is one network of probabilities, the mean over cost matrices.
    """
    own = frame[frame["part"].isin(["model", "confidence"])]
    sets = list(dict.fromkeys(own["set"]))
    if not sets:
        return None
    figure, grid = panels(len(sets), min(len(sets), 2))
    for place, (axes, name) in enumerate(zip(grid, sets, strict=True), start=1):
        part = own[own["set"] == name]
        ratios = np.log(costs_of(part)).groupby(level=_NETWORK).mean()
        excess = part.groupby(_NETWORK)["excess"].mean().reindex(ratios.index)
        drawn = [1.0]
        for method, colour in _COLOURS.items():
            if method in ratios:
                y = np.exp(ratios[method] - ratios["Bayes"])
                axes.plot(excess, y, "o", color=colour, markersize=3.5, alpha=0.7, label=method)
                drawn += y.dropna().tolist()
        axes.axhline(1.0, color=GREY, linestyle="--", linewidth=1.0)
        axes.set_title(name, fontsize=10)
        set_ratio_axis(axes, drawn)
        if place > len(sets) - 2:
            axes.set_xlabel("confidence − accuracy of the network")
        if place % 2:
            axes.set_ylabel("cost / cost of Bayes")
    figure.suptitle("How overconfident the network is", fontsize=11)
    handles = axes.get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3, frameon=False)
    return figure
