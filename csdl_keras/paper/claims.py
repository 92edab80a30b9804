"""The claims of the paper's section "Experimental Results", compared with our figures."""

import collections
import dataclasses
import math
from collections.abc import Iterable, Sequence

import numpy as np

from csdl_keras.paper.beta_curve import BetaCurve
from csdl_keras.paper.differences import Difference
from csdl_keras.paper.results import words
from csdl_keras.paper.table2 import Column
from csdl_keras.training.algorithms import PAPER_ALGORITHMS, get_algorithm


@dataclasses.dataclass(frozen=True)
class ComparedPair:
    """Two algorithms, or two betas, compared on one data set for a claim.

    `first` is the one that the paper says is cheaper, `difference` its cost less that of `second`;
    `paper_ratio` is the ratio of their costs in the paper's Table 2. `same_pretraining` says that
    both have the same pre-training after all, since the search of one chose β = 0. `differs` says
    how data and networks differ from the paper's.
    """

    data: str
    first: str
    second: str
    difference: Difference
    paper_ratio: float | None = None
    collapsed: bool = False
    same_pretraining: bool = False
    differs: tuple[str, ...] = ()

    @property
    def line(self) -> list[str]:
        """The comparison below `COMPARISON_HEADS`."""
        it = self.difference
        cheaper = self.first if it.cheaper else self.second if it.costlier else "open"
        amounts = "{} [{}, {}]".format(*map(_signed, (it.mean, it.low, it.high)))
        ends = f" [{it.ratio_low:.2f}, {it.ratio_high:.2f}]" * (not math.isnan(it.ratio_low))
        return [
            self.data,
            f"{self.first} : {self.second}",
            cheaper,
            _ratio(it.ratio) + ends,
            "diverged" if math.isinf(it.mean) else amounts,
            f"{it.matrices}"
            + (f" × {it.seeds} seeds" if it.seeds > 1 else "")
            + (", collapsed" if self.collapsed else ""),
            _ratio(self.paper_ratio),
        ]


COMPARISON_HEADS = ["data set", "pair", "cheaper", "cost ratio [95 %]", "difference [95 %]"]
COMPARISON_HEADS += ["matrices", "paper's ratio"]
CLAIM_HEADS = ["claim of the paper", "verdict", "comparisons", "paired differences", "setting"]


@dataclasses.dataclass(frozen=True)
class Claim:
    """A claim of the paper, with the comparisons that bear on it, whose first should be cheaper.

    `ties_support` says that an open comparison counts for it, as for "is competitive to".
    `with_twice_the_epochs` are the verdicts on single cells and on the same cells with twice the
    epochs, if they differ.
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
        """`"supported"`, `"not supported"`, `"mixed"` or `"no figures"`, see `report.toml`."""
        total = len(self.comparisons)
        if not total:
            return "no figures"
        supporting, _, opposing = self.counts
        if supporting > total / 2 and opposing < total / 4:
            return "supported"
        return "not supported" if supporting < total / 4 else "mixed"

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
        found = [each.difference for each in self.comparisons]
        single = [it for it in found if it.matrices == 1]
        if single:
            once = all(it.seeds == 1 for it in single)
            words += f", {self._share(len(single))} on one matrix"
            words += f"{' and one training' if once else ''} alone"
        unrepeated = sum(it.seeds == 1 < it.matrices for it in found)
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
        ratio = _geometric_mean(it.ratio for it in found)
        paper_ratio = _geometric_mean(it.paper_ratio or math.nan for it in self.comparisons)
        words += f"; cost ratio {ratio:.2f}" * math.isfinite(ratio)
        return words + f", in the paper {paper_ratio:.2f}" * math.isfinite(paper_ratio)

    @property
    def line(self) -> list[str]:
        """The claim below `CLAIM_HEADS`."""
        found = [it.difference for it in self.comparisons if math.isfinite(it.difference.mean)]
        differences = "–"
        if len(self.comparisons) == 1:
            differences = self.comparisons[0].line[4]
        elif found:
            low, high = (_signed(end(each.mean for each in found)) for end in (min, max))
            clear = sum(not each.tied for each in found)
            differences = f"{low} to {high}; {clear} of {len(found)} intervals exclude 0"
        statement = self.statement[0].upper() + self.statement[1:]
        return [statement, self.verdict, self.summary, differences, self._setting]

    @property
    def _setting(self) -> str:
        """In how many comparisons data and networks differ from the paper's, and in what."""
        every = len(self.comparisons)
        if not every:
            return "–"
        counts = collections.Counter(it for each in self.comparisons for it in each.differs)
        found = [f"{what} in {number} of {every}" for what, number in sorted(counts.items())]
        return f"not the paper's: {', '.join(found)}" if found else "the paper's"

    def _share(self, number: int) -> str:
        return "each" if number == len(self.comparisons) else f"{number} of them"

    def _flagged(self, flag: str, meaning: str) -> str:
        """Counts the comparisons with a flag, and says what the verdict is without them."""
        sound = tuple(each for each in self.comparisons if not getattr(each, flag))
        if len(sound) == len(self.comparisons):
            return ""
        words = f", {len(self.comparisons) - len(sound)} {meaning}"
        without = dataclasses.replace(self, comparisons=sound)
        return words + (
            f" (without: {without.counts[0]} of {len(sound)} for, {without.verdict})"
            if sound
            else ""
        )


