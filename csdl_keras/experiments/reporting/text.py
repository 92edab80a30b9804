"""The report's numbers and sentences as plain text, the same in all formats."""

import collections
import math
from collections.abc import Sequence

from csdl_keras.evaluation._report_text import number
from csdl_keras.experiments.reporting.beta_curve import BetaCurve
from csdl_keras.experiments.reporting.claim import Claim, ComparedPair
from csdl_keras.experiments.reporting.column import Column, TableCell, format_column
from csdl_keras.experiments.reporting.comparison import Difference
from csdl_keras.experiments.reporting.escaping import visible
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.algorithms import get_algorithm

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

#: Stands in place of the claims if no comparison can be made.
NOTHING = "Nothing to compare: there are no test decisions of two algorithms that a claim is about."

#: Heads of the table of data sets, see `data_line`.
DATA_HEADS = ["data set", "training and validation", "test", "matrices", "largest cost"]
DATA_HEADS += ["hidden layers"]

#: Heads of the table of savings, see `saving_lines`.
SAVING_HEADS = ["data set", "algorithm", "cost", "constant decision", "saved", "95 % interval"]
SAVING_HEADS += ["against the best"]

#: Explains the table of savings.
SAVED = (
    "How much less decisions cost than the best constant decision, the one that costs least on the "
    "test examples if it is always taken. Costs, and ends of intervals, are means over cost "
    "matrices and training seeds; each interval is paired, over the test examples alone. Tied: "
    "the paired interval of the difference to the best one for the same matrix contains 0."
)

#: Heads of the table of a claim's comparisons, see `comparison_line`.
COMPARISON_HEADS = [
    "data set",
    "pair",
    "cheaper",
    "cost ratio [95 %]",
    "difference [95 %]",
    "matrices",
]
COMPARISON_HEADS += ["paper's ratio"]

#: Heads of the table of verdicts, see `claim_line`.
CLAIM_HEADS = ["claim of the paper", "verdict", "comparisons", "paired differences", "setting"]

#: The entries of a run's record that the report shows, after its command.
RUN_HEADS = ["date", "versions", "backend", "machine", "variables"]


def format_cost(cell: TableCell, column: Column) -> str:
    """Formats mean and standard error of a cell, without emphasis.

    Args:
        cell: a cell of the column.
        column: the column, for its number of decimals and of matrices.

    Returns:
        `"0.086 ± 0.007"`, without the error for fewer than three matrices, with a star if
        a network collapsed, and followed by `" (n = 3)"` if the number of matrices or of
        training seeds differs from the column's; a dash if the algorithm was not run;
        `"diverged (1 of 3)"`.
    """
    if not cell.matrices:
        return "–"
    if cell.diverged:
        return f"diverged ({cell.diverged} of {cell.matrices})"
    text = f"{cell.cost:.{column.decimals}f}"
    if cell.collapsed:
        text += "*"
    if math.isfinite(cell.standard_error):
        text += f" ± {cell.standard_error:.{column.decimals}f}"
    number = _runs(cell.matrices, cell.seeds)
    if cell.results < cell.matrices * cell.seeds:
        number = f"{cell.results} runs"
    return text if number == format_runs(column) else f"{text} (n = {number})"


def format_runs(column: Column) -> str:
    """Number of cost matrices of a column, `"3 × 2"` with two training seeds for each."""
    return _runs(column.matrices, column.seeds)


def format_title(algorithm: Algorithm) -> str:
    """Title of an algorithm, marked if the paper's table does not have it."""
    return algorithm.title if algorithm.in_table2 else f"{algorithm.title} †"


def format_mapping(value: object) -> str:
    """Formats a mapping as `name value, name value`, other values as text, nothing as a dash.

    Args:
        value: an entry of a run's record.

    Returns:
        A string, not escaped.

    Example:

    >>> format_mapping({"keras": "3.15", "cores": 2})
    'keras 3.15, cores 2'
    """
    if isinstance(value, dict):
        value = ", ".join(f"{name} {each}" for name, each in value.items())
    return visible(str(value)) if value not in (None, "") else "–"


