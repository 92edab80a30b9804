"""Random tables, as programs write them, against a slow reader of lists and strings."""

import csv
import io
import math
import pathlib
import tempfile

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from csdl_keras_cli.cost_file import read_cost_table
from csdl_keras_cli.own_table import read_file

MISSING = ("", "NA", "NaN", "None", "null", "N/A", "nan", "#N/A")
WORDS = st.text("abcß€ é;,|\t'\"\n\r-.x1", max_size=6).map(lambda text: f"w{text}")
INTEGERS = st.integers(-(10**6), 10**6).map(str)
#: Another number of decimals than three, which may be thousands where they follow a comma.
DECIMALS = st.tuples(st.integers(-999, 9999), st.integers(0, 99)).map(
    lambda parts: f"{parts[0]}.{parts[1]:02d}"
)
NUMBERS = st.one_of(INTEGERS, DECIMALS, st.sampled_from(["1e3", "-2.5E-2", ".5", "0", "007", "+4"]))
LABELS = st.sampled_from(
    [
        ("yes", "no"),
        ("0", "1", "2"),
        ("9", "10", "-1"),
        ("1.0", "1", "1e2", "100"),
        ("01", "1", "10"),
        ("10.0", "9.0"),
        ("True", "False"),
        ("true", "false"),
        ("New York", "Œuvre; a,b"),
        ("1", "2", "more"),
    ]
)


@st.composite
def tables(draw):
    """A header, rows of cells as texts, and how a program writes them."""
    rows = draw(st.integers(12, 16))
    columns = {}
    for place in range(draw(st.integers(1, 4))):
        is_number = draw(st.booleans())
        cells = st.one_of(*[NUMBERS if is_number else WORDS] * 3, st.sampled_from(MISSING))
        name = draw(st.sampled_from(["x", "a b", "Income, total", 'the "size"', "ü;|", "n\nn"]))
        columns[f"{name}{place}"] = draw(st.lists(cells, min_size=rows, max_size=rows))
    names = draw(LABELS)
    columns["label"] = [names[row % len(names)] for row in range(rows)]
    order = draw(st.permutations(list(columns)))
    separator = draw(st.sampled_from([",", ";", "\t", "|"]))
    program = {
        "separator": separator,
        "decimal": draw(st.sampled_from([".", "," if separator != "," else "."])),
        "quoting": draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        "end": draw(st.sampled_from(["\n", "\r\n", "\r"])),
        "mark": draw(st.booleans()),
        "excel": draw(st.booleans()),
        "spaced": draw(st.booleans()) and separator != "\t",
        "row_names": draw(st.sampled_from([None, None, "quoted", "numbered"])),
        "trailing": draw(st.booleans()),
        "blank": draw(st.lists(st.integers(0, rows), max_size=2)),
    }
    if program["end"] == "\r":  # pandas loses an empty cell after a blank line there.
        program["blank"] = []
    if program["row_names"]:  # R writes no separator at the end of a line, and NA where none is.
        program["trailing"] = False
        columns = {name: [cell or "NA" for cell in them] for name, them in columns.items()}
    return order, [[columns[name][row] for name in order] for row in range(rows)], program


def written(head, rows, program):
    """The text of a table, line by line, and the numbers of the lines."""

    def line(cells, first=""):
        out = io.StringIO(newline="")
        csv.writer(out, delimiter=program["separator"], quoting=program["quoting"]).writerow(cells)
        text = out.getvalue().removesuffix("\r\n")
        if program["spaced"]:  # Cells without the separator inside.
            text = f"{program['separator']} ".join(
                '"' + cell.replace('"', '""') + '"' for cell in cells
            )
        return first + text + program["separator"] * program["trailing"]

    def cell(text):
        is_number = not text.startswith("w") and text not in MISSING
        return text.replace(".", program["decimal"]) if is_number else text

    lines = [f"sep={program['separator']}"] if program["excel"] else []
    label = head.index("label")
    body = [[one if place == label else cell(one) for place, one in enumerate(row)] for row in rows]
    starts = [""] + [
        {None: "", "quoted": f'"r{row}"', "numbered": str(row + 1)}[program["row_names"]]
        + (program["separator"] + " " * program["spaced"] if program["row_names"] else "")
        for row in range(len(rows))
    ]
    numbers, text, number = [], "", 1 + len(lines)
    for place, (cells, start) in enumerate(zip([head, *body], starts, strict=True)):
        for _ in range(program["blank"].count(place)):
            text, number = text + program["end"], number + 1
        numbers.append(number)
        one = line(cells, start)
        text += one + program["end"]
        number += len(io.StringIO(one + program["end"], newline="").readlines())
    mark = "\ufeff" * program["mark"]
    return mark + "".join(one + program["end"] for one in lines) + text, numbers


