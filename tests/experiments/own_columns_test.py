"""Columns of texts that are probably numbers or dates, and numbers that are infinite."""

import numpy as np
import pandas
import pytest

from csdl_keras.experiments.commands.sources import _inputs
from csdl_keras.experiments.own_columns import check_inputs
from tests.experiments.own_tables import FRAME, ROWS, source

NUMBERS = [str(20 + i % 9) for i in range(ROWS)]
DATES = [f"2020-01-{i % 28 + 1:02d}" for i in range(ROWS)]


def read(tmp_path, **columns):
    path = tmp_path / "table.csv"
    FRAME.assign(**columns).to_csv(path, index=False)
    return source(path).load()


@pytest.mark.parametrize(
    "texts, told",
    [
        (["?", *NUMBERS[1:]], ("Column 'age' holds 59 numbers and '?'",)),
        ([*"?-x/", *NUMBERS[4:]], ("Column 'age' holds 56 numbers and '?', '-', 'x', ...",)),
        ([f"1,{i:03d}.5" for i in range(ROWS)], ("Column 'age' holds 60 numbers as texts",)),
        (["-1e3", ".5", "?"] * 20, ()),
        (["nurse", "baker"] * 30, ()),
        ([None] * ROWS, ()),
        (pandas.Categorical(["?", *NUMBERS[1:]]), ("Column 'age' holds 59 numbers and '?'",)),
    ],
)
def test_numbers_among_texts(texts, told):
    assert check_inputs(pandas.DataFrame({"age": texts, "x": 1.0, "y": 2})) == told


def test_what_the_command_tells(tmp_path):
    told = _inputs(read(tmp_path, age=["?", *NUMBERS[1:]]))
    assert "3 columns of numbers, 2 of categories ('age', 'job')" in told
    assert told.endswith("1 with missing values. Column 'age' holds 59 numbers and '?'")


def test_many_columns_of_categories(tmp_path):
    many = read(tmp_path, **{f"c{i}": ["a", "b"] * 30 for i in range(9)})
    assert "'c5', 'c6', ...)" in _inputs(many)


@pytest.mark.parametrize("dates", [DATES, [f"{one}T10:00:00" for one in DATES], ["?", *DATES[1:]]])
def test_dates(dates, tmp_path):
    with pytest.raises(ValueError, match="no dates in column 'when'; received '2020-.*--drop when"):
        read(tmp_path, when=dates)


@pytest.mark.parametrize("number", [np.inf, -np.inf, 1e300])
def test_infinite_numbers(number, tmp_path):
    with pytest.raises(ValueError, match="up to 1e.38 in column 'age'; received .* in row 8"):
        read(tmp_path, age=np.where(np.arange(ROWS) == 7, number, FRAME.age))