def data_line(column: Column) -> list[str]:
    """Sizes, matrices and largest costs of a data set, below `DATA_HEADS`."""
    largest = "–"
    if column.largest:
        low, high = (f"{end(column.largest.values()):.1f}" for end in (min, max))
        largest = low if low == high else f"{low} to {high}"
    return [
        format_column(column),
        f"{column.train_size:,}",
        f"{column.test_size:,}" if column.test_size else "–",
        str(column.matrices),
        largest,
        ", ".join(column.hidden_units) or "–",
    ]


def saving_lines(columns: Sequence[Column]) -> list[list[str]]:
    """What algorithms save relative to the best constant decision, below `SAVING_HEADS`."""
    return [
        [
            format_column(column),
            get_algorithm(name).title,
            format_cost(cell, column),
            number(cell.saving.constant_cost)
            + (f", {cell.saving.constant}" if cell.saving.constant_decision else ""),
            *cell.saving.columns,
        ]
        for column in columns
        for name, cell in column.cells.items()
        if cell.saving.is_known
    ]


def comparison_line(pair: ComparedPair) -> list[str]:
    """A compared pair of algorithms on a data set, below `COMPARISON_HEADS`."""
    difference = pair.difference
    cheaper = pair.first if difference.cheaper else pair.second if difference.costlier else "open"
    amounts = [_signed(each) for each in (difference.mean, difference.low, difference.high)]
    return [
        pair.data,
        f"{pair.first} : {pair.second}",
        cheaper,
        _ratio(difference.ratio) + _ends(difference),
        "diverged" if math.isinf(difference.mean) else "{} [{}, {}]".format(*amounts),
        f"{difference.matrices}"
        + (f" × {difference.seeds} seeds" if difference.seeds > 1 else "")
        + (", collapsed" if pair.collapsed else ""),
        _ratio(pair.paper_ratio),
    ]


def claim_line(claim: Claim) -> list[str]:
    """A claim with its verdict, below `CLAIM_HEADS`."""
    found = [each.difference for each in claim.comparisons if math.isfinite(each.difference.mean)]
    differences = "–"
    if len(claim.comparisons) == 1:
        differences = comparison_line(claim.comparisons[0])[4]
    elif found:
        low, high = (_signed(end(each.mean for each in found)) for end in (min, max))
        clear = sum(not each.tied for each in found)
        differences = f"{low} to {high}; {clear} of {len(found)} intervals exclude 0"
    statement = claim.statement[0].upper() + claim.statement[1:]
    return [statement, claim.verdict, claim.summary, differences, _setting(claim)]


def collapsed_betas(curve: BetaCurve) -> str:
    """Says at which betas a network collapsed, so that the curve tells nothing of them."""
    betas = ", ".join(f"{beta:g}" for beta in curve.collapsed)
    return (
        f"Collapsed at β = {betas}: the network decides no better than one decision for all "
        "examples; the curve says nothing of β there."
    )


def _setting(claim: Claim) -> str:
    """Says in how many comparisons data and networks differ from the paper's, and in what."""
    every = len(claim.comparisons)
    if not every:
        return "–"
    counts = collections.Counter(it for each in claim.comparisons for it in each.differs)
    found = [f"{what} in {number} of {every}" for what, number in sorted(counts.items())]
    return f"not the paper's: {', '.join(found)}" if found else "the paper's"


def _runs(matrices: int, seeds: int) -> str:
    return str(matrices) if seeds == 1 else f"{matrices} × {seeds}"


def _ratio(ratio: float | None) -> str:
    return f"{ratio:.2f}" if ratio is not None and math.isfinite(ratio) else "–"


def _ends(difference: Difference) -> str:
    if math.isnan(difference.ratio_low):
        return ""
    return f" [{difference.ratio_low:.2f}, {difference.ratio_high:.2f}]"


def _signed(value: float) -> str:
    # A value that rounds to zero has no sign.
    text = f"{value:+.3f}"
    return text.replace("+", "").replace("-", "") if float(text) == 0 else text.replace("-", "−")
