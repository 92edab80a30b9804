"""Columns of data frames as numbers, against a loop over single cells."""

import datetime
import math

import numpy as np
import pandas
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from csdl_keras_cli.columns import Columns, read_column

NAN = math.nan
FRAME = pandas.DataFrame(
    {"age": [31, None, 40], "job": ["b", "a", None], "left": [True, False, True]}
)


class TestOneColumn:
    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            (pandas.Series([1, None], dtype="Int64"), [1, NAN]),
            (pandas.Series([None, None], dtype=object), [NAN, NAN]),
            (polars.Series([True, None]), [1, NAN]),
            ([np.float32(2), pandas.NA, pandas.NaT], [2, NAN, NAN]),
        ],
    )
    def test_numbers(self, values, expected):
        found = read_column("a", values)
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, expected)

    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            (pandas.Series(["x", None], dtype="category"), ["x", None]),
            (polars.Series(["x", None], dtype=polars.Categorical), ["x", None]),
            (pandas.Series([2, 1], dtype="category"), [2, 1]),
            (pandas.Series([1.0, NAN], dtype="category"), [1, None]),
            (pandas.Series([pandas.Interval(0, 2), "?"], dtype="category"), ["(0, 2]", "?"]),
        ],
    )
    def test_categories(self, values, expected):
        assert read_column("a", values) == expected

    @pytest.mark.parametrize(
        "values",
        [
            [datetime.time(9)],
            pandas.to_timedelta(pandas.Series(["1h"])),
            pandas.to_timedelta(pandas.Series(["1h"])).astype("category"),
            polars.Series([datetime.timedelta(1)]),
        ],
    )
    def test_times_are_refused_with_a_hint(self, values):
        with pytest.raises(ValueError, match="Column 'a' .*times as numbers, such as hours"):
            read_column("a", values)

    @pytest.mark.parametrize("values", [["a", 1], [True, 1], [[1], [2]], [object()], [1j]])
    def test_what_is_refused(self, values):
        with pytest.raises(ValueError, match="Column 'a'"):
            read_column("a", values)


@given(st.lists(st.one_of(st.none(), st.sampled_from("abc")), min_size=1), st.text("abcd"))
def test_codes_follow_a_loop(cells, later):
    columns = Columns.of(pandas.DataFrame({"x": pandas.Series(cells, dtype=object)}))
    known = sorted(set(cells) - {None})
    rows = [*cells, *later]
    expected = [float(known.index(it)) if it in known else NAN for it in rows]
    if known:
        np.testing.assert_array_equal(columns.encode({"x": rows})[:, 0], expected)


@pytest.mark.parametrize("later", ["category", "Int64", object, "list", "polars"])
def test_categories_that_floating_point_rounds_to_others(later):
    """Numbers that identify a shop may differ in the last of nineteen digits."""
    shops = [2**53, 2**53 + 1, 2**60 + 3, 2**60 + 1, -5]
    columns = Columns.of(pandas.DataFrame({"shop": pandas.Series(shops, dtype="category")}))
    rows = [*shops[::-1], 2**53 + 2, 7]
    given_as = {"list": lambda: rows, "polars": lambda: polars.Series(rows)}
    column = given_as.get(later, lambda: pandas.Series(rows, dtype=later))()
    ordered = sorted(shops)
    expected = [float(ordered.index(it)) if it in ordered else NAN for it in rows]
    np.testing.assert_array_equal(columns.encode({"shop": column})[:, 0], expected)


