"""The claims of the paper's section "Experimental Results", compared with our figures."""

import collections
import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas

from csdl_keras.paper.beta_curve import BetaCurve
from csdl_keras.paper.differences import Difference
from csdl_keras.paper.results import words
from csdl_keras.paper.table2 import PAPER_LAYERS, Column
from csdl_keras.training.algorithms import PAPER_ALGORITHMS, get_algorithm


@dataclasses.dataclass(frozen=True)
class Claim:
    """A claim of the paper, with the comparisons that bear on it, see `compared`."""

    statement: str
    comparisons: pandas.DataFrame
    ties_support: bool = False
    #: Verdicts on single cells, without and with twice the epochs, if they differ.
    twice_the_epochs: tuple[str, str] | None = None

    @property
    def counts(self) -> tuple[int, int, int]:
        cheaper = int((self.comparisons["high"] < 0).sum())
        costlier = int((self.comparisons["low"] > 0).sum())
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
        found = self.comparisons
        if found.empty:
            return "nothing to compare yet"
        supporting, tied, opposing = self.counts
        text = f"{supporting} of {len(found)} for"
        text += " (cheaper or tied)" if self.ties_support else f", {tied} open" * bool(tied)
        text += f", {opposing} against" * bool(opposing)
        single, seeds = found["matrices"] == 1, found["seeds"]
        once = " and one training" * bool(seeds[single].eq(1).all())
        text += self._share(single, f"on one matrix{once} alone")
        text += self._share(seeds.eq(1) & ~single, "with one training seed")
        text += self._without("collapsed", "with a collapsed network")
        text += self._without("same_pretraining", "with the same pre-training, since β = 0")
        logs = {end: np.log(found[f"ratio_{end}"]).fillna(found[end]) for end in ("low", "high")}
        by_ratio = dataclasses.replace(self, comparisons=found.assign(**logs))
        if by_ratio.counts != self.counts:
            text += "; by intervals of ratios {} for, {} against".format(*by_ratio.counts[::2])
            text += f": {by_ratio.verdict}" * (by_ratio.verdict != self.verdict)
        if self.twice_the_epochs:
            text += "; on single cells {}, with twice the epochs {}".format(*self.twice_the_epochs)
        return text

    def _share(self, flags: pandas.Series, meaning: str) -> str:
        each = "each" if flags.all() else f"{flags.sum()} of them"
        return f", {each} {meaning}" * bool(flags.any())

    def _without(self, flag: str, meaning: str) -> str:
        """Counts the comparisons with a flag, and says what the verdict is without them."""
        flags = self.comparisons[flag].astype(bool)
        rest = dataclasses.replace(self, comparisons=self.comparisons[~flags])
        number = len(rest.comparisons)
        without = f" (without: {rest.counts[0]} of {number} for, {rest.verdict})" * bool(number)
        return f", {flags.sum()} {meaning}{without}" * bool(flags.any())

    @property
    def ratios(self) -> list[str]:
        """The geometric mean of cost ratios with an interval over data sets, and the paper's."""
        from scipy.stats import t  # This import is slow.

        found = self.comparisons
        logs, paper = (np.log(found[it].astype(float)) for it in ("ratio", "paper_ratio"))
        sums = (logs - logs.mean()).groupby(found["data"]).sum()
        ends = list(found[["ratio_low", "ratio_high"]].to_numpy()[0]) if len(found) == 1 else []
        if len(sums) > 1:
            error = math.sqrt((sums**2).sum() * len(sums) / (len(sums) - 1)) / len(logs)
            ends = [math.exp(logs.mean() + it * error) for it in t.interval(0.95, len(sums) - 1)]
        return [_ratio(np.exp(logs.mean()), *ends), _ratio(np.exp(paper.mean()))]

    @property
    def row(self) -> dict[str, str]:
        found, every, differences = self.comparisons, len(self.comparisons), "–"
        if every == 1:
            differences = self.table["difference [95 %]"][0]
        elif every:
            low, high = (_signed(it) for it in (found["mean"].min(), found["mean"].max()))
            clear = ((found["high"] < 0) | (found["low"] > 0)).sum()
            differences = f"{low} to {high}; {clear} of {every} intervals exclude 0"
        counts = collections.Counter(it for each in found["differ"] for it in each)
        differ = [f"{what} in {number} of {every}" for what, number in sorted(counts.items())]
        setting = f"not the paper's: {', '.join(differ)}" if differ else "the paper's"
        facts = [self.statement[0].upper() + self.statement[1:], words()["holds"][self.verdict]]
        facts += [*self.ratios, self.summary, differences, setting if every else "–"]
        return dict(zip(words()["facts"], facts, strict=True))

    @property
    def table(self) -> pandas.DataFrame:
        rows = []
        for it in self.comparisons.itertuples():
            seeds = f" × {it.seeds} seeds" * (it.seeds > 1)
            difference = "{} [{}, {}]".format(*map(_signed, (it.mean, it.low, it.high)))
            rows.append(
                {
                    "data set": it.data,
                    "pair": f"{it.first} : {it.second}",
                    "cheaper": it.first if it.high < 0 else it.second if it.low > 0 else "open",
                    "cost ratio [95 %]": _ratio(it.ratio, it.ratio_low, it.ratio_high),
                    "difference [95 %]": difference,
                    "matrices": f"{it.matrices}{seeds}{', collapsed' * it.collapsed}",
                    "paper's ratio": _ratio(it.paper_ratio),
                }
            )
        return pandas.DataFrame(rows)


