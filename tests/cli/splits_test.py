"""Splits at random, by date, and by group."""

import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import csdl_keras as csdl
from csdl_keras_cli.choices import SHARES
from csdl_keras_cli.splits import split


def test_each_part_has_its_share_of_each_label():
    labels = np.repeat(["a", "b", "c"], [200, 50, 3])
    parts = csdl.datasets.split(labels, seed=0)
    assert list(parts) == ["train", "val", "test"]
    for name, rows in parts.items():
        share = SHARES[name]
        counts = [sum(labels[rows] == label) for label in "abc"]
        assert counts == [round(200 * share), round(50 * share), 1]
    again, other = split(labels, seed=0)["test"], split(labels, seed=1)["test"]
    np.testing.assert_array_equal(again, parts["test"])
    assert list(other) != list(again)


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 40), st.integers(0, 30)), min_size=30),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_parts_by_date_and_group(rows, dated, grouped):
    labels, dates, groups = np.array([*rows, (0, 0, 0), (1, 0, 0)] * 3).T
    by = [datetime.date(2026, 1, 1) + datetime.timedelta(int(it)) for it in dates]
    try:
        parts = split(labels, 0, by if dated else None, groups if grouped else None)
    except ValueError as error:  # Few dates or groups, or all of a label are the latest.
        assert dated or grouped
        assert "Split in another way" in str(error) or "at least 5" in str(error)
        return
    assert sorted(np.concatenate([*parts.values()])) == list(range(len(labels)))
    assert {*labels[parts["train"]]} == {0, 1}
    assert all(list(found) == sorted(found) and len(found) for found in parts.values())
    if grouped:
        own = [{*groups[found].tolist()} for found in parts.values()]
        assert sum(map(len, own)) == len(set.union(*own))
    if dated:
        last = {it: max(dates[groups == it]) for it in groups.tolist()} if grouped else {}
        times = [last.get(group, date) for group, date in zip(groups.tolist(), dates, strict=True)]
        train, val, test = (np.array(times)[found] for found in parts.values())
        assert train.max() < val.min() and val.max() < test.min()
        assert len(train) >= 0.6 * len(labels) - 1e-9


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"by": [*range(11), None]}, r"`by` must have a value for each of 12 .* with 1 missing"),
        ({"by": ["3/1/2020", "12/1/2019"] * 6}, "`by` must be dates or numbers; received '3/1/"),
        ({"by": [1] * 12}, r"split has an empty part \(12 train, 0 val, 0 test examples\)"),
        ({"by": range(12), "y": [0] * 9 + [1] * 3}, "training set lacks a label"),
        ({"groups": ["a", "b", "c", "d"] * 3}, "at least 5 groups; received 4"),
    ],
)
def test_what_is_refused(arguments, told):
    with pytest.raises(ValueError, match=told):
        split(**{"y": [0, 1] * 6, **arguments})


def test_a_rare_label_may_be_in_one_group_without_a_warning():
    labels = [0, 1] * 20 + [2] * 2
    for seed in range(9):
        try:
            parts = split(labels, seed, groups=np.arange(42) // 2)
        except ValueError as error:
            assert "training set lacks a label" in str(error)
            continue
        assert {40, 41} <= {*parts["train"]}
