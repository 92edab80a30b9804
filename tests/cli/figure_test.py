import numpy as np
import pytest
from csdl_keras.experiments.comparison import plot_costs
from csdl_keras.experiments.summaries import summarise

from csdl_keras.training.algorithms import ALGORITHMS
from tests.experiments.results_test import make_result

image = pytest.importorskip("matplotlib.image")


@pytest.fixture
def draw(tmp_path):
    """A function from the names of algorithms to the pixels of their figure."""

    def draw(names, seeds=(1000, 1001)):
        results = [
            make_result(name, seed, 0.1 * index + 0.3 * (seed - 1000))
            for index, name in enumerate(names)
            for seed in seeds
        ]
        plot_costs(summarise(results), results, "Costs on digits", tmp_path / "costs.png")
        return image.imread(tmp_path / "costs.png")[..., :3]

    return draw


class TestPlotCosts:
    @pytest.mark.parametrize("names", [["csdnn"], list(ALGORITHMS)])
    def test_size_and_margins(self, draw, names):
        pixels = draw(names, (1000,))  # the first cost is 0
        assert pixels.shape[1] == 1200
        assert 250 < pixels.shape[0] < 300 + 80 * len(names)
        ink = pixels.min(axis=2) < 0.99
        assert 0.02 < ink.mean() < 0.7
        assert not ink[:2].any() and not ink[-2:].any()
        assert not ink[:, :2].any() and not ink[:, -2:].any()

    @pytest.mark.parametrize(
        "names, number",
        [
            (["csdnn", "dnn_sosr"], 1),
            (["csdnn", "dnn_bayes", "cnn_blind"], 3),
            (["cost_model", "min", "calibrated_bayes", "ensemble_bayes"], 3),
        ],
    )
    def test_one_colour_for_each_series(self, draw, names, number):
        codes = np.rint(255 * draw(names)).astype(int) @ [65536, 256, 1]
        common, counts = np.unique(codes, return_counts=True)
        assert len(set(common[counts > 4000]) - {0, 0xFFFFFF}) == number
