"""Columns of text that looks like numbers or dates, infinite numbers, and labels as written."""

import datetime

import numpy as np
import pandas
import pytest

from csdl_keras_cli.columns import Columns
from csdl_keras_cli.own_columns import check_inputs
from tests.cli.own_files import FRAME, ROWS, csv, load, run, save

WORDS = [f"word {i}" for i in range(ROWS)]
DAYS = [datetime.datetime(2012 + i % 9, 1 + i % 12, 1 + i % 28, i % 24, i) for i in range(ROWS)]
#: Dates as programs and people write them, by `strftime`: those that are inputs, of which some are
#: ISO 8601, and those that are refused.
FORMATS = """%Y/%m/%d|%d.%m.%Y|%d-%b-%Y|%Y-%m|%m/%d/%Y %I:%M %p|%d/%m/%y|%B %d, %Y|%d %B %Y|%b %Y
%m/%Y""".replace("\n", "|").split("|")
ISO = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S.%f+02:00"]
DATES = """%d. %m. %Y|%b-%y|%a, %d %b %Y|%A, %B %d, %Y|%d%b%Y|%Y.%m.%d|%YQ1|%Y-W%W|%H:%M
%I:%M:%S %p""".replace("\n", "|").split("|")
NATIVE = ["1. Januar 2020", "5-janv.-2020", "01-ene-2020", "1st March 2020", "Dec '11"]
NUMBERS = """1.202,52|12%|12 %|1,5|1,234|1,234,567.5|1 202,52|1\u202f202|1'202.50|12,34,567.00
$1,200|-$5.00|€ 12|12,50 EUR|(1,200)|12-|−3|<0.5|3,5e3""".replace("\n", "|").split("|")
NEITHER = """3+|1st|10W|Room 12|18-25|<1 year|10+ years|36 months|192.168.0.1|555-1234|12-abc-34
1920x1080|v1.2.3|May|Marathon 42|MAR12|Boeing 747|1/2|-""".replace("\n", "|").split("|")


def frame(texts):
    return pandas.DataFrame({"when it was": texts, "x": 1.0, "y": 2})


def cells(sample):
    """A column of texts like a sample, which differ."""
    return [sample] * (ROWS - 5) + [sample.replace("2", "3")] * 5


@pytest.mark.parametrize(
    "kind, texts",
    [
        *(("dates", [day.strftime(form) for day in DAYS]) for form in DATES),
        *(("dates", [sample] * ROWS) for sample in NATIVE),
        *(("numbers", cells(sample)) for sample in NUMBERS),
    ],
)
def test_dates_and_numbers_as_texts(kind, texts):
    samples = " and ".join([repr(it) for it in dict.fromkeys(texts)][:2])
    with pytest.raises(ValueError) as caught:
        check_inputs(frame(texts), [], {})
    known = {
        "dates": "dates in unknown or mixed formats",
        "numbers": "text that looks like numbers",
    }
    expected = f"Column 'when it was' has {known[kind]}, such as {samples}. Use --drop COLUMN"
    assert expected in str(caught.value)
    assert check_inputs(frame(texts), ["when it was"], {}) == {}


@pytest.mark.parametrize("form", [*FORMATS, *ISO])
def test_dates_are_inputs_if_they_have_one_format(form):
    texts = [day.strftime(form) for day in DAYS]
    assert check_inputs(frame(texts), [], {}) == {"when it was": "" if form in ISO else form}


