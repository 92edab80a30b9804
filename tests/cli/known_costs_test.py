"""Costs known when deciding, as expressions over columns."""

import numpy as np
import pytest

from csdl_keras_cli.data import costs_text
from csdl_keras_cli.known_costs import cost_matrices, expressions, names_of
from tests.cli.own_files import FRAME, load, table

TWO = ("no", "yes")
SAID = ["decide=no,label=yes: amount", "label=no, decide=yes:5"]
COLUMNS = {"amount": [10.0, 20.0], "a + b": [1, 2], "job": ["x", "y"]}


@pytest.mark.parametrize(
    ("decisions", "columns", "cells", "matrix", "expected"),
    [
        (TWO, ["amount", "a + b"], [], None, [[0, 1], [10, 0]]),
        (TWO, [], SAID, None, [[0, 5], [10, 0]]),
        (TWO, ["amount"] * 2, ["decide=yes,label=no: 5 + 0.1*amount"], None, [[0, 6], [10, 0]]),
        (TWO, [], ["decide=no,label=yes: a + b"], [[0, 2], [9, 0]], [[0, 2], [1, 0]]),
        ((*TWO, "ask"), ["amount"] * 2 + ["a + b"], [], None, [[0, 10, 1], [10, 0, 1]]),
        (TWO, [], ["decide=no,label=no: 1 + 1e0"], [[0, 2], [9, 0]], [[2, 2], [9, 0]]),
    ],
)
def test_costs_of_an_example(decisions, columns, cells, matrix, expected):
    matrix = None if matrix is None else np.array(matrix, float)
    known = expressions(TWO, decisions, columns, cells, matrix)
    found = cost_matrices(known, COLUMNS)
    assert found.shape == (2, 2, len(decisions))
    np.testing.assert_allclose(found[0], expected, rtol=1e-12)
    assert {*names_of(known, list(COLUMNS))} <= {"amount", "a + b"}


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["decide=no,label=yse: 1"], "the labels no, yes and .*received 'decide=no,label=yse: 1'"),
        (["no,yes: amount"], '--cost must be "decide=DECISION,label=LABEL: COST"'),
        (["decide=no,label=yes: 1"], 'cost of "decide=yes,label=no" is missing. Pass it with'),
    ],
)
def test_cells_that_are_refused(cells, told):
    with pytest.raises(ValueError, match=told):
        expressions(TWO, TWO, [], cells)


@pytest.mark.parametrize(
    ("cell", "columns", "told"),
    [
        ("amuont", COLUMNS, "'amuont'. Write a sum .* the columns 'amount', 'a . b', 'job'"),
        ("amount*amount", COLUMNS, "amount.amount'. Write a sum of numbers, columns and their pr"),
        ("-0.1*amount", COLUMNS, "must be at least 0; '-0.1.amount' is -1 in row 1"),
        ("amount", {"amount": [1, np.nan]}, "Column 'amount' has nan in row 2.*must be finite"),
    ],
)
def test_costs_that_are_refused(cell, columns, told):
    with pytest.raises(ValueError, match=told):
        cost_matrices([["0", cell], ["1", "0"]], columns)


def test_a_table_with_columns_and_a_matrix(tmp_path):
    path, costs = table(tmp_path), tmp_path / "costs.csv"
    data = load(path, known_costs=["price_no,price_yes"])
    rows = data.x["test"].rows[:, 0].astype(int)  # the column id
    np.testing.assert_array_equal(data.known["test"][:, 0, 1], FRAME.price_yes[rows])
    np.testing.assert_array_equal(data.known["test"][:, 1, 0], FRAME.price_no[rows])
    assert (data.known["test"][:, [0, 1], [0, 1]] == 0).all()
    assert "known when deciding, from the columns price_yes, price_no." in costs_text(data, None)
    assert "price_no" in data.x["train"].columns.names
    # As everywhere, costs of a matrix count from those of the right decision.
    costs.write_text(",yes,no,ask\nyes,-1,8,1\nno,3,1,2\n")
    data = load(path, cost_matrix=costs, cost=["decide=no,label=yes: price_no"])
    first = data.x["train"].rows[0, 0]
    expected = [[0, 2, 1], [FRAME.price_no[first], 0, 2]]
    np.testing.assert_array_equal(data.known["train"][0], expected)
    assert data.known_costs[1] == ["price_no", "0", "2"]
    assert data.decisions == ("no", "yes", "ask")
    data = load(path, cost=["decide=no,label=yes: 5", "decide=yes,label=no: 1"])
    assert costs_text(data, None).endswith("\nCosts are known when deciding.")
    with pytest.raises(
        ValueError, match="--known-costs needs a column for each label, no, yes; re"
    ):
        load(path, known_costs=["price_no"])
