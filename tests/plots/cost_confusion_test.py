import hypothesis
import numpy as np
from hypothesis import strategies as st

from csdl_keras.plots import cost_confusion
from csdl_keras.plots.heatmap import confusion_table

MATRIX = np.array([[0.0, 1.0, 2.0, 0.5], [9.0, 0.0, 3.0, 0.5], [4.0, 7.0, 0.0, 0.5]])
Y_TRUE = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2])
DECISIONS = np.array([0, 0, 1, 1, 1, 0, 3, 2, 2, 1])


class TestConfusionTable:
    @hypothesis.settings(max_examples=40)
    @hypothesis.given(st.integers(2, 5), st.integers(0, 2), st.integers(1, 30), st.integers(0, 99))
    def test_against_a_literal_loop(self, classes, extra, size, seed):
        rng = np.random.default_rng(seed)
        matrix = rng.uniform(0.1, 9.0, size=(classes, classes + extra))
        np.fill_diagonal(matrix, 0.0)
        y_true = rng.integers(classes, size=size)
        decisions = rng.integers(classes + extra, size=size)
        counts, costs = confusion_table(y_true, decisions, matrix)
        expected = np.zeros(matrix.shape, int)
        for cell in zip(y_true, decisions, strict=True):
            expected[cell] += 1
        np.testing.assert_array_equal(counts, expected)
        np.testing.assert_allclose(costs, expected * matrix / size)


class TestCostConfusion:
    def test_cells_title_and_names(self):
        axes = cost_confusion(Y_TRUE, DECISIONS, MATRIX, decision_names=["a", "b", "c", "ask"])
        _, costs = confusion_table(Y_TRUE, DECISIONS, MATRIX)
        np.testing.assert_array_equal(axes.images[0].get_array(), costs)
        words = {text.get_position()[::-1]: text.get_text() for text in axes.texts}
        assert [words[cell] for cell in np.ndindex(3, 4)] == (
            ["2", "1\n0.1", "0", "0", "1\n0.9", "2", "0", "1\n0.05", "0", "1\n0.7", "2", "0"]
        )
        assert axes.get_title() == "average cost 1.75, error rate 33.3%, 10% for no class"
        assert axes.get_xticklabels()[3].get_text() == "ask"
        assert axes.figure.axes[1].get_ylabel() == "cost per example of the whole set"

    def test_one_scale_for_several(self):
        with_vmax = cost_confusion(Y_TRUE, DECISIONS, MATRIX, label="Bayes", vmax=1.0)
        assert with_vmax.get_title() == (
            "Bayes\naverage cost 1.75, error rate 33.3%, 10% for no class"
        )
        assert with_vmax.images[0].get_clim() == (0.0, 1.0)
        assert with_vmax.figure.axes[1].get_ylim() == (0.0, 1.0)
        # White text on the darkest colour alone.
        assert {text.get_color() for text in with_vmax.texts} == {"black", "white"}
        lower = cost_confusion(Y_TRUE, DECISIONS, MATRIX, vmax=0.5)
        assert lower.images[0].get_clim() == (0.0, 0.5)
        assert lower.images[0].colorbar.extend == "max"
        assert with_vmax.images[0].colorbar.extend == "neither"
