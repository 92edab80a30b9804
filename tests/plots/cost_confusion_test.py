import numpy as np
import pytest

from csdl_keras.costs import zero_one
from csdl_keras.evaluation import cost_report
from csdl_keras.plots import cost_confusion
from csdl_keras.plots.cost_confusion import confusion_table
from tests.plots.baseline_image import assert_like_baseline

MATRIX = np.array([[0.0, 1.0, 2.0, 0.5], [9.0, 0.0, 3.0, 0.5], [4.0, 7.0, 0.0, 0.5]])
Y_TRUE = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2])
DECISIONS = np.array([0, 0, 1, 1, 1, 0, 3, 2, 2, 1])


class TestCostConfusion:
    def test_cells(self):
        axes = cost_confusion(Y_TRUE, DECISIONS, MATRIX)
        counts, costs = confusion_table(Y_TRUE, DECISIONS, MATRIX)
        np.testing.assert_array_equal(axes.images[0].get_array(), costs)
        words = {text.get_position()[::-1]: text.get_text() for text in axes.texts}
        assert words[0, 0] == "2" and words[0, 1] == "1\n0.1" and words[1, 0] == "1\n0.9"
        assert words[1, 3] == "1\n0.05" and words[2, 1] == "1\n0.7" and words[1, 2] == "0"
        assert [
            int(words[cell].split("\n")[0]) for cell in np.ndindex(3, 4)
        ] == counts.ravel().tolist()

    def test_title_and_names(self):
        axes = cost_confusion(Y_TRUE, DECISIONS, MATRIX, decision_names=["a", "b", "c", "ask"])
        assert axes.get_title() == "average cost 1.75, error rate 33.3%, 10% for no class"
        assert axes.get_xticklabels()[3].get_text() == "ask"
        assert axes.figure.axes[1].get_ylabel() == "cost per example of the whole set"

    def test_zero_one_costs_are_the_error_rate(self):
        axes = cost_confusion(Y_TRUE, np.minimum(DECISIONS, 2), zero_one(3))
        assert axes.get_title() == "average cost 0.4, error rate 40%"

    def test_the_error_rate_is_that_of_the_report(self):
        (row,) = cost_report({"a": DECISIONS}, Y_TRUE, MATRIX).rows
        assert f"error rate {100 * row.error_rate:.3g}%" in (
            cost_confusion(Y_TRUE, DECISIONS, MATRIX).get_title()
        )
        assert cost_confusion(Y_TRUE, np.full(10, 3), MATRIX).get_title() == (
            "average cost 0.5, 100% for no class"
        )

    @pytest.mark.parametrize("classes", [2, 12, 13, 20])
    def test_text_fits_its_cell(self, classes):
        rng = np.random.default_rng(0)
        y_true, decisions = rng.integers(classes, size=(2, 5000))
        axes = cost_confusion(y_true, decisions, 0.01234 * zero_one(classes))
        axes.figure.canvas.draw()
        assert len(axes.texts) == (classes**2 if classes <= 12 else 0)
        corners = axes.transData.transform([(0, 0), (1, 1)])
        width, height = np.abs(corners[1] - corners[0])
        for text in axes.texts:
            assert text.get_window_extent().width < width
            assert text.get_window_extent().height < height

    @pytest.mark.parametrize("y_true, decisions", [([0, 5], [0, 0]), ([0, 1], [0, 4]), ([], [])])
    def test_refused(self, y_true, decisions):
        with pytest.raises(ValueError, match="Expected .*received"):
            cost_confusion(y_true, decisions, MATRIX)

    def test_image(self, tmp_path):
        assert_like_baseline(
            lambda ax: cost_confusion(Y_TRUE, DECISIONS, MATRIX, ax=ax), "cost_confusion", tmp_path
        )