def number(text):
    """A number, `None` for a missing one; raises a ValueError for a text."""
    return None if text in MISSING else float(text)


def is_missing(value):
    return value is None or value != value


def read(text, **choices):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "table.csv"
        path.write_bytes(text.encode())
        return read_file(path, "label", **choices)


@given(tables())
@settings(max_examples=150, deadline=None)
def test_the_table_that_was_written_is_read(table):
    head, rows, program = table
    text, _ = written(head, rows, program)
    file = read(text)
    event(f"separator {program['separator']!r}, row names {program['row_names']}")
    inputs = [name for name in head if name != "label"]
    assert list(file.inputs) == inputs and len(file.inputs) == len(rows)
    assert len(file.left_out) == program["trailing"]
    assert bool(file.told) == (program["row_names"] is not None)
    for name in inputs:
        cells, found = [row[head.index(name)] for row in rows], file.inputs[name].tolist()
        try:
            expected = [number(cell) for cell in cells]
        except ValueError:
            expected = [None if cell in MISSING else cell for cell in cells]
        for right, value in zip(expected, found, strict=True):
            if right is None:
                assert is_missing(value)
            elif isinstance(right, str):
                assert value == right
            else:
                assert math.isclose(value, right, rel_tol=1e-14)
    own = [row[head.index("label")] for row in rows]
    labels, places = file.labels, file.numbers
    assert [str(labels[place]) for place in places] == own
    distinct = {*own}
    try:
        assert [str(one) for one in labels] == sorted(distinct, key=lambda it: (float(it), it))
    except ValueError:
        assert [str(one) for one in labels] == sorted(distinct)


@given(tables(), st.data())
@settings(max_examples=100, deadline=None)
def test_a_line_of_another_length_is_refused_with_its_number(table, data):
    head, rows, program = table
    program["row_names"] = None
    text, numbers = written(head, rows, program)
    lines = io.StringIO(text, newline="").readlines()
    place = data.draw(st.integers(1, len(rows)))
    last = numbers[place + 1] - 2 if place < len(rows) else len(lines) - 1
    while not lines[last].strip():
        last -= 1  # a blank line
    bare = lines[last].rstrip("\r\n")
    lines[last] = bare + program["separator"] + lines[last][len(bare) :]
    width = len(head) + program["trailing"]
    with pytest.raises(ValueError) as caught:
        read("".join(lines))
    assert f"{width} in line {numbers[0]}, {width + 1} in line {numbers[place]}" in str(
        caught.value
    )


@given(LABELS, st.data())
@settings(max_examples=100, deadline=None)
def test_costs_with_names_are_read_in_the_order_of_labels(labels, data):
    size = len(labels)
    amounts = data.draw(st.lists(DECIMALS, min_size=size * (size + 1), max_size=size * (size + 1)))
    costs = {
        (true, decision): "0" if true == decision else amounts.pop().lstrip("-")
        for true in labels
        for decision in (*labels, "ask!")
    }
    rows = data.draw(st.permutations(labels))
    columns = data.draw(st.permutations([*labels, "ask!"]))
    separator, decimal = data.draw(
        st.sampled_from([(",", "."), (";", "."), (";", ","), ("\t", ","), ("|", "."), ("|", ",")])
    )
    corner = data.draw(st.sampled_from([[""], ["true \\ decision"], []]))  # R writes none.
    out = io.StringIO(newline="")
    quoting = csv.QUOTE_MINIMAL if corner else csv.QUOTE_ALL
    writer = csv.writer(out, delimiter=separator, quoting=quoting)
    writer.writerow([*corner, *columns])
    for true in rows:
        cells = [costs[true, decision].replace(".", decimal) for decision in columns]
        writer.writerow([true, *cells])
    excel = f"sep={separator}\r\n" * data.draw(st.booleans())
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "costs.csv"
        path.write_text(excel + out.getvalue(), "utf-8", newline="")
        table = read_cost_table(path, labels)
    assert table.decisions == (*labels, "ask!")
    expected = [[float(costs[true, decision]) for decision in table.decisions] for true in labels]
    assert table.amounts.tolist() == expected
