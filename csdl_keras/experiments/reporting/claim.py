"""A claim of the paper, with the comparisons that bear on it, and their verdict."""

import dataclasses
import math
from collections.abc import Iterable

import numpy as np

from csdl_keras.experiments.reporting.comparison import Difference


@dataclasses.dataclass(frozen=True)
class ComparedPair:
    """Two algorithms, or two betas, compared on one data set for a claim.

    Args:
        data: title of the data set.
        first: title of the one that the paper says is cheaper.
        second: title of the other one.
        difference: cost of the first one less that of the second.
        paper_ratio: ratio of their costs in the paper's Table 2, `None` (default)
            if it has none.
        collapsed: whether a network of one of them decides no better than one decision for
            all examples. Defaults to False.
        same_pretraining: whether one of them is pre-trained as the other one after all, since
            its search chose β = 0. Defaults to False.
        differs: in what data and networks differ from the paper's: `"other data"`, or `"fewer
            examples"` of the same, and `"other layers"` of a fully-connected network. Defaults
            to nothing.
    """

    data: str
    first: str
    second: str
    difference: Difference
    paper_ratio: float | None = None
    collapsed: bool = False
    same_pretraining: bool = False
    differs: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Claim:
    """A claim of the paper, with the comparisons that bear on it.

    Args:
        question: heading of the paper under which it stands.
        statement: the claim in a sentence.
        comparisons: pairs whose first one should be cheaper.
        ties_support: whether an open comparison counts for the claim, as for "is
            competitive to". Defaults to False.
        with_twice_the_epochs: the verdicts on single cells and on the same cells with twice the
            epochs, if they differ; `None` (default) if they are the same or unknown.
    """

    question: str
    statement: str
    comparisons: tuple[ComparedPair, ...]
    ties_support: bool = False
    with_twice_the_epochs: tuple[str, str] | None = None

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of comparisons for the claim, open, and against it."""
        cheaper = sum(each.difference.cheaper for each in self.comparisons)
        costlier = sum(each.difference.costlier for each in self.comparisons)
        tied = len(self.comparisons) - cheaper - costlier
        return (cheaper + tied, 0, costlier) if self.ties_support else (cheaper, tied, costlier)

    @property
    def verdict(self) -> str:
        """`"supported"`, `"not supported"`, `"mixed"` or `"no figures"`, see `text.RULE`."""
        total = len(self.comparisons)
        if not total:
            return "no figures"
        supporting, _, opposing = self.counts
        if supporting > total / 2 and opposing < total / 4:
            return "supported"
        return "not supported" if supporting < total / 4 else "mixed"

    @property
    def ratio(self) -> float:
        """Geometric mean of the ratios of costs, first to second; NaN if there are none."""
        return _geometric_mean(each.difference.ratio for each in self.comparisons)

    @property
    def paper_ratio(self) -> float:
        """Geometric mean of the paper's ratios; NaN if there are none."""
        return _geometric_mean(each.paper_ratio or math.nan for each in self.comparisons)

    @property
    def summary(self) -> str:
        """The counts and ratios in words."""
        if not self.comparisons:
            return "nothing to compare yet"
        supporting, open_, opposing = self.counts
        words = f"{supporting} of {len(self.comparisons)} for"
        if self.ties_support:
            words += " (cheaper or tied)"
        elif open_:
            words += f", {open_} open"
        if opposing:
            words += f", {opposing} against"
        single = [each.difference for each in self.comparisons if each.difference.matrices == 1]
        if single:
            once = all(difference.seeds == 1 for difference in single)
            words += f", {self._share(len(single))} on one matrix"
            words += f"{' and one training' if once else ''} alone"
        unrepeated = sum(
            each.difference.seeds == 1 < each.difference.matrices for each in self.comparisons
        )
        if unrepeated:
            words += f", {self._share(unrepeated)} with one training seed"
        words += self._flagged("collapsed", "with a collapsed network")
        words += self._flagged("same_pretraining", "with the same pre-training, since β = 0")
        pairs = [
            dataclasses.replace(it, difference=it.difference.by_ratio()) for it in self.comparisons
        ]
        by_ratio = dataclasses.replace(self, comparisons=tuple(pairs))
        if by_ratio.counts != self.counts:
            number, _, against = by_ratio.counts
            words += f"; by intervals of ratios {number} for, {against} against"
            words += f": {by_ratio.verdict}" * (by_ratio.verdict != self.verdict)
        if self.with_twice_the_epochs:
            words += "; on single cells {}, with twice the epochs {}".format(
                *self.with_twice_the_epochs
            )
        if math.isfinite(self.ratio):
            words += f"; cost ratio {self.ratio:.2f}"
        if math.isfinite(self.paper_ratio):
            words += f", in the paper {self.paper_ratio:.2f}"
        return words

    def _share(self, number: int) -> str:
        return "each" if number == len(self.comparisons) else f"{number} of them"

    def _flagged(self, flag: str, meaning: str) -> str:
        """Counts the comparisons with a flag, and says what the verdict is without them."""
        sound = tuple(each for each in self.comparisons if not getattr(each, flag))
        if len(sound) == len(self.comparisons):
            return ""
        words = f", {len(self.comparisons) - len(sound)} {meaning}"
        without = dataclasses.replace(self, comparisons=sound)
        for_, _, _ = without.counts
        return words + (
            f" (without: {for_} of {len(sound)} for, {without.verdict})" if sound else ""
        )


def _geometric_mean(ratios: Iterable[float]) -> float:
    usable = [ratio for ratio in ratios if 0 < ratio < math.inf]
    return float(np.exp(np.mean(np.log(usable)))) if usable else math.nan
