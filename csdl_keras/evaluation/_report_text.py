"""Writes the text, numbers and tables of a `CostReport`."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from csdl_keras.evaluation.cost_report import CostReport
    from csdl_keras.evaluation.intervals import CostDifference

#: A line of a table for each entry; the first contains the headings.
Table = list[tuple[str, ...]]

#: Most characters of a line.
WIDTH = 100


def number(value: float, digits: int = 4) -> str:
    """Formats a number with at least `digits` significant digits and separated thousands."""
    if not math.isfinite(value):
        return "–"
    if value and not 1e-6 <= abs(value) < 1e15:
        return f"{value:.{digits}g}"
    text = rounded(value, max(0, _decimals(value, digits)))
    return text.rstrip("0").rstrip(".") if "." in text else text


def with_unit(words: str, unit: str | None) -> str:
    """Returns words followed by the unit of costs if there is one."""
    return f"{words}, {unit}" if unit else words


def rounded(value: float, decimals: int) -> str:
    """Formats a number with `decimals` decimals; if negative, rounds digits before the point."""
    return f"{round(value, decimals) + 0.0:,.{max(0, decimals)}f}"  # + 0.0 turns -0 into 0.


def _decimals(size: float, digits: int) -> int:
    """Returns how many decimals show `digits` significant digits of a number of that size."""
    return digits - 1 - math.floor(math.log10(abs(size))) if size else 0


def _of_interval(pair: "CostDifference") -> int:
    """Returns how many decimals of a difference show two digits of its interval's width."""
    width = pair.high - pair.low or abs(pair.difference)
    decimals = _decimals(width, 2)
    if abs(pair.difference) > 1e-3 * width:
        decimals = max(decimals, _decimals(pair.difference, 1))
    if pair.cheaper or pair.costlier:  # The end next to 0 must not look like 0.
        decimals = max(decimals, _decimals(min(abs(pair.low), abs(pair.high)), 1))
        decimals = max(decimals, _decimals(pair.difference, 3))
    return max(0, decimals)


def tables(report: "CostReport") -> list[Table]:
    """Returns the tables of costs, of savings and, with labels, of the cost of each class."""
    rivals = ["constant"] if report.baseline is None else ["baseline", "constant"]
    found = [_costs(report), *(_savings(report, rival) for rival in rivals)]
    costs = np.array([row.per_class for row in report.rows])
    if costs.size:
        shown = np.sort(np.argsort(-np.nan_to_num(costs[0]), kind="stable")[:12])
        classes = [("cost of class", *(report.class_names[y] for y in shown))]
        for row in report.all_rows:
            classes.append((row.name, *(number(row.per_class[y], 3) for y in shown)))
        found.append(classes)
    return found


def _costs(report: "CostReport") -> Table:
    average, total = (with_unit(words, report.unit) for words in ("average cost", "in total"))
    heads = ("model", average, "95 % interval", total, "normalised", "savings", "errors", "p")
    table: Table = [(*heads, "abstains")]
    rows = report.all_rows
    decimals = max(0, *(_decimals(row.high - row.low or row.high, 3) for row in rows))
    for place, row in enumerate(rows):
        against = "best" if not place else "–"
        cells = (
            row.name,
            rounded(row.average_cost, decimals),
            f"{rounded(row.low, decimals)} to {rounded(row.high, decimals)}",
            number(row.total_cost),
            _or_dash(row.normalized_cost, ".3f"),
            _or_dash(row.savings, ".1%"),
            _or_dash(row.error_rate, ".1%"),
            f"{row.against_best.p_value:.2g}" if row.against_best else against,
            f"{row.abstained:.1%}",
        )
        table.append(cells)
    return table if any(row.abstained for row in rows) else [line[:-1] for line in table]


def _or_dash(value: float, form: str) -> str:
    return "–" if math.isnan(value) else format(value, form)


