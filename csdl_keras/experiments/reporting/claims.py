"""The claims of the paper's section "Experimental Results", compared with our figures."""

import dataclasses
import math
from collections.abc import Iterable

import numpy as np

from csdl_keras.experiments.reporting.beta_curve import BetaCurve
from csdl_keras.experiments.reporting.column import Column, format_column
from csdl_keras.experiments.reporting.comparison import Difference
from csdl_keras.experiments.reporting.table import Table
from csdl_keras.training.algorithms import PAPER_ALGORITHMS, get_algorithm

_NECESSARY = "Is it necessary to consider costs?"
_DEEP = "Is it necessary to go deep?"
_TRAINING = "Is it necessary to incorporate costs during training?"
_PRETRAINING = "Is it necessary to incorporate costs during pre-training?"
_CNN = "Which is better, CNN SOSR or CSDNN?"
_MIXTURE = "Is the mixture loss necessary?"

# A side of a comparison: an algorithm, or several of which the best one is compared.
_Side = tuple[str, ...]

_COUNTERPARTS: list[tuple[_Side, _Side]] = [
    (("dnn_sosr",), ("dnn_bayes",)),
    (("sdae_sosr",), ("sdae_bayes",)),
    (("seae_sosr",), ("seae_bayes",)),
    (("csdnn",), ("scae_bayes",)),
    (("cnn_sosr",), ("cnn_bayes",)),
]


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
    """

    data: str
    first: str
    second: str
    difference: Difference
    paper_ratio: float | None = None


@dataclasses.dataclass(frozen=True)
class Claim:
    """A claim of the paper, with the comparisons that bear on it.

    Args:
        question: heading of the paper under which it stands.
        statement: the claim in a sentence.
        comparisons: pairs whose first one should be cheaper.
        ties_support: whether an open comparison counts for the claim, as for "is
            competitive to". Defaults to False.
    """

    question: str
    statement: str
    comparisons: tuple[ComparedPair, ...]
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
        single = sum(each.difference.matrices == 1 for each in self.comparisons)
        if single:
            words += ", each" if single == len(self.comparisons) else f", {single} of them"
            words += " on one matrix alone"
        if math.isfinite(self.ratio):
            words += f"; cost ratio {self.ratio:.2f}"
        if math.isfinite(self.paper_ratio):
            words += f", in the paper {self.paper_ratio:.2f}"
        return words


def claims(table: Table, curves: list[BetaCurve]) -> list[Claim]:
    """Compares the claims of the section "Experimental Results" with our figures.

    Where a claim is about the best of several algorithms, the one of the lowest
    validation cost stands for them: choosing by test cost would favour the
    larger group.

    Args:
        table: the results.
        curves: costs by beta, may be empty.

    Returns:
        A `Claim` for each of the paper's claims.
    """
    everywhere = table.columns
    imbalanced = [column for column in everywhere if column.imbalanced]
    blind, baselines = _series("blind"), _series("baseline")
    deep = _series("Bayes") + _series("SOSR")
    return [
        Claim(
            _NECESSARY,
            "the best cost-sensitive algorithm costs less than the best cost-blind one",
            _compare(everywhere, [(baselines + deep, blind)]),
        ),
        Claim(
            _DEEP,
            "CSOSR and MIN often cost less than the cost-blind algorithms",
            _compare(everywhere, [((own,), (other,)) for own in baselines for other in blind]),
        ),
        Claim(
            _DEEP,
            "the best cost-sensitive deep algorithm costs less than CSOSR and than MIN",
            _compare(everywhere, [(deep, (name,)) for name in baselines]),
        ),
        Claim(
            _TRAINING,
            "algorithms of the SOSR series cost less than their Bayes counterparts",
            _compare(everywhere, _COUNTERPARTS),
        ),
        Claim(
            _TRAINING,
            "so they do especially on imbalanced data",
            _compare(imbalanced, _COUNTERPARTS),
        ),
        Claim(
            _PRETRAINING,
            "CSDNN costs less than SEAE SOSR and than SDAE SOSR",
            _compare(everywhere, [(("csdnn",), ("seae_sosr",)), (("csdnn",), ("sdae_sosr",))]),
        ),
        Claim(
            _PRETRAINING,
            "SDAE SOSR costs less than DNN SOSR",
            _compare(everywhere, [(("sdae_sosr",), ("dnn_sosr",))]),
        ),
        Claim(
            _PRETRAINING,
            "in Table 2, SCAE also costs less than SDAE with the Bayes decision",
            _compare(everywhere, [(("scae_bayes",), ("sdae_bayes",))]),
        ),
        Claim(
            _CNN,
            "CSDNN is competitive to CNN SOSR: cheaper, or not significantly costlier",
            _compare(everywhere, [(("csdnn",), ("cnn_sosr",))]),
            ties_support=True,
        ),
        Claim(
            _MIXTURE,
            "some β between 0 and 1 costs less than β = 0, which is SDAE SOSR",
            _compare_betas(curves, 0.0),
        ),
        Claim(
            _MIXTURE,
            "some β between 0 and 1 costs less than β = 1, fully cost-aware pre-training",
            _compare_betas(curves, 1.0),
        ),
    ]


def _series(series: str) -> _Side:
    """Names of the paper's algorithms of a series; its claims are about no others."""
    return tuple(name for name in PAPER_ALGORITHMS if get_algorithm(name).series == series)


def _compare(columns: list[Column], pairs: list[tuple[_Side, _Side]]) -> tuple[ComparedPair, ...]:
    """Compares the two sides of each pair on each data set, if both were run there."""
    return tuple(
        compared
        for column in columns
        for sides in pairs
        for compared in [_compare_sides(column, *sides)]
        if compared is not None
    )


def _compare_sides(column: Column, side: _Side, other_side: _Side) -> ComparedPair | None:
    first, second = (
        names[0] if len(names) == 1 else column.choose(names) for names in (side, other_side)
    )
    difference = column.compare(first, second) if first and second else None
    if first is None or second is None or difference is None:
        return None
    own, other = column.paper(first), column.paper(second)
    return ComparedPair(
        format_column(column),
        get_algorithm(first).title,
        get_algorithm(second).title,
        difference,
        float(own.cost) / float(other.cost) if own and other else None,
    )


def _compare_betas(curves: list[BetaCurve], end: float) -> tuple[ComparedPair, ...]:
    """Compares the beta that validation chose inside (0, 1) with `end`, on each data set."""
    compared = []
    for curve in curves:
        difference = curve.compare(end)
        if difference is not None and curve.chosen is not None:
            first = f"β = {curve.betas[curve.chosen]:g}"
            compared.append(ComparedPair(curve.title, first, f"β = {end:g}", difference))
    return tuple(compared)


def _geometric_mean(ratios: Iterable[float]) -> float:
    usable = [ratio for ratio in ratios if 0 < ratio < math.inf]
    return float(np.exp(np.mean(np.log(usable)))) if usable else math.nan