def test_dates_that_are_read_in_several_ways():
    told = "'when it was' has dates that could be %d/%m/%Y or %m/%d/%Y, .*--date-format"
    for texts in (["01/02/2020", "3/4/2021"], ["1/1/2020", "-"]):
        with pytest.raises(ValueError, match=told):
            check_inputs(frame(texts * (ROWS // 2)), [], {})
    # A mark without letters or digits is a missing date, here and in the saved model.
    marked = frame(["2026-01-31"] * (ROWS - 1) + ["-"])
    assert check_inputs(marked, [], {}) == {"when it was": ""}
    columns = Columns.of(marked, {"when it was": ""})
    assert np.isnan(columns.encode(marked)[-1, :4]).all()
    with pytest.raises(ValueError, match="mixed formats.*and also 'word 0', 'word 1', 'w"):
        check_inputs(frame(["2012/01/01"] * 31 + WORDS[:29]), [], {})
    days = [f"{1 + i % 12}/{1 + i % 9}/2020" for i in range(ROWS)]
    given = {"when": "%m/%d/%Y"}
    assert check_inputs(pandas.DataFrame({"when": days}), [], given) == given


@pytest.mark.parametrize("mark, share", [("-", 0.9), ("n.a.", 0.4)])
def test_marks_of_missing_numbers(mark, share):
    """A mark without letters or digits counts as a missing cell, however many there are."""
    texts = [mark if i < share * ROWS else str(i % 9) for i in range(ROWS)]
    with pytest.raises(ValueError, match="looks like numbers") as caught:
        check_inputs(frame(texts), [], {})
    assert f"and also {mark!r}." in str(caught.value)


@pytest.mark.parametrize(
    "texts",
    [
        *map(cells, NEITHER),
        WORDS,
        [None] * ROWS,
        ["2012/01/01"] * 30 + WORDS[:30],
        ["12%", *"abcdefghijk"] * 5,
    ],
)
def test_other_texts_are_categories(texts):
    assert check_inputs(frame(texts), [], {}) == {}


def read(tmp_path, choices=None, **columns):
    path = save(FRAME.assign(**columns), tmp_path / "table.csv")
    return load(path, drop=["id"], **(choices or {}))


def test_ways_out_in_a_file(tmp_path):
    ages = ["?", *(str(20 + i % 9) for i in range(ROWS - 1))]
    with pytest.raises(ValueError, match="'age' has .*such as '20' and '21', and also '.'"):
        read(tmp_path, age=ages)
    for choices, categories in (
        ({"missing": ["?"]}, None),
        ({"categories": ["age"]}, (*map(str, range(20, 29)), "?")),
    ):
        data = read(tmp_path, choices, age=ages)
        assert data.x["train"].columns.categories[0] == categories
        first = data.x["train"].columns.encode(run(data.own.code))[0, 0]
        assert first == 9 if categories else np.isnan(first)


@pytest.mark.parametrize("given", [[], ["when=%m/%d/%Y"]])
def test_dates_of_a_file(given, tmp_path):
    """They are read alike in training and from the printed lines."""
    days = [f"{1 + i % 12}/{1 + i % 9}/2020" for i in range(ROWS)]
    if not given:
        days = [day.date().isoformat() for day in DAYS]
    data = read(tmp_path, {"date_format": given}, when=days)
    columns = data.x["train"].columns
    assert columns.dates == (("when", "%m/%d/%Y" if given else ""),)
    place = columns.encoded_names.index("when")
    found = columns.encode(run(data.own.code))[:, place : place + 4]
    first = 18262 if given else 15340  # 1 January 2020 and 2012
    assert found[0].tolist() == [first, (first + 3) % 7, 0, 0]
    assert found[1].tolist()[2] == 1


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_numbers_that_are_categories(suffix, tmp_path):
    codes = [7, 12, 100] * (ROWS // 3)
    table = pandas.DataFrame({"code": codes, "x": range(ROWS), "answer": ["a", "b"] * (ROWS // 2)})
    data = load(save(table, tmp_path / f"table{suffix}"), categories=["code"])
    known = data.x["train"].columns
    assert {str(one) for one in known.categories[0]} == {"7", "12", "100"}
    encoded = known.encode(run(data.own.code))[:, 0]
    assert [str(known.categories[0][int(one)]) for one in encoded] == [str(it) for it in codes[:10]]


def test_numbers_and_labels_of_a_kind_that_is_refused(tmp_path):
    days = pandas.to_datetime(["2020-01-01", "2020-01-02"] * 6)
    path = save(pandas.DataFrame({"x": range(12), "answer": days}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="strings, whole numbers or booleans; received Timestamp"):
        load(path)
    for number in (np.inf, 1e300):
        with pytest.raises(ValueError, match=r"Column 'age' has .* in row 8.*up to 1e.38"):
            read(tmp_path, age=np.where(np.arange(ROWS) == 7, number, FRAME.age))


@pytest.mark.parametrize(
    "written, labels",
    [
        (["1e2", "100", "1.0", "1"], ("1", "1.0", "100", "1e2")),
        (["1", "01", "001"], ("001", "01", "1")),
        (["-0", "0"], ("-0", "0")),
        (["1.50", "1.5", "low"], ("1.5", "1.50", "low")),
        (["18446744073709551615", "18446744073709551614"], (2**64 - 2, 2**64 - 1)),
        ([" 1", " 2"], (1, 2)),
    ],
)
def test_labels_stay_as_they_are_written(written, labels, tmp_path):
    lines = [f"{i},{written[i % len(written)]}" for i in range(6 * len(written))]
    data = load(csv(tmp_path, "\n".join(["x,answer", *lines])))
    assert data.labels == labels
    own = [str(data.labels[number]) for number in np.concatenate([*data.y.values()])]
    assert sorted(own) == sorted(6 * [str(one) for one in labels])


@pytest.mark.parametrize(
    "labels, told",
    [
        (["yes", "yes ", "no"], r"'yes' \(4\), 'yes ' \(4\)"),
        (["a b", "ab", "a\u00a0b"], "'a b' .*, 'ab' .*"),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_labels_that_differ_by_blanks_alone(labels, told, suffix, tmp_path):
    table = pandas.DataFrame({"answer": labels * 4, "x": range(4 * len(labels))})
    with pytest.raises(ValueError, match=f"differ only in spaces: .*{told}"):
        load(save(table, tmp_path / f"table{suffix}"))
