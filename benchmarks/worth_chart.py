"""The decision chart of `worth.py`: what to use when, with the ratios that say so."""

from typing import NamedTuple

import pandas as pd
from formats import markdown_table
from worth_arrows import RIVALS, SECTIONS, Arrow
from worth_comparisons import CELL, Comparison, Tally, compare, costs_of, tally, words
from worth_search import LAST_BEYOND, OCTAVES_BEYOND, PER_OCTAVE, updates_at
from worth_table import SETTING

#: Of more conditions than these, only those that stay after the correction are listed.
MOST_LISTED = 10


class Answer(NamedTuple):
    """The answer to an arrow's question.

    Args:
        comparison: the comparison.
        cells: number of its conditions.
        collapsed: number of its pairs in which a network decides no better than one decision
            for all examples.
        edges: number of its pairs in which a choice lies on the edge of its search.
        others: the comparison without those; `None` if too few are left.
    """

    comparison: Comparison
    cells: int
    collapsed: int
    edges: int
    others: Comparison | None


def answer(frame: pd.DataFrame, arrow: Arrow) -> Answer | None:
    """Answers the question of an arrow; `None` if fewer than two units were measured."""
    rows, names = frame.query(arrow.query), [arrow.first, arrow.second]
    costs = costs_of(rows)
    found = compare(costs, *names)
    if found is None:
        return None
    both = costs[names].dropna()
    collapsed, edges = (
        costs_of(rows, flag)[names].loc[both.index].any(axis=1) for flag in ("collapsed", "on_edge")
    )
    cells = both.groupby(level=list(CELL)).ngroups
    others = compare(both[~collapsed], *names)
    return Answer(found, cells, int(collapsed.sum()), int(edges.sum()), others)


def advice(arrow: Arrow, found: Comparison) -> str:
    """Returns what to do."""
    if found.verdict < 0:
        return f"use {arrow.first}"
    if found.verdict > 0:
        return f"keep to {arrow.second}"
    return "either: no difference was found"


def _section(answers: dict[Arrow, Answer | None]) -> list[str]:
    body = []
    for arrow, found in answers.items():
        compared = f"{arrow.first} / {arrow.second}"
        if found is None:
            body.append([arrow.condition, "not known: too few pairs", compared, *"–––––"])
            continue
        it, others = found.comparison, found.others
        row = [arrow.condition, f"→ {advice(arrow, it)}", compared, it.text()]
        row += [f"{it.pairs} in {found.cells}", str(found.collapsed), str(found.edges)]
        body.append([*row, "–" if others is None else others.text()])
    head = ["if", "then", "compared", "ratio of costs", "pairs in conditions", "collapsed"]
    head += ["on the edge"]
    return markdown_table([*head, "without collapsed"], body, left=3)


def _in_short(answers: dict[Arrow, Answer | None]) -> list[str]:
    """Formats all clear answers, by what is used rather than what."""
    clear: dict[str, list[str]] = {}
    for arrow, it in answers.items():
        if it is not None and it.comparison.verdict:
            better, worse = arrow.first, arrow.second
            if it.comparison.verdict > 0:
                better, worse = worse, better
            ratio = f"{it.comparison.ratio.value:.2f}"
            if it.collapsed:
                ratio += " (–)" if it.others is None else f" ({it.others.ratio.value:.2f})"
            head = f"**Use {better} rather than {worse}**. {arrow.first} / {arrow.second}:"
            clear.setdefault(head, []).append(f"{ratio} if {arrow.condition}")
    return [f"- {head} {'; '.join(reasons)}." for head, reasons in clear.items()]


