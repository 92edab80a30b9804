"""Cost matrices of users, with names and without."""

import argparse

import numpy as np
import pytest

from csdl_keras_cli.cost_file import costs_of_columns, read_cost_table
from csdl_keras_cli.data import show_data
from tests.cli.own_files import load, table

LABELS = ("bad", "fair", "good")
C = np.array([[0.0, 1, 5], [2, 0, 1], [3, 4, 0]])
NUMBERS = ("0", "1", "2")
WRITTEN = ("1.0", "2.0", "10.0")


def read(tmp_path, content, labels=LABELS):
    path = tmp_path / "costs.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_cost_table(path, labels)


@pytest.mark.parametrize(
    "content, labels",
    [
        ("0,1,5\n2,0,1\n3,4,0\n", LABELS),
        ("bad,fair,good\n0,1,5\n2,0,1\n3,4,0\n", LABELS),
        ("bad,0,1,5\nfair,2,0,1\ngood,3,4,0\n", LABELS),
        (",good,bad,fair\nfair,1,2,0\ngood,0,3,4\nbad,5,0,1\n", LABELS),
        ("\ufeff,bad,fair,good\r\nbad,0,1,5\r\nfair,2,0,1\r\ngood,3,4,0\r\n", LABELS),
        (' , "bad", fair, good\nbad, 0, 1, 5\nfair, 2, 0, 1\ngood, 3, 4, 0', LABELS),
        (";bad;fair;good\nbad;0,0;1,0;5\nfair;2;0;1,0\ngood;3;4;0\n", LABELS),
        ("\tbad\tfair\tgood\nbad\t,0\t10,0e-1\t5\nfair\t2\t0\t1,000\ngood\t3\t4.0\t0\n", LABELS),
        ("0,1,2\n0,1,5\n2,0,1\n3,4,0\n", NUMBERS),
        (",2,0,1\n0,5,0,1\n2,0,3,4\n1,1,2,0\n", NUMBERS),
        (",10.0,1.0,2.0\n1.0,5,0,1\n10.0,0,3,4\n2.0,1,2,0\n", WRITTEN),
        ("1.0,0,1,5\n2.0,2,0,1\n10.0,3,4,0\n", WRITTEN),
        (",1e2,100,1\n1e2,0,1,5\n100,2,0,1\n1,3,4,0\n", ("1e2", "100", "1")),
        ("sep=;\r\n;bad;fair;good\r\nbad;0,0;1,0;5\r\nfair;2;0;1\r\ngood;3;4;0\r\n", LABELS),
        ('"bad","fair","good"\n"bad",0,1,5\n"fair",2,0,1\n"good",3,4,0\n', LABELS),
        (";;;\n;bad;fair;good\n;;;\nbad;0;1;5\nfair;2;0;1\ngood;3;4;0\n;;;\n", LABELS),
    ],
)
def test_reads(content, labels, tmp_path):
    table = read(tmp_path, content, labels)
    np.testing.assert_array_equal(table.matrix, C)
    assert table.decisions == labels


def test_other_decisions_come_last(tmp_path):
    table = read(tmp_path, ",ask,yes,no\nno,1,7,0\nyes,1,0,9\n", ("no", "yes"))
    np.testing.assert_array_equal(table.matrix, [[0, 7, 1], [9, 0, 1]])
    assert table.decisions == ("no", "yes", "ask")


def test_gains_become_costs_beyond_the_right_decision(tmp_path):
    table = read(tmp_path, "5,20\n3,-40\n", ("no", "yes"))
    np.testing.assert_array_equal(table.matrix, [[0, 15], [43, 0]])
    np.testing.assert_array_equal(table.amounts, [[5, 20], [3, -40]])


def test_arrays(tmp_path):
    np.save(tmp_path / "m.npy", C)
    np.testing.assert_array_equal(read_cost_table(tmp_path / "m.npy", LABELS).matrix, C)
    np.save(tmp_path / "m.npy", np.array([[{}]], dtype=object))
    with pytest.raises(ValueError, match="m.npy to hold a cost matrix.*allow_pickle"):
        read_cost_table(tmp_path / "m.npy", LABELS)