def _savings(report: "CostReport", rival: str) -> Table:
    saved, than = with_unit("saved per decision", report.unit), getattr(report, rival).name
    table: Table = [(saved, f"than {than}", "95 % interval", "in total")]
    for row in report.rows:
        pair = getattr(row, f"against_{rival}")
        decimals = _of_interval(pair)
        low, high = rounded(-pair.high, decimals), rounded(-pair.low, decimals)
        saved, total = rounded(-pair.difference, decimals), number(-pair.difference * report.size)
        table.append((row.name, saved, f"{low} to {high}", total))
    return table


def note(report: "CostReport") -> str:
    """Returns the note that explains the words in the tables."""
    parts = [
        f"{report.size:,} examples.",
        "Costs are counted from each example's cheapest decision, which costs 0."
        if report.right_is_free
        else "",
        "Negative costs are gains." if report.has_gains else "",
        "normalised, savings: relative to the best constant decision's cost.",
        "Intervals of savings are paired. p: paired, against the best row. Neither is corrected "
        "for the number of rows.",
    ]
    if report.largest_seen is not None and report.ten_largest is not None:
        unit = f" {report.unit}" if report.unit else ""
        parts.append(
            "Intervals and p rest on the largest amount seen, "
            f"{number(report.largest_seen)}{unit}, since `largest` was not given; the "
            f"ten largest account for {number(100 * report.ten_largest, 2)} % of the total."
        )
    return " ".join(part for part in parts if part)


def sentence(report: "CostReport") -> str:
    """Returns a sentence on the savings of the cheapest model, with their interval."""
    best, count = report.rows[0], len(report.rows)
    name = best.name if count == 1 else f"{best.name}, the cheapest of {count} here,"
    deciding = f"always deciding {report.constant_name}"
    rule = "today's rule" if best.against_baseline else deciding
    pair: Any = best.against_baseline or best.against_constant
    gains, sure = report.has_gains, pair.cheaper or pair.costlier
    of_unit = f" {report.unit}" if report.unit else ""

    def amount(value: float, decimals: int) -> str:
        more = "more" if (value > 0) != gains else "less"
        return f"{rounded(abs(value), decimals)}{of_unit} {more}"

    decimals = _of_interval(pair)
    low, high = (amount(end, decimals) for end in (pair.low, pair.high))
    if sure:
        low, high = (rounded(end, decimals) for end in sorted((abs(pair.low), abs(pair.high))))
        high += of_unit
    total = pair.difference * report.size
    in_total = rounded(abs(total), min(_decimals(total, 3), decimals))
    seen = f"{amount(pair.difference, decimals)} per decision than"
    seen = seen if pair.difference else "as much as"
    text = (
        f"{name} {'yields' if gains else 'costs'} {seen} {rule} (95 % interval {low} to {high}), "
        f"{in_total}{of_unit} over these {report.size:,} decisions"
        f"{'' if sure else ', which may be chance'}"
    )
    # Beating today's rule is not enough if a constant decision costs less than the model.
    other = best.against_constant
    if rule != deciding and other is not None and other.difference >= 0:
        less = f"{amount(-other.difference, _of_interval(other))} per decision than the model"
        had = "yielded" if gains else "cost"
        text += f"; {deciding} would have {had} {less if other.difference else 'as much'}"
    return f"{text}."


def as_text(table: Table) -> str:
    """Returns the lines of a table; repeats the first column where columns exceed `WIDTH`."""
    sizes = [max(map(len, column)) for column in zip(*table, strict=True)]
    blocks: list[list[int]] = [[]]
    for column in range(1, len(sizes)):
        if blocks[-1] and sizes[0] + sum(2 + sizes[i] for i in (*blocks[-1], column)) > WIDTH:
            blocks.append([])
        blocks[-1].append(column)

    def aligned(line: tuple[str, ...], others: list[int]) -> str:
        first = line[0].ljust(sizes[0])
        return "  ".join([first, *(line[i].rjust(sizes[i]) for i in others)]).rstrip()

    return "\n\n".join("\n".join(aligned(line, block) for line in table) for block in blocks)
