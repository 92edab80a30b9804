"""Paired comparisons of what methods of `worth.py` cost."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from formats import MeanRatio
from scipy import stats

#: The method that others are compared with.
BASE = "calibrated Bayes"
BY_LIKELIHOOD = "calibrated Bayes by likelihood"
#: How pre-trained networks are named without pre-training.
NONE = "no pre-training"
#: Ways to pre-train: on the labelled inputs, or on all inputs of the set.
WAYS = ("none", *(f"{it}{end}" for end in ("", " on all") for it in ("DAE", "SEAE", "CAE")))
#: Those that are followed by training with SOSR as well, which needs a search for each.
WITH_SOSR = ("none", "DAE on all", "CAE on all")
CELL = ("part", "set", "labels", "hidden", "noise", "kept", "costs", "beyond")
PAIR = (*CELL, "seed", "matrix")
_NUMBERS = ("labels", "noise", "kept", "beyond", "seed", "matrix", "average_cost", "clean_cost")
_NUMBERS += ("collapsed", "on_edge", "at_limit", "trials", "overconfidence", "seconds")
_NUMBERS += ("cost_scale",)
#: Sets with another number of classes have the examples of the one that they are named after.
_NAME = r"^(.+?)(?: in (\d+) classes)?$"


def frame_of(rows: Sequence[dict[str, str]]) -> pd.DataFrame:
    """Returns rows with numbers as such, and pre-trained networks named by their pre-training."""
    # Two processes that wrote into one folder may both have measured a case.
    frame = pd.DataFrame(rows).drop_duplicates([*PAIR, "pretraining", "method"])
    frame = frame.astype({name: float for name in _NUMBERS})
    # Confidence minus accuracy of the network by whose probabilities Bayes decides.
    excess = frame["overconfidence"].where(frame["method"] == "Bayes")
    frame["excess"] = excess.groupby([frame[it] for it in PAIR]).transform("mean")
    # Names say the number of classes where it was changed; other sets of that part have ten.
    frame[["family", "classes"]] = frame["set"].str.extract(_NAME)
    frame["classes"] = frame["classes"].fillna("10").astype(float)
    names = zip(frame["part"], frame["method"], frame["pretraining"], strict=True)
    frame["method"] = [
        name_of(way, method) if it == "labels" else method for it, method, way in names
    ]
    return frame


def name_of(way: str, method: str = BY_LIKELIHOOD) -> str:
    """Returns the name of a pre-training that is followed by calibrated Bayes or by SOSR."""
    way = NONE if way == "none" else way
    return way if method == BY_LIKELIHOOD else f"{way}, {method}"


class Comparison(NamedTuple):
    """A mean ratio of costs in pairs.

    Args:
        ratio: geometric mean with its 95 % interval, which a single unit does not have.
        units: number of units that the interval is over.
        pairs: number of pairs of networks.
        p_value: two-sided p-value of the hypothesis that the mean of logarithms is 0; 1 for a
            single unit.
    """

    ratio: MeanRatio
    units: int
    pairs: int
    p_value: float

    @property
    def verdict(self) -> int:
        """-1 if the whole interval is below 1, 1 if it is above, else 0."""
        return int(self.ratio.low > 1.0) - int(self.ratio.high < 1.0)

    def text(self) -> str:
        """Returns the ratio with its interval, bold if that excludes 1."""
        return f"**{self.ratio.text()}**" if self.verdict else self.ratio.text()


def costs_of(frame: pd.DataFrame, column: str = "average_cost") -> pd.DataFrame:
    """Returns costs with a row for each pair and a column for each method."""
    return frame.pivot(index=list(PAIR), columns="method", values=column)


def compare(costs: pd.DataFrame, first: str, second: str, fewest: int = 2) -> Comparison | None:
    """Compares two methods in pairs.

    Units are sets and seeds: the pairs of one, with its conditions, matrices and numbers of
    classes, share examples and networks, so their logarithms are averaged.

    Args:
        costs: from `costs_of`.
        first: a method.
        second: the method that its costs are divided by.
        fewest: the least number of units.

    Returns:
        A `Comparison`; `None` with fewer than `fewest` units.
    """
    if not {first, second} <= set(costs.columns):
        return None
    both = costs[[first, second]].dropna()
    logs = np.log(both[first] / both[second])
    families = logs.index.get_level_values("set").str.extract(_NAME)[0]
    units = logs.groupby([families.to_numpy(), logs.index.get_level_values("seed")]).mean()
    if len(units) < fewest:
        return None
    # Methods that always decide alike, as argmax and Bayes under equal costs, do not differ.
    differ = len(units) > 1 and units.std() > 1e-12
    p_value = stats.ttest_1samp(units, 0.0).pvalue if differ else 1.0
    ratio = MeanRatio.of(np.exp(units), np.ones(len(units)))
    return Comparison(ratio, len(units), len(logs), float(p_value))


def compare_cells(
    costs: pd.DataFrame, first: str, second: str
) -> Iterator[tuple[dict[str, object], Comparison]]:
    """Yields the conditions and the comparison of each cell that has both methods."""
    for key, part in costs.groupby(level=list(CELL), sort=False):
        found = compare(part, first, second)
        if found is not None:
            yield dict(zip(CELL, key, strict=True)), found


class Tally(NamedTuple):
    """Cells in which a method costs less than another.

    Args:
        cells: number of comparisons.
        less: number of ratios below 1.
        below: number of intervals below 1.
        above: number of intervals above 1.
        sure: conditions and comparisons whose p-value times `cells` is below .05.
        won: conditions and comparisons whose interval is below 1.
    """

    cells: int
    less: int
    below: int
    above: int
    sure: list[tuple[dict[str, object], Comparison]]
    won: list[tuple[dict[str, object], Comparison]]


def tally(costs: pd.DataFrame, first: str, second: str) -> Tally:
    """Counts the cells in which the first method costs less than the second."""
    cells = list(compare_cells(costs, first, second))
    won = [pair for pair in cells if pair[1].verdict < 0]
    sure = [pair for pair in won if pair[1].p_value * len(cells) < 0.05]
    less = sum(found.ratio.value < 1.0 for _, found in cells)
    above = sum(found.verdict > 0 for _, found in cells)
    return Tally(len(cells), less, len(won), above, sure, won)


def words(cell: dict[str, object]) -> str:
    """Describes the conditions of a cell."""
    hidden, noise, kept = cell["hidden"], cell["noise"], cell["kept"]
    found = [str(cell["set"]), f"{cell['labels']:,.0f} labels"]
    found.append("linear model" if hidden == "linear" else f"{hidden} hidden units")
    if noise:
        found.append(f"{noise:.0%} label noise")
    if kept < 1:
        found.append(f"a third of the classes with {kept:.0%} of their examples")
    if cell["costs"] == "proportional":
        found.append("proportional costs")
    elif cell["costs"] != "uniform":
        found.append(f"costs 1 to {cell['costs']}" if cell["costs"] != "1" else "equal costs")
    if cell["beyond"] > 1:
        found.append(f"{cell['beyond']:.0f} times the best updates")
    return ", ".join(found)
