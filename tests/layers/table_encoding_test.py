"""Tests of the encoding of tables, by a literal loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csdl_keras.layers import TableEncoding
from csdl_keras.layers.table_encoding import FrameColumns
from tests.support.testing import TestCase, to_numpy

RNG = np.random.default_rng(0)


def encoded(layer, x):
    """What the layer computes, entry by entry."""
    rows = []
    for row in x:
        z, indicators, codes, places = [], [], [], []
        start, number = 0, 0
        for column, value in enumerate(row):
            known = not np.isnan(value)
            if column in layer.missing:
                indicators.append(float(not known))
            codes += [float(value == code) for code in range(layer.categories[column])]
            if not layer.categories[column]:
                one = (value - to_numpy(layer.means)[number]) * to_numpy(layer.factors)[number]
                z.append(one / np.sqrt(1 + one**2 / 9) if known else 0.0)
                number += 1
            for edge in range(start, start + layer.bins[column]):
                place = (value - to_numpy(layer.edges)[edge]) * to_numpy(layer.slopes)[edge]
                places.append(min(max(place, 0.0), 1.0) if known else 0.0)
            start += layer.bins[column]
        rows.append([*z, *indicators, *codes, *places])
    return np.array(rows)


class TestTableEncoding(TestCase):
    def table(self):
        x = np.stack([RNG.normal(size=400), RNG.integers(4, size=400), RNG.gamma(0.1, size=400)])
        x[:2, ::11] = np.nan
        return x.T

    def test_it_computes_what_a_loop_computes(self):
        x = self.table()
        layer = TableEncoding.adapted(x, [0, 4, 0], most_bins=7)
        found = to_numpy(layer(x))
        assert layer.bins == [7, 0, 7] and layer.missing == [0, 1]
        self.assertAllClose(found, encoded(layer, x.astype("float32")), atol=1e-4)

    def test_bins_hold_alike_many_examples(self):
        x = RNG.normal(size=(1000, 1)) ** 3
        layer = TableEncoding.adapted(x, most_bins=10)
        layer(x)
        edges = to_numpy(layer.edges)
        counts = np.histogram(x, [*edges, x.max()])[0]
        assert len(counts) == 10 and counts.min() >= 98 and counts.max() <= 102

    @settings(max_examples=30)
    @given(st.lists(st.floats(-1e18, 1e18), min_size=1, max_size=90))
    def test_outputs_are_bounded_whatever_is_in_a_column(self, values):
        x = np.array(values)[:, None]
        layer = TableEncoding.adapted(np.tile(x, (2, 1)), most_bins=4)
        found = to_numpy(layer(np.concatenate([x, [[0.0], [1e18], [-1e18], [np.nan]]])))
        assert np.all(np.abs(found) <= 3.001)

    @pytest.mark.parametrize("value", [np.nan, 7.0])
    def test_columns_without_information_become_zero(self, value):
        x = np.stack([np.full(50, value), RNG.normal(size=50)], axis=1)
        layer = TableEncoding.adapted(x)
        found = to_numpy(layer(np.array([[3.0, 0.0], [1e12, 0.0]])))
        assert not found[:, 0].any() and layer.bins[0] == 0


def test_earlier_versions_load_columns_without_dates():
    assert "dates" not in FrameColumns(["a"], [None]).get_config()
    config = FrameColumns(["a", 2], [["x"], None], [[2, ""]]).get_config()
    assert FrameColumns.from_config(config).columns.dates == ((2, ""),)