def _series(*series: str) -> list[str]:
    """Names of the paper's algorithms of some series; its claims are about no others."""
    return [name for name in PAPER_ALGORITHMS if get_algorithm(name).series in series]


#: What stands for several algorithms in `report.toml`, of which the best one is compared.
_SIDES = {
    "blind": _series("blind"),
    "deep": _series("Bayes", "SOSR"),
    "aware": _series("baseline", "Bayes", "SOSR"),
}


def claims(columns: Sequence[Column], curves: Sequence[BetaCurve]) -> list[Claim]:
    """Compares the claims of the section "Experimental Results" with our figures.

    Where a claim is about the best of several algorithms, the one of the lowest
    validation cost stands for them: choosing by test cost would favour the
    larger group.
    """
    found = []
    for claim in words()["claims"]:
        if "beta" in claim:
            pairs = [_compare_betas(columns, curve, claim["beta"]) for curve in curves]
        else:
            own = [it for it in columns if it.imbalanced or not claim.get("imbalanced")]
            pairs = [_compare(column, *pair) for column in own for pair in claim["pairs"]]
        compared = tuple(pair for pair in pairs if pair is not None)
        ties_support = claim.get("ties_support", False)
        found.append(Claim(claim["question"], claim["statement"], compared, ties_support))
    return found


def _compare(column: Column, *sides: str) -> ComparedPair | None:
    """Compares two sides on a data set, if both were run there."""
    first, second = (column.choose(_SIDES[it]) if it in _SIDES else it for it in sides)
    difference = column.compare(first, second) if first and second else None
    if first is None or second is None or difference is None:
        return None
    own, other = column.paper(first), column.paper(second)
    return ComparedPair(
        column.heading(),
        get_algorithm(first).title,
        get_algorithm(second).title,
        difference,
        None if own is None or other is None else float(own["cost"]) / float(other["cost"]),
        collapsed=bool(column.cells["collapsed"].reindex([first, second]).gt(0).any()),
        same_pretraining=column.pretrained_alike(first, second),
        differs=_differs(column, first, second),
    )


def _compare_betas(columns: Sequence[Column], curve: BetaCurve, end: float) -> ComparedPair | None:
    """Compares the beta that validation chose inside (0, 1) with `end`."""
    difference = curve.compare(end)
    if difference is None or curve.chosen is None:
        return None
    chosen = float(curve.betas[curve.chosen])
    own = [column for column in columns if column.title == curve.title]
    return ComparedPair(
        curve.title,
        f"β = {chosen:g}",
        f"β = {end:g}",
        difference,
        collapsed=not {chosen, end}.isdisjoint(curve.collapsed),
        differs=_differs(own[0], "csdnn") if own else (),
    )


def _differs(column: Column, *names: str) -> tuple[str, ...]:
    """Says in what the data, and the networks of algorithms, differ from the paper's."""
    found = []
    # Imbalanced variants keep about 72 % of the examples.
    whole = column.name.examples * (0.6 if column.imbalanced else 1)
    if not column.name.same or column.name.paper is None:
        found.append("other data")
    elif column.train_size < whole:
        found.append("fewer examples")
    if not column.has_paper_size and any(get_algorithm(name).body == "mlp" for name in names):
        found.append("other layers")
    return tuple(found)


def _geometric_mean(ratios: Iterable[float]) -> float:
    usable = [ratio for ratio in ratios if 0 < ratio < math.inf]
    return float(np.exp(np.mean(np.log(usable)))) if usable else math.nan


def _ratio(ratio: float | None) -> str:
    return f"{ratio:.2f}" if ratio is not None and math.isfinite(ratio) else "–"


def _signed(value: float) -> str:
    # A value that rounds to zero has no sign.
    text = f"{value:+.3f}"
    return text.replace("+", "").replace("-", "") if float(text) == 0 else text.replace("-", "−")
