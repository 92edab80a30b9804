"""Random tables, as programs write them, against a slow reader of lists and strings."""

import csv
import io
import pathlib
import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csdl_keras_cli.cost_file import read_cost_table
from tests.cli.own_files import read

MISSING = ("", "NA", "NaN", "None", "null", "N/A")
WORDS = st.text("abcß€ é;,|\t'\"\n\r-.x1", max_size=6).map(lambda text: f"w{text}")
#: Another number of decimals than three, which may be thousands where they follow a comma.
DECIMALS = st.tuples(st.integers(-999, 9999), st.integers(0, 99)).map(
    lambda parts: f"{parts[0]}.{parts[1]:02d}"
)
NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    DECIMALS,
    st.sampled_from(["1e3", "-2.5E-2", ".5", "0", "007", "+4"]),
)
LABELS = st.sampled_from(
    [
        ("0", "1", "2"),
        ("9", "10", "-1"),
        ("1.0", "1", "1e2", "100"),
        ("01", "1", "10"),
        ("True", "False"),
        ("true", "false"),
        ("New York", "Œuvre; a,b"),
        ("1", "2", "more"),
    ]
)


@st.composite
def tables(draw):
    """A header, rows of cells as texts, and how a program writes them."""
    rows, columns = draw(st.integers(12, 16)), {}
    for place in range(draw(st.integers(1, 4))):
        kind = NUMBERS if draw(st.booleans()) else WORDS
        cells = st.one_of(kind, kind, kind, st.sampled_from(MISSING))
        name = draw(st.sampled_from(["x", "a b", "Income, total", 'the "size"', "ü;|", "n\nn"]))
        columns[f"{name}{place}"] = draw(st.lists(cells, min_size=rows, max_size=rows))
    names = draw(LABELS)
    columns["answer"] = [names[row % len(names)] for row in range(rows)]
    order = draw(st.permutations(list(columns)))
    separator = draw(st.sampled_from([",", ";", "\t", "|"]))
    program = {
        "separator": separator,
        "decimal": draw(st.sampled_from([".", "," if separator != "," else "."])),
        "quoting": draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        "end": draw(st.sampled_from(["\n", "\r\n", "\r"])),
        "mark": "\ufeff" * draw(st.booleans()),
        "excel": draw(st.booleans()),
        "row_names": draw(st.sampled_from([None, None, "quoted", "numbered"])),
    }
    if program["row_names"]:  # R writes NA where a cell is empty.
        columns = {name: [cell or "NA" for cell in them] for name, them in columns.items()}
    return order, [[columns[name][row] for name in order] for row in range(rows)], program


def written(head, rows, program):
    """The text of a table, line by line."""

    def line(cells, first=""):
        out = io.StringIO(newline="")
        csv.writer(out, delimiter=program["separator"], quoting=program["quoting"]).writerow(cells)
        return first + out.getvalue().removesuffix("\r\n") + program["end"]

    def cell(text):
        is_number = not text.startswith("w") and text not in MISSING
        return text.replace(".", program["decimal"]) if is_number else text

    lines = [line(head)]
    for number, row in enumerate(rows):
        cells = [it if head[j] == "answer" else cell(it) for j, it in enumerate(row)]
        name = {None: "", "quoted": f'"r{number}"', "numbered": str(number + 1)}
        first = name[program["row_names"]]
        lines.append(line(cells, first + program["separator"] * bool(first)))
    told = f"sep={program['separator']}{program['end']}" * program["excel"]
    return [program["mark"] + told, *lines]


def reread(lines):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "table.csv"
        path.write_bytes("".join(lines).encode())
        return read(path)


def value(text, numeric):
    return np.nan if text in MISSING else float(text) if numeric else text


@given(tables())
@settings(max_examples=100, deadline=None)
def test_the_table_that_was_written_is_read(table):
    head, rows, program = table
    file = reread(written(head, rows, program))
    inputs = [name for name in head if name != "answer"]
    assert list(file.inputs) == inputs and len(file.inputs) == len(rows)
    assert bool(file.told) == (program["row_names"] is not None)
    for name in inputs:
        cells = [row[head.index(name)] for row in rows]
        numeric = not any(cell.startswith("w") for cell in cells)
        for right, found in zip(cells, file.inputs[name].tolist(), strict=True):
            right = value(right, numeric)
            same = right == found or (right != right and (found is None or found != found))
            assert same or (numeric and abs(right - found) <= 1e-14 * abs(right))
    own = [row[head.index("answer")] for row in rows]
    assert [str(file.labels[place]) for place in file.numbers] == own
    try:
        assert [str(it) for it in file.labels] == sorted({*own}, key=lambda it: (float(it), it))
    except ValueError:
        assert [str(it) for it in file.labels] == sorted({*own})


@given(tables(), st.data())
@settings(max_examples=60, deadline=None)
def test_a_line_of_another_length_is_refused_with_its_number(table, data):
    head, rows, program = table
    program["row_names"] = None
    lines = written(head, rows, program)
    place = data.draw(st.integers(2, len(rows) + 1))
    end = program["end"]
    lines[place] = lines[place].removesuffix(end) + program["separator"] + end
    with pytest.raises(ValueError) as caught:
        reread(lines)
    number = len(io.StringIO("".join(lines[:place]), newline="").readlines()) + 1
    told = f"{len(head)} in line {1 + program['excel']}, {len(head) + 1} in line {number}"
    assert told in str(caught.value)


@given(LABELS, st.data())
@settings(max_examples=60, deadline=None)
def test_costs_with_names_are_read_in_the_order_of_labels(labels, data):
    size = len(labels) * (len(labels) + 1)
    amounts = data.draw(st.lists(DECIMALS, min_size=size, max_size=size))
    costs = {
        (true, decision): "0" if true == decision else amounts.pop().lstrip("-")
        for true in labels
        for decision in (*labels, "ask!")
    }
    rows = data.draw(st.permutations(labels))
    columns = data.draw(st.permutations([*labels, "ask!"]))
    separator, decimal = data.draw(st.sampled_from([(",", "."), (";", "."), (";", ",")]))
    corner = data.draw(st.sampled_from([[""], ["true \\ decision"], []]))  # R writes none.
    out = io.StringIO(newline="")
    quoting = csv.QUOTE_MINIMAL if corner else csv.QUOTE_ALL
    writer = csv.writer(out, delimiter=separator, quoting=quoting)
    writer.writerow([*corner, *columns])
    for true in rows:
        cells = [costs[true, decision].replace(".", decimal) for decision in columns]
        writer.writerow([true, *cells])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "costs.csv"
        path.write_text(out.getvalue(), "utf-8", newline="")
        table = read_cost_table(path, labels)
    assert table.decisions == (*labels, "ask!")
    expected = [[float(costs[true, decision]) for decision in table.decisions] for true in labels]
    assert table.amounts.tolist() == expected
