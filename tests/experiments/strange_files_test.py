"""Files of users that cannot be used: the message says what was expected and received."""

import numpy as np
import pytest

from csdl_keras.experiments.own_labels import read_labels
from tests.experiments.own_tables import csv, source, table

HEAD = "x,answer\n"
GOOD = HEAD + "1,a\n2,b\n" * 3


@pytest.mark.parametrize(
    "content, told",
    [
        ("", "to hold a table; the file is empty"),
        (HEAD, "Expected rows in"),
        ("x,y\n1,a\n", "--label to name a column of .*'x', 'y'; received 'answer'"),
        ("x,Answer\n1,a\n", "Did you mean 'Answer'"),
        ("x,answer,answer\n1,a,a\n2,b,b\n", "columns of distinct names.*'answer' twice"),
        (GOOD.replace("b", "5").replace("a\n", "5\n"), "received only 5"),
        (HEAD + f"1,{2**60}.0\n2,5\n" * 3, "strings or whole numbers; received 1.15292e.18"),
        (GOOD.replace("b", "a"), "2 to 1000 labels in 'answer'; received only 'a'"),
        (GOOD + "3,c\n", r"3 examples of each label.*'c' \(1\)"),
        (GOOD + "3,\n4,NA\n", "a label in each row of 'answer'; received 2 rows.* row 7"),
        (HEAD + "".join(f"1,{i / 7}\n" for i in range(30)), "strings or whole numbers; received"),
        (HEAD + "".join(f"1,{i}\n" for i in range(1001)), "2 to 1000 labels.*1001 labels"),
        ("answer\na\nb\n", "Expected inputs besides"),
        (GOOD + "1,2,3,4\n", "lines of 2, 4 cells: 2 in line 1, 4 in line 8"),
        (GOOD.encode("utf-16"), "UTF-8; received the byte"),
        ("x,answer\né,a\n".encode("latin-1"), "UTF-8; received the byte 0xe9 in line 2"),
    ],
)
def test_strange_tables(content, told, tmp_path):
    path = csv(tmp_path, content)
    with pytest.raises(ValueError, match=told):
        source(path, drop=()).load()


@pytest.mark.parametrize(
    "name, content, told",
    [
        ("a.npz", b"no archive", "to be an .npz file with arrays"),
        ("a.parquet", b"no parquet", "to hold a table that pandas.read_parquet reads"),
        ("a.npz", {"answer": np.array([{}, {}])}, "no Python objects"),
        ("a.npz", {"answer": np.array(4), "x": np.ones((4, 2))}, r"labels \(N,\).* of shape \(\)"),
        ("a.npz", {"answer": np.arange(4), "x": np.ones((3, 2))}, "a row for each of the labels"),
        ("a.npz", {"answer": np.arange(4), "x": np.ones((4, 2)), "z": np.ones(4)}, "by --drop"),
        ("a.npz", {"answer": np.arange(4), "x": -np.ones((4, 2, 2))}, "values from -1.0 to -1.0"),
        (
            "a.npz",
            {"answer": np.arange(4), "x": np.full((4, 2, 2), np.nan)},
            r"received nan at \(0, 0, 0\)",
        ),
    ],
)
def test_strange_files(name, content, told, tmp_path):
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.savez(path, allow_pickle=True, **content)
    with pytest.raises(ValueError, match=told):
        source(path, drop=()).load()


@pytest.mark.parametrize(
    "choices, told",
    [
        ({"drop": ("age", "jobs")}, "--drop to name a column.*'jobs'. Did you mean 'job'"),
        ({"drop": ("answer",)}, "different columns; received 'answer' twice"),
        ({"cost_columns": ("price_no",)}, "a column for each label, no, yes; received 1"),
        ({"cost_columns": ("price_no", "job")}, "finite.* in column 'job'; received nan in row 1"),
        ({"cost_columns": ("price_no", "answer2")}, "--cost-columns to name a column"),
        ({"cost_columns": ("price_no", "age")}, "finite.* in column 'age'; received nan in row 3"),
    ],
)
def test_strange_columns(choices, told, tmp_path):
    with pytest.raises(ValueError, match=told):
        source(table(tmp_path), **choices).load()


def test_labels_of_arrays_are_one_dimensional():
    with pytest.raises(ValueError, match="one value in each row"):
        read_labels("y", np.ones((4, 2)))
