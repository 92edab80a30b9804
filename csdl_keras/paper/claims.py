"""The claims of the paper's section "Experimental Results", compared with our figures."""

import collections
import dataclasses
import math
from collections.abc import Iterable, Sequence

import numpy as np

from csdl_keras.paper.beta_curve import BetaCurve
from csdl_keras.paper.differences import Difference
from csdl_keras.paper.table2 import Column
from csdl_keras.training.algorithms import PAPER_ALGORITHMS, get_algorithm

#: Explains how verdicts on claims are made.
RULE = (
    "A comparison is one pair of algorithms on one data set. It counts for the claim if the 95 % "
    "interval of the difference in cost lies wholly on the paper's side of 0, against it if it "
    "lies wholly on the other side, and is open otherwise. Supported: more than half of the "
    "comparisons are for the claim, and fewer than a quarter against it. Not supported: fewer "
    "than a quarter are for it, which does not say that the opposite holds. Mixed: everything "
    "between. Intervals are over cost matrices and test examples, with Student's t for the few "
    "matrices; that of a single matrix is over its examples alone and says nothing of others, and "
    "that of a single training nothing of trainings that start from other weights. "
    "They are not corrected for the number of comparisons. Where intervals of the ratio of costs, "
    "which weigh matrices alike, count otherwise, the counts by them are told too."
)


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
        """`"supported"`, `"not supported"`, `"mixed"` or `"no figures"`, see `RULE`."""
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


def _series(series: str) -> tuple[str, ...]:
    """Names of the paper's algorithms of a series; its claims are about no others."""
    return tuple(name for name in PAPER_ALGORITHMS if get_algorithm(name).series == series)


_BLIND, _BASELINES = _series("blind"), _series("baseline")
_DEEP = _series("Bayes") + _series("SOSR")
_COUNTERPARTS = [
    (("dnn_sosr",), ("dnn_bayes",)),
    (("sdae_sosr",), ("sdae_bayes",)),
    (("seae_sosr",), ("seae_bayes",)),
    (("csdnn",), ("scae_bayes",)),
    (("cnn_sosr",), ("cnn_bayes",)),
]
_IS_IT_NECESSARY = "Is it necessary to {}?"
_COMPETITIVE = "CSDNN is competitive to CNN SOSR: cheaper, or not significantly costlier"
_IMBALANCED = "so they do especially on imbalanced data"

# A question of the paper, its claim, and the sides whose first one should be cheaper. A side is an
# algorithm, or several of which the best one is compared; a number is an end of the curve of beta.
_CLAIMS: list[tuple[str, str, list[tuple[tuple[str, ...], tuple[str, ...]]] | float]] = [
    (
        "consider costs",
        "the best cost-sensitive algorithm costs less than the best cost-blind one",
        [(_BASELINES + _DEEP, _BLIND)],
    ),
    (
        "go deep",
        "CSOSR and MIN often cost less than the cost-blind algorithms",
        [((own,), (other,)) for own in _BASELINES for other in _BLIND],
    ),
    (
        "go deep",
        "the best cost-sensitive deep algorithm costs less than CSOSR and than MIN",
        [(_DEEP, (name,)) for name in _BASELINES],
    ),
    (
        "incorporate costs during training",
        "algorithms of the SOSR series cost less than their Bayes counterparts",
        _COUNTERPARTS,
    ),
    ("incorporate costs during training", _IMBALANCED, _COUNTERPARTS),
    (
        "incorporate costs during pre-training",
        "CSDNN costs less than SEAE SOSR and than SDAE SOSR",
        [(("csdnn",), ("seae_sosr",)), (("csdnn",), ("sdae_sosr",))],
    ),
    (
        "incorporate costs during pre-training",
        "SDAE SOSR costs less than DNN SOSR",
        [(("sdae_sosr",), ("dnn_sosr",))],
    ),
    (
        "incorporate costs during pre-training",
        "in Table 2, SDAE also costs less than DNN with the Bayes decision",
        [(("sdae_bayes",), ("dnn_bayes",))],
    ),
    (
        "incorporate costs during pre-training",
        "in Table 2, SCAE also costs less than SDAE with the Bayes decision",
        [(("scae_bayes",), ("sdae_bayes",))],
    ),
    ("Which is better, CNN SOSR or CSDNN?", _COMPETITIVE, [(("csdnn",), ("cnn_sosr",))]),
    (
        "Is the mixture loss necessary?",
        "some β between 0 and 1 costs less than β = 0, which is SDAE SOSR",
        0.0,
    ),
    (
        "Is the mixture loss necessary?",
        "some β between 0 and 1 costs less than β = 1, fully cost-aware pre-training",
        1.0,
    ),
]


def claims(columns: Sequence[Column], curves: Sequence[BetaCurve]) -> list[Claim]:
    """Compares the claims of the section "Experimental Results" with our figures.

    Where a claim is about the best of several algorithms, the one of the lowest
    validation cost stands for them: choosing by test cost would favour the
    larger group.

    Args:
        columns: the data sets of Table 2.
        curves: costs by beta, may be empty.

    Returns:
        A `Claim` for each of the paper's claims.
    """
    found = []
    for question, statement, sides in _CLAIMS:
        if isinstance(sides, float):
            pairs = [_compare_betas(columns, curve, sides) for curve in curves]
        else:
            own = [it for it in columns if it.imbalanced or statement != _IMBALANCED]
            pairs = [_compare(column, *pair) for column in own for pair in sides]
        asked = question if question.endswith("?") else _IS_IT_NECESSARY.format(question)
        compared = tuple(pair for pair in pairs if pair is not None)
        found.append(Claim(asked, statement, compared, statement == _COMPETITIVE))
    return found


def _compare(
    column: Column, side: tuple[str, ...], other_side: tuple[str, ...]
) -> ComparedPair | None:
    """Compares the two sides on a data set, if both were run there."""
    first, second = (
        names[0] if len(names) == 1 else column.choose(names) for names in (side, other_side)
    )
    difference = column.compare(first, second) if first and second else None
    if first is None or second is None or difference is None:
        return None
    own, other = column.paper(first), column.paper(second)
    both = own is not None and other is not None
    return ComparedPair(
        column.heading(),
        get_algorithm(first).title,
        get_algorithm(second).title,
        difference,
        float(own["cost"]) / float(other["cost"]) if both else None,
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
