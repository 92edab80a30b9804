"""The notes below the report's tables, the same in all formats."""

from collections.abc import Callable

from csdl_keras.experiments.reporting.column import Column, TableCell
from csdl_keras.experiments.reporting.table import Table
from csdl_keras.training.algorithms import get_algorithm


def table_notes(table: Table) -> list[str]:
    """Returns the notes that readers of these columns need, as sentences without markup."""
    columns = table.columns
    cells = [cell for column in columns for cell in column.cells.values()]
    lines = [
        "Figures are average costs of a test example: mean ± standard error over n cost matrices "
        "(of means over training seeds, if there are several), which is not shown for fewer than "
        "three; n stands at the head of the column, as matrices × seeds if there are several "
        "seeds, and in a cell where it differs. A dash: not run, or not in the paper.",
        "Bold: the lowest mean of a column, among algorithms with the most matrices and seeds, "
        "and every algorithm that is not significantly costlier: the 95 % interval of the "
        "difference, on the matrices, seeds and test examples that both have, does not lie above "
        "0. Not to be significantly costlier is no proof of equal costs.",
        "The interval adds the squares of two errors: that of few matrices, Student's t times the "
        "standard error over matrices, and that of test examples by Gaffke's method. With two or "
        "three matrices it is wide. If a pair has one matrix in common, only the error of test "
        "examples is known, and the comparison says nothing of other matrices.",
        "With several training seeds, their error is part of the interval too, likewise with "
        "Student's t. With one seed, the randomness of training is part of it only as far as each "
        "matrix has a network of its own; networks that do not see costs in training are shared "
        "by all matrices, and their figures are those of one training.",
        "Training divides a cost matrix by its largest cost; all figures here are of the matrix as "
        "it was drawn. How large costs are depends on the matrix, see the largest costs below.",
    ]
    if any(cell.diverged for cell in cells):
        lines.append(
            "Diverged: training diverged for so many of the matrices. Such an algorithm counts as "
            "infinitely costly, and cost ratios do not include it."
        )
    if any(cell.collapsed for cell in cells):
        lines.append(
            "* Collapsed: a network takes one decision for all examples, or decides no better, on "
            f"validation or on test examples, than the best such decision: "
            f"{_places(columns, lambda cell: cell.collapsed)}."
        )
    if any(cell.tried_again for cell in cells):
        lines.append(
            "Trained again with the next best values of the search, since a network with the best "
            f"ones had collapsed on validation: {_places(columns, lambda cell: cell.tried_again)}. "
            "Where the next ones collapsed too, the figure is that of the best values."
        )
    if any(cell.tied is None for cell in cells):
        lines.append(
            "Some algorithms have no test decisions in common with the best of their column, so "
            "that whether they are tied with it is not known."
        )
    if any(column.name.paper for column in columns):
        lines.append(
            "The paper's figures are in its own digits, bold where it prints bold. It does not say "
            "how many matrices its ± spans; its matrices, networks and training are not ours, so "
            "compare orderings and ratios rather than amounts."
        )
    if any(column.name.paper and column.imbalanced for column in columns):
        lines.append(
            "The paper's amounts on imbalanced data do not follow from the setup that it states: "
            "19.1 on CIFAR-10 is above the ceiling of 13.9 that we calculate from it."
        )
    if any(not column.name.same for column in columns):
        lines.append(
            "‡ These are not the paper's data: bg-img-rot, synthetic, is made anew from MNIST "
            "digits and photographs, in the manner of bg-img-rot. The paper's figures for "
            "bg-img-rot stand beside it for orientation only."
        )
    if {"SVHN", "CIFAR-10"} & {column.name.title for column in columns}:
        lines.append(
            "The authors' code turned SVHN and CIFAR-10 to gray, which the paper does not say. "
            "Whether ours are gray follows from the commands below."
        )
    others = [column.title for column in columns if column.name.paper is None]
    if others:
        lines.append(f"The paper has no figures for {'; '.join(others)}.")
    groups = table.groups(columns)
    extra = [row.title for _, rows in groups for row in rows if not row.in_table2]
    if extra:
        lines.append(f"† Not a row of the paper's table: {', '.join(extra)}.")
    return lines


def _places(columns: list[Column], count: Callable[[TableCell], int]) -> str:
    """Names the algorithms and data sets of which some results count, and how many of all."""
    return "; ".join(
        f"{get_algorithm(name).title} on {column.title} ({count(cell)} of {cell.results})"
        for column in columns
        for name, cell in column.cells.items()
        if count(cell)
    )
