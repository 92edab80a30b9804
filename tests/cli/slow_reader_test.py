"""Random tables, as programs write them, against a slow reader of lists and strings."""

import csv
import io
import pathlib
import tempfile

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

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
    """The text of a table."""

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
    return "".join([program["mark"] + told, *lines])


@given(tables())
@settings(max_examples=100, deadline=None)
def test_the_table_that_was_written_is_read(table):
    head, rows, program = table
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "table.csv"
        path.write_bytes(written(head, rows, program).encode())
        file = read(path)
    inputs = [name for name in head if name != "answer"]
    assert list(file.inputs) == inputs and len(file.inputs) == len(rows)
    assert bool(file.told) == (program["row_names"] is not None)
    for name in inputs:
        cells = [row[head.index(name)] for row in rows]
        numeric = not any(cell.startswith("w") for cell in cells)
        for right, found in zip(cells, file.inputs[name].tolist(), strict=True):
            right = np.nan if right in MISSING else float(right) if numeric else right
            same = right == found or (right != right and (found is None or found != found))
            assert same or (numeric and abs(right - found) <= 1e-14 * abs(right))
    own = [row[head.index("answer")] for row in rows]
    assert [str(file.labels[place]) for place in file.numbers] == own
    try:
        assert [str(it) for it in file.labels] == sorted({*own}, key=lambda it: (float(it), it))
    except ValueError:
        assert [str(it) for it in file.labels] == sorted({*own})
