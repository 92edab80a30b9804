"""Numbers and marks as text, the same in all renderers."""

import math

from csdl_keras.experiments.reporting.column import Column
from csdl_keras.experiments.reporting.comparison import Comparison
from csdl_keras.experiments.reporting.table_cell import TableCell
from csdl_keras.training.algorithm import Algorithm


def format_cost(cell: TableCell, column: Column) -> str:
    """Mean and standard error of a cell, without emphasis.

    Args:
        cell: a cell of the column.
        column: the column, for its number of digits and of matrices.

    Returns:
        `"0.086 ± 0.007"`, followed by `" (n = 3)"` where the number of matrices
        is not the column's; a dash where it was not run; `"diverged (1 of 3)"`.
    """
    if not cell.matrices:
        return "–"
    if cell.diverged:
        return f"diverged ({cell.diverged} of {cell.matrices})"
    text = f"{cell.cost:.{column.decimals}f}"
    if math.isfinite(cell.standard_error):
        text += f" ± {cell.standard_error:.{column.decimals}f}"
    return text if cell.matrices == column.matrices else f"{text} (n = {cell.matrices})"


def format_title(row: Algorithm) -> str:
    """Title of an algorithm, marked if the paper's table does not have it."""
    return row.title if row.in_table2 else f"{row.title} †"


def format_column(column: Column, variant: bool = True) -> str:
    """Title of a data set, marked if the paper's figures are of other data.

    Args:
        column: the data set.
        variant: whether to say that it is the imbalanced variant. Defaults to
            True; False is for places whose heading says so.

    Returns:
        A title.
    """
    title = column.title if variant else column.name.title
    return title if column.name.same else f"{title} ‡"


def format_difference(comparison: Comparison) -> str:
    """A difference with its interval, signs throughout."""
    each = comparison.difference
    if math.isinf(each.mean):
        return "diverged"
    return f"{_signed(each.mean)} [{_signed(each.low)}, {_signed(each.high)}]"


def format_ratio(ratio: float | None) -> str:
    """A ratio with two digits, a dash where there is none."""
    return f"{ratio:.2f}" if ratio is not None and math.isfinite(ratio) else "–"


def format_meaning(comparison: Comparison) -> str:
    """Which of the two costs less: its title, or `"open"`."""
    if comparison.difference.cheaper:
        return comparison.first
    return comparison.second if comparison.difference.costlier else "open"


def format_largest(column: Column) -> str:
    """The largest costs of the column's matrices: one number, or their range."""
    low, high = (f"{f(column.largest.values(), default=math.nan):.1f}" for f in (min, max))
    if not column.largest:
        return "–"
    return low if low == high else f"{low} to {high}"


def _signed(value: float) -> str:
    # Zero has no sign, nor has what rounds to it.
    text = f"{value:+.3f}"
    return text.replace("+", "").replace("-", "") if float(text) == 0 else text.replace("-", "−")
