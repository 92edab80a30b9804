"""Costs known when deciding, as a matrix of expressions over columns of a table."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from csdl_keras_cli.columns import finite_numbers

#: `[true][decision]`, such as `"0"`, `"amount"` or `"5 + 0.1*amount"`.
Expressions = list[list[str]]

_CELL = re.compile(r"\s*(decide|label)\s*=(.+?),\s*(decide|label)\s*=(.+?):(.+)", re.DOTALL)


def expressions(
    labels: Sequence[str],
    decisions: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[str],
    matrix: np.ndarray | None = None,
) -> Expressions:
    """Returns costs from a column per decision or a matrix; `cells` override single ones."""
    found = [list(columns) or [""] * len(decisions) for _ in labels]
    if matrix is not None:
        found = [[f"{amount:.17g}" for amount in row] for row in matrix]
    for place in range(len(labels)):
        found[place][place] = "0"
    for cell in cells:
        match = _CELL.fullmatch(cell)
        named = {match[1]: match[2].strip(), match[3]: match[4].strip()} if match else {}
        label, decision = named.get("label"), named.get("decide")
        if match is None or label not in labels or decision not in decisions:
            raise ValueError(
                '--cost must be "decide=DECISION,label=LABEL: COST", with one of the labels '
                f"{', '.join(labels)} and decisions {', '.join(decisions)}; received {cell!r}."
            )
        found[labels.index(label)][decisions.index(decision)] = match[5].strip()
    for label, row in zip(labels, found, strict=True):
        if "" in row:
            raise ValueError(
                f'The cost of "decide={decisions[row.index("")]},label={label}" is missing. Pass '
                "it with --cost, or pass a --cost-matrix for all costs that --cost omits."
            )
    return found


def names_of(known: Expressions, columns: Sequence[str]) -> list[str]:
    """Returns the columns used in expressions; names of `columns` may contain `+` and `*`."""
    terms = (term for row in known for cell in row for term in _terms(cell, columns))
    return list(dict.fromkeys(name for _, names in terms for name in names))


def cost_matrices(known: Expressions, columns: Mapping[str, Any]) -> np.ndarray:
    """Returns the costs `(N, K, D)` of examples, given their columns by name."""
    have = list(columns)
    used = [name for name in names_of(known, have) if name in have]
    values = {name: finite_numbers(name, columns[name]) for name in used}
    costs = np.zeros((len(columns[have[0]]), len(known), len(known[0])))
    for row, place in np.ndindex(costs.shape[1:]):
        for factor, names in _terms(known[row][place], have):
            if len(names) > 1 or not {*names} <= {*have}:
                raise ValueError(
                    f"Cannot compute the cost {known[row][place]!r}. Write a sum of numbers, "
                    "columns and their products, such as 5 + 0.1*amount, with the columns "
                    f"{', '.join(map(repr, have))}."
                )
            costs[:, row, place] += factor * (values[names[0]] if names else 1.0)
    if (costs < 0).any():
        example, row, place = np.argwhere(costs < 0)[0]
        raise ValueError(
            f"Costs must be at least 0; {known[row][place]!r} is {costs[example, row, place]:g} in "
            f"row {example + 1}."
        )
    return costs


def _terms(cell: str, columns: Sequence[str]) -> list[tuple[float, list[str]]]:
    """Returns the terms of a cost: factors, and the columns by which they are multiplied."""
    if cell in columns:
        return [(1.0, [cell])]
    found = []
    for term in cell.split("+"):
        factor, names = 1.0, []
        for part in map(str.strip, term.split("*")):
            try:
                factor *= float(part)
            except ValueError:
                names.append(part)
        found.append((factor, names))
    return found
