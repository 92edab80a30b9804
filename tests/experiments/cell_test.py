"""Cells of a grid and their data."""

import dataclasses

import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.experiments.cell import Cell
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.fitting.stage_cache import StageCache


class TestCell:
    def test_cost_matrices_do_not_depend_on_the_part_trained_on(self):
        whole, part = (
            Cell(DataSource("digits", train_size=size), "csdnn", 1000, csdl.Settings())
            for size in (None, 343)
        )
        np.testing.assert_array_equal(whole.matrix, part.matrix)

    def test_cost_scale(self):
        cell = Cell(DataSource("digits"), "csdnn", 1000, csdl.Settings())
        other = dataclasses.replace(cell, cost_scale=2000.0)
        np.testing.assert_allclose(other.matrix, 200 * cell.matrix)

    def test_drop_rate_and_grayscale(self):
        data = DataSource("digits", imbalanced=True, drop_rate=0.9).load()
        counts = np.sort(np.bincount(data.y_train_val))
        assert counts[3] < 0.15 * counts[4]
        gray = DataSource("digits", grayscale=True).load()
        assert gray.input_shape == (8, 8, 1)

    @pytest.mark.parametrize("rate", [-0.1, 1.1, np.nan])
    def test_wrong_drop_rate(self, rate):
        with pytest.raises(ValueError, match="Expected `drop_rate`"):
            DataSource("digits", drop_rate=rate)

    def test_stages_say_which_images_were_decided(self, tmp_path):
        cells = [
            Cell(source, "dnn_blind", 1000, csdl.Settings())
            for source in (DataSource("digits"), DataSource("digits", imbalanced=True))
        ]
        keys = {StageCache.key(cell.stages(tmp_path)["decisions"]) for cell in cells}
        assert len(keys) == 2


class TestDataSource:
    @pytest.mark.parametrize(
        ("text", "name", "imbalanced", "label"),
        [
            ("mnist", "mnist", False, "mnist"),
            ("mnist_imb", "mnist", True, "mnist_imb"),
            ("a/b:1.0.0_imb", "a/b:1.0.0", True, "a_b:1.0.0_imb"),
        ],
    )
    def test_parse(self, text, name, imbalanced, label):
        source = DataSource.parse(text, seed=3)
        assert (source.name, source.imbalanced, source.seed) == (name, imbalanced, 3)
        assert source.label == label
