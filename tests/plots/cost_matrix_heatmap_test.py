import numpy as np
import pytest

from csdl_keras.costs import zero_one
from csdl_keras.plots import cost_matrix_heatmap
from tests.plots.drawn import ticks_of

MATRIX = np.array([[0.0, 1.0, 2.0, 0.5], [9.0, 0.0, 3.3333, 0.5], [1234.4, 7.0, 0.0, 0.5]])


def texts_of(axes):
    return {text.get_position()[::-1]: text for text in axes.texts}


class TestCostMatrixHeatmap:
    def test_cells(self):
        axes = cost_matrix_heatmap(MATRIX)
        np.testing.assert_array_equal(axes.images[0].get_array(), MATRIX)
        words = {cell: text.get_text() for cell, text in texts_of(axes).items()}
        assert [words[cell] for cell in np.ndindex(3, 4)] == (
            ["0", "1", "2", "0.5", "9", "0", "3.33", "0.5", "1,234", "7", "0", "0.5"]
        )

    def test_axes(self):
        axes = cost_matrix_heatmap(MATRIX, class_names=["cat", "dog", "cow"])
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("decision", "true class")
        assert ticks_of(axes.yaxis) == ["cat", "dog", "cow"]
        assert ticks_of(axes.xaxis) == ["cat", "dog", "cow", "3"]
        bar = axes.figure.axes[1]
        assert (bar.get_ylabel(), bar.get_ylim()) == ("cost", (0.0, MATRIX.max()))
        bottom, top = axes.get_ylim()
        assert bottom > top  # row 0 is on top

    @pytest.mark.parametrize("long, rotation", [("0123456789" * 3, 45.0), ("abstain", 0.0)])
    def test_long_names_are_slanted(self, long, rotation):
        axes = cost_matrix_heatmap(MATRIX, decision_names=["a", "b", "c", long])
        assert {tick.get_rotation() for tick in axes.get_xticklabels()} == {rotation}

    def test_text_contrasts_with_its_cell(self):
        text = texts_of(cost_matrix_heatmap([[0, 1], [9, 0]]))
        assert text[1, 0].get_color() == "white"
        assert text[0, 0].get_color() == text[0, 1].get_color() == "black"

    @pytest.mark.parametrize("classes", [2, 12, 13])
    def test_text_fits_its_cell(self, classes):
        axes = cost_matrix_heatmap(1234.0 * zero_one(classes))
        axes.figure.draw_without_rendering()
        assert len(axes.texts) == (classes**2 if classes <= 12 else 0)
        (left, _), (right, _) = axes.transData.transform([(0, 0), (1, 0)])
        assert all(text.get_window_extent().width < right - left for text in axes.texts)
        ticks = [tick.get_window_extent() for tick in axes.get_xticklabels()]
        assert all(first.x1 < second.x0 for first, second in zip(ticks, ticks[1:], strict=False))
