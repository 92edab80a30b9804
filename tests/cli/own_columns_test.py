"""Columns of texts that look like numbers or dates, and numbers that are infinite."""

import datetime

import numpy as np
import pandas
import pytest

from csdl_keras_cli.data import described_inputs
from csdl_keras_cli.own_columns import check_inputs
from tests.cli.own_files import FRAME, ROWS, load, run, save

WORDS = [f"word {i}" for i in range(ROWS)]
DAYS = [datetime.datetime(2012 + i % 9, 1 + i % 12, 1 + i % 28, i % 24, i) for i in range(ROWS)]
#: Dates and times as programs and people write them: by `strftime`, or as they are.
DATES = [
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d-%b-%Y",
    "%Y-%m",
    "%Y-%m-%d",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%d %H:%M:%S.%f+02:00",
    "%m/%d/%Y %I:%M %p",
    "%d/%m/%y",
    "%d. %m. %Y",
    "%B %d, %Y",
    "%d %B %Y",
    "%b-%y",
    "%b %Y",
    "%a, %d %b %Y",
    "%A, %B %d, %Y",
    "%d%b%Y",
    "%m/%Y",
    "%Y.%m.%d",
    "%YQ1",
    "%Y-W%W",
    "%H:%M",
    "%I:%M:%S %p",
]
NATIVE = ["1/1/2020", "1. Januar 2020", "5-janv.-2020", "01-ene-2020", "1st March 2020", "Dec '11"]
NUMBERS = [
    "1.202,52",
    "12%",
    "12 %",
    "1,5",
    "1,234",
    "1,234,567.5",
    "1 202,52",
    "1\u202f202",
    "1'202.50",
    "12,34,567.00",
    "$1,200",
    "-$5.00",
    "€ 12",
    "12,50 EUR",
    "(1,200)",
    "12-",
    "−3",
    "<0.5",
    "3,5e3",
]
NEITHER = [
    "3+",
    "1st",
    "10W",
    "Room 12",
    "18-25",
    "<1 year",
    "10+ years",
    "36 months",
    "192.168.0.1",
    "555-1234",
    "12-abc-34",
    "1920x1080",
    "v1.2.3",
    "May",
    "Boeing 747",
    "1/2",
    "-",
]


def frame(texts):
    return pandas.DataFrame({"when it was": texts, "x": 1.0, "y": 2})


def cells(sample):
    """A column of texts like a sample, which differ."""
    return [sample] * (ROWS - 5) + [sample.replace("2", "3")] * 5


@pytest.mark.parametrize("form", DATES)
def test_dates(form):
    texts = [day.strftime(form) for day in DAYS]
    with pytest.raises(ValueError) as caught:
        check_inputs(frame(texts), [])
    samples = " and ".join(map(repr, list(dict.fromkeys(texts))[:2]))
    assert f"no dates in column 'when it was'; received {samples}." in str(caught.value)
    assert "--drop 'when it was' leaves out" in str(caught.value)
    assert "--categories 'when it was' takes" in str(caught.value)
    check_inputs(frame(texts), ["when it was"])


@pytest.mark.parametrize("sample", NATIVE)
def test_dates_in_other_languages(sample):
    with pytest.raises(ValueError, match=f"no dates in column .*; received .*{sample}"):
        check_inputs(frame(cells(sample)), [])


@pytest.mark.parametrize("typed", [DAYS, [day.date() for day in DAYS]])
def test_dates_of_their_own_type(typed):
    with pytest.raises(ValueError, match="no dates in column 'when it was'; received '2012-01-01"):
        check_inputs(frame(typed), [])


@pytest.mark.parametrize("sample", NUMBERS)
def test_numbers_as_texts(sample):
    texts = cells(sample)
    with pytest.raises(ValueError, match="no numbers as texts in column") as caught:
        check_inputs(frame(texts), [])
    assert " and ".join(map(repr, dict.fromkeys(texts))) in str(caught.value)
    check_inputs(frame(texts), ["when it was"])


@pytest.mark.parametrize("mark, share", [("?", 0.02), ("-", 0.02), ("-", 0.9), ("n.a.", 0.4)])
def test_marks_of_missing_numbers(mark, share):
    """A mark without letters or digits counts as a missing cell, however many there are."""
    texts = [mark if i < share * ROWS else str(i % 9) for i in range(ROWS)]
    with pytest.raises(ValueError, match="numbers as texts") as caught:
        check_inputs(frame(texts), [])
    assert f"besides {mark!r}." in str(caught.value)
    assert f"--missing={mark}" in str(caught.value).replace("'", "")


@pytest.mark.parametrize(
    "texts",
    [
        *map(cells, NEITHER),
        WORDS,
        ["nurse", "baker"] * 30,
        [None] * ROWS,
        ["2012/01/01"] * 30 + WORDS[:30],
        ["12%", *"abcdefghijk"] * 5,
    ],
)
def test_other_texts_are_categories(texts):
    check_inputs(frame(texts), [])


def test_all_columns_are_told_at_once():
    table = pandas.DataFrame({"a": cells("12%"), "b": WORDS, "c": cells("2012/01/01")})
    with pytest.raises(ValueError, match="texts in column 'a'.*dates in column 'c'") as caught:
        check_inputs(table, [])
    assert "--drop a --drop c leaves" in str(caught.value)
    with pytest.raises(ValueError, match="dates in column 'c'") as caught:
        check_inputs(table, ["a"])
    assert "'a'" not in str(caught.value)


def read(tmp_path, choices=None, **columns):
    path = save(FRAME.assign(**columns), tmp_path / "table.csv")
    return load(path, label="answer", drop=["id"], **(choices or {}))


def test_ways_out_in_a_file(tmp_path):
    ages = ["?", *(str(20 + i % 9) for i in range(ROWS - 1))]
    with pytest.raises(ValueError, match="column 'age'; received '20' and '21', and besides '.'"):
        read(tmp_path, age=ages)
    for choices, categories in (
        ({"missing": ("?",)}, None),
        ({"categories": ("age",)}, ("20", "21", "22", "23", "24", "25", "26", "27", "28", "?")),
    ):
        data = read(tmp_path, choices, age=ages)
        assert data.x["train"].columns.categories[0] == categories
        first = data.x["train"].columns.encode(run(data.code))[0, 0]
        assert first == 9 if categories else np.isnan(first)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_numbers_that_are_categories(suffix, tmp_path):
    codes = [7, 12, 100] * (ROWS // 3)
    table = pandas.DataFrame({"code": codes, "x": range(ROWS), "answer": ["a", "b"] * (ROWS // 2)})
    path = save(table, tmp_path / f"table{suffix}")
    data = load(path, label="answer", categories=["code"])
    assert {str(one) for one in data.x["train"].columns.categories[0]} == {"7", "12", "100"}
    assert data.x["train"].columns.categories[1] is None
    encoded = data.x["train"].columns.encode(run(data.code))
    found = [str(data.x["train"].columns.categories[0][int(one)]) for one in encoded[:, 0]]
    assert found == [str(code) for code in codes[:10]]


def test_many_columns_of_categories(tmp_path):
    many = read(tmp_path, **{f"c{i}": ["a", "b"] * 30 for i in range(9)})
    assert "'c5', 'c6', ...)" in described_inputs(many)


@pytest.mark.parametrize("number", [np.inf, -np.inf, 1e300])
def test_infinite_numbers(number, tmp_path):
    with pytest.raises(ValueError, match="up to 1e.38 in column 'age'; received .* in row 8"):
        read(tmp_path, age=np.where(np.arange(ROWS) == 7, number, FRAME.age))
