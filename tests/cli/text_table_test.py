"""Lines of a .csv file that do not fit its first line, and what programs write around a table."""

import pytest

from csdl_keras_cli.data import described_inputs
from csdl_keras_cli.own_table import read_file
from tests.cli.own_files import csv, load, run

HEAD = "x,z,label"
LINES = [f"{i},{i * 2},{'ab'[i % 2]}" for i in range(12)]


def content(head, lines):
    return "\n".join([head, *lines, ""])


def changed(change, *places):
    return content(HEAD, [change(it) if i in places else it for i, it in enumerate(LINES)])


def quoted(names, row):
    """A row of R: its name, numbers, and a text in quotes."""
    return ",".join([f'"{names[row]}"', str(row), str(row * 2), f'"{"ab"[row % 2]}"'])


@pytest.mark.parametrize(
    "text, told",
    [
        # A separator at the end of one line, of the first one, of all.
        (changed(lambda line: f"{line},", 5), "lines of 3, 4 cells: 3 in line 1, 4 in line 7"),
        (changed(lambda line: f"{line},", *range(12)), "3 in line 1, 4 in line 2"),
        (content("label,x,z", [f"{i + 1},1,{i}," for i in range(12)]), "1, 4 in line 2"),
        (content(f"{HEAD},", LINES), "lines of 3, 4 cells: 4 in line 1, 3 in line 2"),
        # A decimal comma without quotes, and a comma in a text.
        (content(HEAD, [f"{i},5,{i},a" for i in range(12)]), "1, 4 in line 2"),
        (content('"city","x","label"', ['"Rome",1,5,"a"', '"Bonn",2,5,"b"'] * 6), "4 in line 2"),
        # A cell too few, also after lines in quotes and the one of Excel.
        (changed(lambda line: line[:-2], 11), "lines of 2, 3 cells: 3 in line 1, 2 in line 13"),
        (changed(lambda line: f'"a\nb",{line[-3:]}', 1, 2) + "1,2\n", "2 in line 16"),
        ("sep=,\n" + changed(lambda line: f"{line},", 2), "3 in line 2, 4 in line 5"),
        # Names of rows of which one is repeated, is not quoted, or has another number.
        (content(HEAD, [quoted("abcdefghijka", i) for i in range(12)]), "4 in line 2"),
        (content(HEAD, [quoted("abcdefghijkl", i).replace('"e"', "e") for i in range(12)]), "1, 4"),
        (content(HEAD, [f"{i},{line}" for i, line in enumerate(LINES)]), "4 in line 2"),
    ],
)
def test_a_line_of_another_length_is_refused(text, told, tmp_path):
    with pytest.raises(ValueError, match=told) as caught:
        read_file(csv(tmp_path, text), "label")
    assert "as many cells in each line" in str(caught.value)


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("kind", ["quoted", "numbered"])
def test_names_of_rows_as_r_writes_them(kind, separator, tmp_path):
    names = [f"Mazda RX{i}" for i in range(12)]
    lines = {
        "quoted": [quoted(names, i) for i in range(12)],
        "numbered": [f"{i + 1},{line}" for i, line in enumerate(LINES)],
    }[kind]
    path = csv(tmp_path, content(HEAD, lines).replace(",", separator))
    data = load(path, label="label")
    assert data.x["train"].columns.names == ("x", "z") and data.labels == ("a", "b")
    first = "Mazda RX0" if kind == "quoted" else "1"
    assert described_inputs(data) == (
        f"2 columns of numbers. Lines begin with names of rows, such as {first!r}, which are no "
        "inputs"
    )
    assert data.x["train"].columns.encode(run(data.code)).tolist() == [
        [i, 2 * i] for i in range(10)
    ]


@pytest.mark.parametrize("cell", ["1,234", "-12,000", "999,999"])
def test_a_comma_before_three_digits_is_no_decimal_comma(cell, tmp_path):
    path = csv(tmp_path, content("x;label", [f"{cell};a", f"{cell};b", "7;b"] * 4))
    with pytest.raises(ValueError, match=f"numbers as texts in column 'x'; received '{cell}'"):
        load(path, label="label")


def test_quotes_that_do_not_close(tmp_path):
    path = csv(tmp_path, content(HEAD, [*LINES, '1,2,"a', *LINES]))
    with pytest.raises(ValueError, match="to hold a table"):
        read_file(path, "label")
    path = csv(tmp_path, content(HEAD, [*LINES, '1,2,"a', *LINES * 5000]))
    with pytest.raises(ValueError, match="to hold a table; line 14: field larger than"):
        read_file(path, "label")


def test_texts_far_down_make_texts_of_the_whole_column(tmp_path):
    """pandas would read long files in parts, each of its own type."""
    cells, others = ["7"] * 20_000 + ["w"] * 30_000, [f"z{i}" for i in range(62)]
    head = ",".join(["x", "label", *others])
    lines = [f"{cell},{i % 2}{',1' * 62}" for i, cell in enumerate(cells)]
    path = csv(tmp_path, content(head, lines))
    file = read_file(path, "label")
    assert file.inputs["x"].tolist() == cells
    assert run(file.code)["x"].tolist() == cells[:10]


COLUMNS = ["A", "B", "Income, total", "C", "label"]


@pytest.mark.parametrize(
    "values, dropped",
    [
        (["A"], ["A"]),
        (["A, B", "C"], ["A", "B", "C"]),
        (["A", "Income, total", "C"], ["A", "Income, total", "C"]),
        (['A,"Income, total"'], ["A", "Income, total"]),
        ([""], []),
    ],
)
def test_columns_are_named_one_by_one_or_between_commas(values, dropped, tmp_path):
    head = ",".join(f'"{name}"' for name in COLUMNS)
    path = csv(tmp_path, content(head, [f"{i},1,2,3,{'ab'[i % 2]}" for i in range(12)]))
    file = read_file(path, "label", drop=values)
    assert file.chosen["drop"] == dropped
    assert list(file.inputs) == [name for name in COLUMNS[:-1] if name not in dropped]
    costs = read_file(path, "label", cost_columns=values)
    assert costs.chosen["cost_columns"] == dropped
    assert (costs.costs is None) == (not dropped)
