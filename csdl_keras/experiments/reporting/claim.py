"""A claim of the paper and what the figures say of it."""

import dataclasses

import numpy as np

from csdl_keras.experiments.reporting.comparison import Comparison

#: How verdicts are made.
RULE = (
    "A comparison is one pair of algorithms on one data set. It counts for the claim if the 95 % "
    "interval of the difference in cost lies wholly on the paper's side of 0, against it if it "
    "lies wholly on the other side, and is open otherwise. Supported: more than half of the "
    "comparisons are for the claim, and fewer than a quarter against it. Not supported: fewer "
    "than a quarter are for it, which does not say that the opposite holds. Mixed: everything "
    "between. Intervals are over cost matrices and test examples, with Student's t for the few "
    "matrices; that of a single matrix is over its examples alone and says nothing of others. "
    "They are not corrected for the number of comparisons."
)

#: What is said in place of claims if no comparison can be made.
NOTHING = "Nothing to compare: there are no test decisions of two algorithms that a claim is about."


@dataclasses.dataclass(frozen=True)
class Claim:
    """A claim of the paper's section "Experimental Results".

    Args:
        question: the paper's heading.
        statement: what it says.
        comparisons: pairs whose first one should be cheaper.
        ties_support: whether an open comparison counts for the claim, as for "is
            competitive to". Defaults to False.
    """

    question: str
    statement: str
    comparisons: tuple[Comparison, ...]
    ties_support: bool = False

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of comparisons for the claim, open, and against it."""
        cheaper = sum(each.difference.cheaper for each in self.comparisons)
        costlier = sum(each.difference.costlier for each in self.comparisons)
        tied = len(self.comparisons) - cheaper - costlier
        return (cheaper + tied, 0, costlier) if self.ties_support else (cheaper, tied, costlier)

    @property
    def verdict(self) -> str:
        """`"supported"`, `"not supported"`, `"mixed"` or `"no figures"`, by `RULE`."""
        total = len(self.comparisons)
        if not total:
            return "no figures"
        supporting, _, opposing = self.counts
        if supporting > total / 2 and opposing < total / 4:
            return "supported"
        return "not supported" if supporting < total / 4 else "mixed"

    @property
    def ratio(self) -> float:
        """Geometric mean of the ratios of costs, first to second; NaN without any."""
        ratios = [each.difference.ratio for each in self.comparisons]
        usable = [ratio for ratio in ratios if 0 < ratio < np.inf]
        return float(np.exp(np.mean(np.log(usable)))) if usable else float("nan")

    @property
    def paper_ratio(self) -> float:
        """The same of the paper's figures."""
        ratios = [each.paper_ratio for each in self.comparisons if each.paper_ratio]
        return float(np.exp(np.mean(np.log(ratios)))) if ratios else float("nan")

    @property
    def summary(self) -> str:
        """The counts in words."""
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
        single = sum(each.difference.matrices == 1 for each in self.comparisons)
        if single:
            words += ", each" if single == len(self.comparisons) else f", {single} of them"
            words += " on one matrix alone"
        if np.isfinite(self.ratio):
            words += f"; cost ratio {self.ratio:.2f}"
        if np.isfinite(self.paper_ratio):
            words += f", in the paper {self.paper_ratio:.2f}"
        return words
