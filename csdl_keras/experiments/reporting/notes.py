"""What readers of the table must know, in plain text."""

from csdl_keras.experiments.reporting.table import Table


def notes(table: Table) -> list[str]:
    """Notes that apply to these columns.

    Args:
        table: the results.

    Returns:
        Sentences without markup.
    """
    lines = [
        "Figures are average costs of a test example: mean ± standard error over n cost matrices; "
        "n stands at the head of the column, and in a cell where it differs. A dash: not run, "
        "or not in the paper.",
        "Bold: the lowest mean of a column, among rows with the most matrices, and every row that "
        "is not significantly costlier: the 95 % interval of the difference, on the matrices and "
        "test examples that both rows have, does not lie above 0. Not to be significantly costlier "
        "is no proof of equal costs.",
        "The interval adds the squares of two errors: that of few matrices, Student's t times the "
        "standard error over matrices, and that of test examples by Gaffke's method. With two or "
        "three matrices it is wide. Where a pair has one matrix in common, only the error of test "
        "examples is known, and the comparison says nothing of other matrices.",
        "The chance in training one network is in intervals only as far as each matrix has a "
        "training of its own; networks that do not see costs in training are shared by all "
        "matrices, and their figures are those of one training.",
        "Training divides a cost matrix by its largest cost; all figures here are of the matrix as "
        "it was drawn. How large costs are depends on the matrix, see the largest costs below.",
    ]
    if any(cell.diverged for column in table.columns for cell in column.cells.values()):
        lines.append(
            "Diverged: training broke down for so many of the matrices. Such a row counts as "
            "infinitely costly, and cost ratios do not include it."
        )
    if any(cell.tied is None for column in table.columns for cell in column.cells.values()):
        lines.append(
            "Some rows have no test decisions in common with the best of their column, so that "
            "whether they are tied with it is not known."
        )
    if any(column.name.paper for column in table.columns):
        lines.append(
            "The paper's figures are in its own digits, bold where it prints bold. It does not say "
            "how many matrices its ± spans; its matrices, networks and training are not ours, so "
            "compare orderings and ratios rather than amounts."
        )
    if any(column.name.paper and column.imbalanced for column in table.columns):
        lines.append(
            "The paper's amounts on imbalanced data do not follow from the setup that it states: "
            "19.1 on CIFAR-10 is above the ceiling of 13.9 that we calculate from it."
        )
    if any(not column.name.same for column in table.columns):
        lines.append(
            "‡ These are not the paper's data: bg-img-rot, synthetic, is made anew from MNIST "
            "digits and photographs, in the manner of bg-img-rot. The paper's figures for "
            "bg-img-rot stand beside it for orientation only."
        )
    if {"SVHN", "CIFAR-10"} & {column.name.title for column in table.columns}:
        lines.append(
            "The authors' code turned SVHN and CIFAR-10 to gray, which the paper does not say. "
            "Whether ours are gray follows from the commands below."
        )
    others = [column.title for column in table.columns if column.name.paper is None]
    if others:
        lines.append(f"The paper has no figures for {'; '.join(others)}.")
    groups = table.groups(table.columns)
    extra = [row.title for _, rows in groups for row in rows if not row.in_table2]
    if extra:
        lines.append(f"† Not a row of the paper's table: {', '.join(extra)}.")
    return lines