def _list(title: str, found: Tally) -> list[str]:
    """Formats where a method won against another."""
    chance, number = 0.025 * found.cells, f"{found.cells} comparisons, one for each condition"
    if found.cells == 1:
        number = "1 comparison, for one condition"
    lines = [
        f"- **{title}**: {number}. The ratio is below 1 in {found.less or 'none'}, its interval in "
        f"{found.below or 'none'} (by chance alone, if nothing differed: {chance:.1f}); the "
        f"interval is above 1 in {found.above or 'none'}."
    ]
    if not found.below:
        lines[0] += f" No condition in which it wins was found among {found.cells}."
    elif not found.sure:
        lines[0] += (
            f" With p-values multiplied by {found.cells}, none stays below .05: no condition in "
            "which it surely wins was found."
        )
    else:
        stay = "1 stays" if len(found.sure) == 1 else f"{len(found.sure)} stay"
        lines[0] += f" With p-values multiplied by {found.cells}, {stay} below .05."
    many = len(found.won) > MOST_LISTED
    if many:
        lines[0] += f" The others of the {found.below} are not listed."
    listed = found.sure if many else found.won
    for cell, comparison in listed:
        sure = ", also after the correction" if (cell, comparison) in found.sure else ""
        lines.append(
            f"  - {words(cell)}: {comparison.ratio.text()}, {comparison.pairs} pairs{sure}"
        )
    return lines


def _tallies(frame: pd.DataFrame) -> list[str]:
    """Formats all conditions in which training or pre-training on costs wins."""
    # Networks that are trained too long are compared in the chart.
    best = frame[frame["beyond"] == 1]
    judged = {"": costs_of(best)}
    judged[", by test labels without the noise"] = costs_of(best[best["noise"] > 0], "clean_cost")
    lines = []
    for first, second in RIVALS:
        for by, costs in judged.items():
            found = tally(costs, first, second) if {first, second} <= set(costs.columns) else None
            if found is not None and found.cells:
                lines += _list(f"{first} against {second}{by}", found)
    return lines


def _range(counts: pd.Series) -> str:
    low, high = counts.min(), counts.max()
    return str(low) if low == high else f"{low} to {high}"


def chart(frame: pd.DataFrame) -> str:
    """Returns the decision chart."""
    sections = {
        title: {arrow: answer(frame, arrow) for arrow in arrows}
        for title, arrows in SECTIONS.items()
    }
    answers = {arrow: it for part in sections.values() for arrow, it in part.items()}
    known = [it.comparison for it in answers.values() if it is not None]
    total, clear = len(known), sum(it.verdict != 0 for it in known)
    sure = sum(it.p_value * total < 0.05 for it in known)
    longest = updates_at(LAST_BEYOND - OCTAVES_BEYOND * PER_OCTAVE)
    seeds = _range(frame.groupby("part")["seed"].nunique())
    lines = ["# When is each stage worth it?", ""]
    lines += ["Ratios of costs, in parentheses without pairs in which a network collapsed:", ""]
    lines += [*_in_short(answers), ""]
    lines += [
        f"In the other {total - clear} of {total} comparisons no difference was found. Each is the "
        "geometric mean of ratios of test costs with its 95 % interval, bold where that excludes "
        "1; below 1 the first method costs less. Pairs have the same examples, order of batches "
        "and cost matrix, and the same initial weights unless a pre-training made them; intervals "
        "are over the means of each data set and seed. Comparisons overlap. By chance alone "
        f"{0.05 * total:.0f} of {total} intervals would exclude 1; with p-values multiplied by "
        f"{total}, {sure or 'none'} of the {clear} stay{'s' * (sure == 1)} below .05. In "
        "a collapsed pair a network decides no better than one decision for all examples; the last "
        "column is the ratio of the other pairs. In a pair on the edge the search of one of the "
        "two ended at its bounds, such as the largest scale of costs. Training goes on to eight "
        "times its best updates "
        f"only where these are no more than {longest:,}: slower networks are missing there.",
        "",
        "`Bayes`, `calibrated Bayes` and `argmax` decide by the same networks of probabilities, "
        "and take the learning rate and the number of updates at which they themselves cost least "
        "on validation examples; where it is said, the likeliest network instead, as all do after "
        "a pre-training. `SOSR` and `Poisson` are networks trained on costs. `DAE on all` is "
        "pre-trained on all inputs of the set, `DAE` on those with labels alone; calibrated Bayes "
        f"decides, unless SOSR is named. Seeds measured: {seeds}. Tables of all conditions are in "
        "`worth.md`.",
        "",
        SETTING,
        "",
    ]
    for title, part in sections.items():
        lines += [f"<details><summary>{title}: {len(part)} comparisons</summary>", ""]
        lines += [*_section(part), "", "</details>", ""]
    tallies = _tallies(frame)
    if tallies:
        lines += ["## Where training or pre-training on costs wins", "", *tallies, ""]
    return "\n".join(lines)