def test_columns_are_found_by_name():
    columns = Columns.of(FRAME)
    expected = [[31, 1, 1], [NAN, 0, 0], [40, NAN, 1]]
    for rows in (FRAME, FRAME[["left", "job", "age"]].assign(more="?"), polars.from_pandas(FRAME)):
        np.testing.assert_array_equal(columns.encode(rows), expected)
    np.testing.assert_array_equal(columns.encode(FRAME.to_dict("list")), expected)
    assert columns.categorical == {1: 2}


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        (FRAME.drop(columns="job"), r"Columns \['job'\] are missing; rec"),
        (FRAME.assign(age="old"), "Expected numbers in column 'age'; received 'old'"),
        (FRAME.assign(job=3), "Expected strings in column 'job'; received 3"),
        (FRAME[:0], "same length, at least 1"),
        ({"age": [1], "job": ["a", "b"], "left": [True]}, "must have the same length"),
    ],
)
def test_other_rows_are_refused(rows, match):
    with pytest.raises(ValueError, match=match):
        Columns.of(FRAME).encode(rows)


NOON = datetime.datetime(2026, 11, 29, 13, 30)
#: A Sunday in November, by the days since 1970, weekday, month and hour.
ENCODED = [[20786, 6, 10, 13.5], [NAN] * 4]


class TestDates:
    @pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
    @pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame])
    def test_frames(self, make, zone):
        when = pandas.Series([NOON, None]).dt.tz_localize(zone)
        if make is polars.DataFrame:
            when = polars.Series([NOON, None]).dt.replace_time_zone(zone)
        columns = Columns.of(make({"a": [1, 2], "when": when}))
        assert columns.dates == (("when", ""),) and columns.categorical == {2: 7, 3: 12}
        assert columns.encoded_names == ["a", "when", "when: weekday", "when: month", "when: hour"]
        expected = np.column_stack([[1, 2], ENCODED])
        assert columns.width == expected.shape[1]
        np.testing.assert_array_equal(columns.encode({"a": [1, 2], "when": when}), expected)
        np.testing.assert_array_equal(expected.astype("float32"), expected)

    @pytest.mark.parametrize(
        ("dates", "value"),
        [
            ({}, "2026-11-29T13:30:00+05:00"),
            ({}, "2026-11-29 13:30"),
            ({}, np.datetime64(NOON)),
            ({"when": "%d.%m.%y %H.%M"}, "29.11.26 13.30"),
            ({"when": "%d.%m.%y %H.%M"}, pandas.Timestamp(NOON)),
        ],
    )
    def test_rows(self, dates, value):
        columns = Columns.of(pandas.DataFrame({"when": [value if dates else NOON]}), dates)
        for missing in (None, NAN, pandas.NaT):
            np.testing.assert_array_equal(columns.encode({"when": [value, missing]}), ENCODED)
        np.testing.assert_array_equal(columns.encode({"when": [NAN]}), ENCODED[1:])

    @given(st.datetimes(min_value=datetime.datetime(1000, 1, 1)))
    def test_parts_follow_the_calendar(self, when):
        expected = [when.toordinal() - 719163, when.weekday(), when.month - 1]
        ((*found, hour),) = Columns(("when",), (None,), (("when", ""),)).encode({"when": [when]})
        seconds = (when - when.replace(hour=0, minute=0, second=0, microsecond=0)).total_seconds()
        assert found == expected and hour == pytest.approx(seconds / 3600)

    @pytest.mark.parametrize(
        ("known", "form", "values", "match"),
        [
            (None, "", ["2026/11/29"], "'2026/11/29', .* Write dates such as 2026-11-29T14:30"),
            (None, "%d.%m.%Y", ["30.2.2026"], "'30.2.2026', .* in the format '%d.%m.%Y'"),
            (None, "", [3.0], "'a' has 3.0, which is not a date"),
            (None, None, [NOON], "Expected numbers in column 'a'; received datetime"),
            (("b",), None, [NOON], "Expected strings in column 'a'; received datetime"),
            (None, "", [NOON, "x"], "must be all numbers, all strings, all booleans"),
        ],
    )
    def test_what_is_refused(self, known, form, values, match):
        dates = () if form is None else (("a", form),)
        with pytest.raises(ValueError, match=match):
            Columns(("a",), (known,), dates).encode({"a": values})
