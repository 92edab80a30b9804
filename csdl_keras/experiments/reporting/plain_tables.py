"""Tables of text that Markdown and page show alike."""

from csdl_keras.experiments.reporting.column import Column
from csdl_keras.experiments.reporting.comparison import Comparison
from csdl_keras.experiments.reporting.formats import (
    format_column,
    format_difference,
    format_largest,
    format_meaning,
    format_ratio,
)

DATA_HEADS = ["data set", "training and validation", "test", "matrices", "largest cost"]
COMPARISON_HEADS = ["data set", "pair", "cheaper", "cost ratio", "difference [95 %]", "matrices"]
COMPARISON_HEADS += ["paper's ratio"]


def data_line(column: Column) -> list[str]:
    """Sizes, matrices and largest costs of a data set, below `DATA_HEADS`."""
    return [
        format_column(column),
        f"{column.train_size:,}",
        f"{column.test_size:,}" if column.test_size else "–",
        str(column.matrices),
        format_largest(column),
    ]


def comparison_line(comparison: Comparison) -> list[str]:
    """A pair of algorithms on a data set, below `COMPARISON_HEADS`."""
    return [
        comparison.data,
        f"{comparison.first} : {comparison.second}",
        format_meaning(comparison),
        format_ratio(comparison.difference.ratio),
        format_difference(comparison),
        str(comparison.difference.matrices),
        format_ratio(comparison.paper_ratio),
    ]
