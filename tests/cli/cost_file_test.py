"""Cost matrices of users, with names and without."""

import numpy as np
import pytest

from csdl_keras_cli.cost_file import costs_of_columns, read_costs
from tests.cli.own_files import load, table

LABELS = ("bad", "fair", "good")
C = np.array([[0.0, 1, 5], [2, 0, 1], [3, 4, 0]])
NUMBERS = ("0", "1", "2")


def read(tmp_path, content, labels=LABELS):
    path = tmp_path / "costs.csv"
    path.write_text(content)
    return read_costs(path, labels)


@pytest.mark.parametrize(
    "content, labels",
    [
        ("0,1,5\n2,0,1\n3,4,0\n", LABELS),
        (",good,bad,fair\nfair,1,2,0\ngood,0,3,4\nbad,5,0,1\n", LABELS),
        (' , "bad", fair, good\nbad, 0, 1, 5\nfair, 2, 0, 1\ngood, 3, 4, 0', LABELS),
        ("\tbad\tfair\tgood\nbad\t,0\t10,0e-1\t5\nfair\t2\t0\t1,000\ngood\t3\t4.0\t0\n", LABELS),
        (",2,0,1\n0,5,0,1\n2,0,3,4\n1,1,2,0\n", NUMBERS),
        (",1e2,100,1\n1e2,0,1,5\n100,2,0,1\n1,3,4,0\n", ("1e2", "100", "1")),
        ("sep=;\r\n;bad;fair;good\r\nbad;0,0;1,0;5\r\nfair;2;0;1\r\ngood;3;4;0\r\n", LABELS),
        ('"bad","fair","good"\n"bad",0,1,5\n"fair",2,0,1\n"good",3,4,0\n', LABELS),
        (";;;\n;bad;fair;good\n;;;\nbad;0;1;5\nfair;2;0;1\ngood;3;4;0\n;;;\n", LABELS),
        (";1,5;2\n1,5;0;0,5\n2;1;0\n", ("1,5", "2")),
    ],
)
def test_reads(content, labels, tmp_path):
    costs, decisions = read(tmp_path, content, labels)
    right = C if len(labels) == 3 else [[0, 0.5], [1, 0]]
    np.testing.assert_array_equal(costs, right)
    assert decisions == labels


def test_other_decisions_come_last_and_gains_are_costs_beyond_the_right_decision(tmp_path):
    costs, decisions = read(tmp_path, ",ask,yes,no\nno,1,7,0\nyes,1,0,9\n", ("no", "yes"))
    np.testing.assert_array_equal(costs, [[0, 7, 1], [9, 0, 1]])
    assert decisions == ("no", "yes", "ask")
    path = tmp_path / "gains.csv"
    path.write_text("5,20\n3,-40\n")
    data = load(table(tmp_path), drop=["id"], cost_matrix=path)
    np.testing.assert_array_equal(data.matrix_of(0), [[0, 15], [43, 0]])


@pytest.mark.parametrize(
    "content, told",
    [
        ("bad,fair,good\n", "named fair, good. Name them after the labels bad, fair, good, each"),
        ("good,3,4,0\nbad,0,1,5\nfair,2,0,1\n", "has 'good' in row"),
        ("0,1\n1,0\n", r"shape \(3, 3\) .*, a row for each of the labels bad, fair, good; rec"),
        (",bad,fair,goood\nbad,0,1,5\nfair,2,0,1\ngood,3,4,0\n", "Did you mean 'good'"),
        (",bad,fair,good\nbad,0,1,5\nbad,2,0,1\ngood,3,4,0\n", "named bad, bad, good"),
        ("0;1,5;5\n2;0;12%\n3;4;0\n", "has '12%' in row 2, col.* decimal separator ','"),
        ("0;1,5;5\n2;0;1\n3;1.000;0\n", "has '1.000' in row 3, column 2"),
        ("0,1,-5\n2,0,1\n3,4,0\n", "not the cheapest for the true label 'bad'"),
    ],
)
def test_refuses(content, told, tmp_path):
    with pytest.raises(ValueError, match=told) as caught:
        read(tmp_path, content)
    assert "costs.csv" in str(caught.value)


SIZES = ("hi", "lo", "mid")
Y = np.array([0, 0, 1, 2])
VECTORS = np.array([[0.0, 3, 2, 1], [0, 5, 4, 1], [6, 0, 1, 1], [9, 8, 0, 1]])


@pytest.mark.parametrize(
    "order, names",
    [([2, 1, 0, 3], None), ([3, 2, 0, 1], None), ([0, 1, 2, 3], ["a", "lo", "b", "ask"])],
)
def test_columns_named_like_labels_are_found_by_name(order, names):
    names = names or [(*SIZES, "ask")[column] for column in order]
    for shift in (0, -4, [2, 2, 2, 0]):  # gains, and another decision that may be cheaper
        costs, decisions = costs_of_columns((VECTORS + shift)[:, order], names, SIZES, Y)
        np.testing.assert_array_equal(costs, VECTORS + (shift if isinstance(shift, list) else 0))
        assert decisions == (*SIZES, "ask")


def test_a_right_decision_that_is_not_the_cheapest_is_refused():
    told = "'cost_mid' as .* of label 'hi', its mean costs are cost_mid 3, cost_lo 4, cost_hi 0: "
    with pytest.raises(ValueError, match=f"{told}.* after the labels hi, lo, mid, or"):
        costs_of_columns(VECTORS[:, [2, 1, 0]], ["cost_mid", "cost_lo", "cost_hi"], SIZES, Y)
