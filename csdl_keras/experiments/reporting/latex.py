"""The table as LaTeX."""

from csdl_keras.experiments.reporting.column import Column
from csdl_keras.experiments.reporting.formats import format_column, format_cost, format_title
from csdl_keras.experiments.reporting.table import Table

# All that the texts of the table hold beyond ASCII, and what LaTeX reads as commands.
_SPECIAL = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "–": "--",
    "†": r"$^\dagger$",
    "‡": r"$^\ddagger$",
}


def render_latex(table: Table) -> str:
    """Renders one tabular for balanced and one for imbalanced data, to be read by `\\input`.

    Args:
        table: the results.

    Returns:
        The text of a `.tex` file that needs the package booktabs.
    """
    lines = [
        r"% Needs \usepackage{booktabs}. Ours: mean and standard error over n cost matrices; bold:",
        r"% the lowest mean, and means not significantly above it. Paper: figures of its Table 2.",
    ]
    for heading, columns in table.panels:
        lines += _panel(heading, columns)
    return "\n".join(lines) + "\n"


def _panel(heading: str, columns: list[Column]) -> list[str]:
    # A data set that the paper lacks has one column, others two.
    widths = [2 if column.name.paper else 1 for column in columns]
    total = 1 + sum(widths)
    heads, rules, kinds, start = [], [], [], 2
    for column, width in zip(columns, widths, strict=True):
        title = _escape(f"{format_column(column, variant=False)} (n = {column.matrices})")
        heads.append(rf"\multicolumn{{{width}}}{{c}}{{{title}}}")
        rules.append(rf"\cmidrule(lr){{{start}-{start + width - 1}}}")
        kinds += ["ours", "paper"][:width]
        start += width
    lines = [
        "",
        r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"\begin{{tabular}}{{l{'r' * (total - 1)}}}",
        r"\toprule",
        f"{heading} & {' & '.join(heads)} \\\\",
        "".join(rules),
        f" & {' & '.join(kinds)} \\\\",
    ]
    for _, members in Table.groups(columns):
        lines.append(r"\midrule")
        for row in members:
            cells = [text for column in columns for text in _cells(column, row.name)]
            lines.append(f"{_escape(format_title(row))} & {' & '.join(cells)} \\\\")
    return [*lines, r"\bottomrule", r"\end{tabular}", r"\endgroup", ""]


def _cells(column: Column, name: str) -> list[str]:
    cell = column.cell(name)
    cells = [_bold(_escape(format_cost(cell, column)), cell.bold)]
    if column.name.paper:
        theirs = cell.paper
        cells.append(_bold(_escape(str(theirs or "–")), bool(theirs and theirs.bold)))
    return cells


def _bold(text: str, bold: bool) -> str:
    return rf"\textbf{{{text}}}" if bold else text


def _escape(text: str) -> str:
    """The text as LaTeX prints it; letters that not every font has become question marks."""
    return "".join(_SPECIAL.get(letter, letter if letter.isascii() else "?") for letter in text)