@pytest.mark.parametrize(
    "content, told",
    [
        ("", "to hold a table; the file is empty"),
        ("bad,fair,good\n", "to hold costs; received names alone, 'bad', 'fair', 'good'"),
        (
            "good,bad,fair\n1,2,0\n0,3,4\n5,0,1\n",
            "name its rows too.*columns 'good', 'bad', 'fair'",
        ),
        ("good,3,4,0\nbad,0,1,5\nfair,2,0,1\n", "name its columns too.*the rows 'good', 'bad'"),
        ("0,1\n1,0\n", "3 x 3 costs, .*'bad', 'fair', 'good'; received the shape 2 x 2"),
        ("0,1,5\n2,0\n3,4,0\n", "as many cells in each line; received lines of 2, 3 cells"),
        (",bad,fair\nbad,0,1\nfair,1,0\n", "received without 'good'.*Rows are true labels"),
        (",bad,fair,good\nbad,0,1,5\nfair,2,0,1\ngoood,3,4,0\n", "'goood'.*Did you mean 'good'"),
        (",bad,fair,good\nbad,0,1,5\nbad,2,0,1\ngood,3,4,0\n", "repeated 'bad'; without 'fair'"),
        # Cells that hold no cost.
        ("0,1,5\n2,,1\n3,4,0\n", "numbers; received '' in row 2, column 2"),
        ("0,1 5,5\n2,0,1\n3,4,0\n", "numbers; received '1 5' in row 1, column 2"),
        (",bad,fair,good\nbad,0,,5\nfair,2,0,1\ngood,3,4,0\n", "row 'bad', column 'fair'"),
        (
            ";bad;fair;good\nbad;0;1,5;5\nfair;2;0;12%\ngood;3;4;0\n",
            "'12%' in row 'fair', column 'go",
        ),
        ("0;1,000;5\n2;0;1,5\n3;1.202,52;0\n", "'1.202,52' in row 3, column 2"),
        (
            "sep=;\n;bad;fair;good\nbad;0;-;5\nfair;2;0;1\ngood;3;4;0\n",
            "'-' in row 'bad', column 'f",
        ),
        ("0,1,5\n2,0,1,\n3,4,0\n", "3 in line 1, 4 in line 2"),
        ("0;1,5;5\n2;0;1\n3;1.000;0\n", "decimal commas in .*'1.000' in line 3, column 2"),
        # Decisions as rows.
        (
            ",bad,fair,good\nbad,0,1,5\nfair,2,0,1\ngood,3,4,0\nask,1,1,1\n",
            "received unknown 'ask'.*Rows are true labels and columns decisions",
        ),
        ("0,1,nan\n2,0,1\n3,4,0\n", "finite.*The file is"),
        ("0,1,-5\n2,0,1\n3,4,0\n", "the right decision is the cheapest; .*'bad'"),
        (b"\xff\xfe0\x00,\x001\x00", "UTF-8; received the byte 0xff in line 1. Save it as UTF-8"),
    ],
)
def test_refuses(content, told, tmp_path):
    with pytest.raises(ValueError, match=told) as caught:
        read(tmp_path, content)
    assert "costs.csv" in str(caught.value)


def test_the_matrix_is_shown_as_it_is_in_the_file(tmp_path, capsys):
    path = tmp_path / "costs.csv"
    path.write_text(",no,yes,ask\nno,5,20,7\nyes,3,-40.5,7\n")
    data = load(table(tmp_path), cost_matrix=path)
    show_data(argparse.Namespace(cost_matrix=path), data)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[-4:-1]]
    assert lines == [
        ["true", "label", "no", "yes", "ask"],
        ["no", "5", "20", "7"],
        ["yes", "3", "-40.5", "7"],
    ]


SIZES = ("hi", "lo", "mid")
Y = np.array([0, 0, 1, 2])
VECTORS = np.array([[0.0, 3, 2, 1], [0, 5, 4, 1], [6, 0, 1, 1], [9, 8, 0, 1]])


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 1, 0, 3], [3, 2, 0, 1]])
def test_columns_named_like_labels_are_found_by_name(order):
    names = [(*SIZES, "ask")[column] for column in order]
    costs, decisions = costs_of_columns(VECTORS[:, order], names, SIZES, Y)
    np.testing.assert_array_equal(costs, VECTORS)
    assert decisions == (*SIZES, "ask")


def test_other_names_are_taken_in_the_order_of_labels():
    costs, decisions = costs_of_columns(VECTORS, ["a", "lo", "b", "ask"], SIZES, Y)
    np.testing.assert_array_equal(costs, VECTORS)
    assert decisions == (*SIZES, "ask")


def test_a_right_decision_that_is_not_the_cheapest_is_refused():
    names = ["cost_mid", "cost_lo", "cost_hi"]
    with pytest.raises(
        ValueError,
        match="order of the labels, hi, lo, mid.*label 'hi', whose column is 'cost_mid', the mean "
        "costs cost_mid 3, cost_lo 4, cost_hi 0",
    ):
        costs_of_columns(VECTORS[:, [2, 1, 0]], names, SIZES, Y)


def test_decisions_that_are_no_label_may_be_cheaper():
    costs, _ = costs_of_columns(VECTORS + [2.0, 2, 2, 0], [*"abc", "ask"], SIZES, Y)
    assert (costs[0] == [2, 5, 4, 1]).all()


def test_gains_in_columns_are_counted_from_the_best_decision():
    costs, _ = costs_of_columns(VECTORS - 4, [*"abc", "ask"], SIZES, Y)
    np.testing.assert_array_equal(costs, VECTORS)