def compared(data: str, first: str, second: str, difference: Difference, **more: Any) -> dict:
    """Returns a row of `Claim.comparisons`; by the claim, `first` should be cheaper."""
    plain = {"paper_ratio": math.nan, "collapsed": False, "same_pretraining": False, "differ": ()}
    return {"data": data, "first": first, "second": second} | vars(difference) | plain | more


def _series(*series: str) -> list[str]:
    return [name for name in PAPER_ALGORITHMS if get_algorithm(name).series in series]


#: Groups of algorithms in `report.toml`. The one with the lowest validation cost is compared, since
#: choosing by test cost would favour the larger group.
_SIDES = {
    "blind": _series("blind"),
    "deep": _series("Bayes", "SOSR"),
    "aware": _series("baseline", "Bayes", "SOSR"),
}


def claims(columns: Sequence[Column], curves: Sequence[BetaCurve]) -> list[Claim]:
    """Compares the claims of the section "Experimental Results" with our figures."""
    fields = list(compared("", "", "", Difference(0, 0, 0, 0, 0)))
    found = []
    for claim in words()["claims"]:
        if "beta" in claim:
            rows = [_compare_betas(columns, curve, claim["beta"]) for curve in curves]
        else:
            own = [it for it in columns if it.imbalanced or not claim.get("imbalanced")]
            rows = [_compare(column, *pair) for column in own for pair in claim["pairs"]]
        table = pandas.DataFrame([it for it in rows if it is not None], columns=fields)
        found.append(Claim(claim["statement"], table, claim.get("ties_support", False)))
    return found


def _compare(column: Column, *sides: str) -> dict[str, Any] | None:
    first, second = (column.choose(_SIDES[it]) if it in _SIDES else it for it in sides)
    difference = None if first is None else column.compare(first, second)
    if first is None or second is None or difference is None:
        return None
    papers = [it for it in map(column.paper, (first, second)) if it is not None]
    ratio = math.nan if len(papers) < 2 else float(papers[0]["cost"]) / float(papers[1]["cost"])
    return compared(
        column.heading,
        get_algorithm(first).title,
        get_algorithm(second).title,
        difference,
        paper_ratio=ratio,
        collapsed=bool(column.cells["collapsed"].reindex([first, second]).gt(0).any()),
        same_pretraining=column.pretrained_alike(first, second),
        differ=_differ(column, first, second),
    )


def _compare_betas(
    columns: Sequence[Column], curve: BetaCurve, end: float
) -> dict[str, Any] | None:
    """Compares the beta that validation chose inside (0, 1) with `end`."""
    difference = curve.compare(end)
    if difference is None:
        return None
    chosen = float(curve.betas[curve.chosen])
    own = [column for column in columns if column.label == curve.label]
    return compared(
        curve.title,
        f"β = {chosen:g}",
        f"β = {end:g}",
        difference,
        collapsed=not {chosen, end}.isdisjoint(curve.collapsed),
        differ=_differ(own[0], "csdnn") if own else (),
    )


def _differ(column: Column, *names: str) -> tuple[str, ...]:
    """Returns how the data and the networks of algorithms differ from the paper's."""
    found = []
    # Imbalanced variants keep about 72 % of the examples.
    whole = column.name.examples * (0.6 if column.imbalanced else 1)
    if not column.name.same or column.name.paper is None:
        found.append("other data")
    elif column.train_size < whole:
        found.append("fewer examples")
    if column.hidden_units != [PAPER_LAYERS] and any(
        get_algorithm(name).body == "mlp" for name in names
    ):
        found.append("other layers")
    return tuple(found)


def _ratio(ratio: float, *ends: float) -> str:
    interval = " [{:.2f}, {:.2f}]".format(*ends) if ends and all(map(math.isfinite, ends)) else ""
    return f"{ratio:.2f}{interval}" if math.isfinite(ratio) else "–"


def _signed(value: float) -> str:
    # A value that rounds to zero has no sign.
    text = f"{value:+.3f}"
    return text.replace("+", "").replace("-", "") if float(text) == 0 else text.replace("-", "−")
