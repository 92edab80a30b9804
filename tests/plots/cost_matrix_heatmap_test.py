import numpy as np
import pytest

from csdl_keras.costs import zero_one
from csdl_keras.plots import cost_matrix_heatmap
from tests.plots.baseline_image import assert_like_baseline

MATRIX = np.array([[0.0, 1.0, 2.0, 0.5], [9.0, 0.0, 3.3333, 0.5], [1234.4, 7.0, 0.0, 0.5]])


def texts_of(axes):
    return {(text.get_position()[1], text.get_position()[0]): text for text in axes.texts}


class TestCostMatrixHeatmap:
    def test_cells(self):
        axes = cost_matrix_heatmap(MATRIX)
        np.testing.assert_array_equal(axes.images[0].get_array(), MATRIX)
        words = {cell: text.get_text() for cell, text in texts_of(axes).items()}
        assert len(words) == 12
        assert words[1, 0] == "9" and words[0, 1] == "1" and words[0, 3] == "0.5"
        assert words[1, 2] == "3.33" and words[2, 0] == "1234"

    def test_axes(self):
        axes = cost_matrix_heatmap(MATRIX)
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("decision", "true class")
        assert [tick.get_text() for tick in axes.get_yticklabels()] == ["0", "1", "2"]
        assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0", "1", "2", "3"]
        bar = axes.figure.axes[1]
        assert bar.get_ylabel() == "cost"
        assert bar.get_ylim() == (0.0, MATRIX.max())

    def test_row_0_is_on_top(self):
        bottom, top = cost_matrix_heatmap(MATRIX).get_ylim()
        assert bottom > top

    def test_names(self):
        axes = cost_matrix_heatmap(MATRIX, class_names=["cat", "dog", "cow"])
        assert [tick.get_text() for tick in axes.get_yticklabels()] == ["cat", "dog", "cow"]
        decisions = [tick.get_text() for tick in axes.get_xticklabels()]
        assert decisions == ["cat", "dog", "cow", "3"]

    @pytest.mark.parametrize(
        "long, rotation", [("0123456789012345678901234567", 45.0), ("abstain", 0.0)]
    )
    def test_long_names_are_slanted(self, long, rotation):
        axes = cost_matrix_heatmap(MATRIX, decision_names=["a", "b", "c", long])
        assert {tick.get_rotation() for tick in axes.get_xticklabels()} == {rotation}

    def test_text_contrasts_with_its_cell(self):
        text = texts_of(cost_matrix_heatmap([[0, 1], [9, 0]]))
        assert text[1, 0].get_color() == "white"
        assert text[0, 0].get_color() == text[0, 1].get_color() == "black"

    @pytest.mark.parametrize("classes", [2, 3, 5, 12, 13, 20])
    def test_text_fits_its_cell(self, classes):
        axes = cost_matrix_heatmap(1234.0 * zero_one(classes))
        axes.figure.canvas.draw()
        assert len(axes.texts) == (classes**2 if classes <= 12 else 0)
        (left, _), (right, _) = axes.transData.transform([(0, 0), (1, 0)])
        assert all(text.get_window_extent().width < right - left for text in axes.texts)
        ticks = [tick.get_window_extent() for tick in axes.get_xticklabels()]
        assert all(first.x1 < second.x0 for first, second in zip(ticks, ticks[1:], strict=False))

    def test_nothing_costs_anything(self):
        axes = cost_matrix_heatmap(np.zeros((2, 2)))
        axes.figure.canvas.draw()
        assert {text.get_color() for text in axes.texts} == {"black"}

    @pytest.mark.parametrize("matrix", [[[0, -1], [1, 0]], [[1, 1], [1, 0]], [[0, 1]], [0, 1]])
    def test_refused(self, matrix):
        with pytest.raises(ValueError, match="Expected .*received"):
            cost_matrix_heatmap(matrix)

    def test_image(self, tmp_path):
        matrix = np.minimum(MATRIX, 12.0)
        assert_like_baseline(
            lambda ax: cost_matrix_heatmap(matrix, ax=ax), "cost_matrix_heatmap", tmp_path
        )
