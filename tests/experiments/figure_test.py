import numpy as np
import pytest

from csdl_keras.experiments.comparison import plot_costs, summarise
from csdl_keras.training.algorithms import ALGORITHMS
from tests.experiments.results_test import make_result

image = pytest.importorskip("matplotlib.image")


def draw(path, results):
    plot_costs(summarise(results), results, "What decisions cost on digits", path)
    return image.imread(path)


def results_of(names, seeds=(1000, 1001)):
    return [
        make_result(name, seed, average_cost=1.0 + 0.1 * index + 0.3 * (seed - 1000))
        for index, name in enumerate(names)
        for seed in seeds
    ]


class TestPlotCosts:
    @pytest.mark.parametrize("names", [["csdnn"], ["dnn_blind", "csdnn"], list(ALGORITHMS)])
    @pytest.mark.parametrize("seeds", [(1000,), (1000, 1001)])
    def test_size(self, tmp_path, names, seeds):
        pixels = draw(tmp_path / "costs.png", results_of(names, seeds))
        height, width, _ = pixels.shape
        assert width == 1200
        assert 250 < height < 300 + 80 * len(names)

    def test_margins_are_white_and_bars_are_not_cut(self, tmp_path):
        pixels = draw(tmp_path / "costs.png", results_of(["dnn_blind", "dnn_bayes", "csdnn"]))
        ink = pixels[..., :3].min(axis=2) < 0.99
        assert 0.02 < ink.mean() < 0.7
        assert not ink[:2].any() and not ink[-2:].any()
        assert not ink[:, :2].any() and not ink[:, -2:].any()

    def test_one_colour_for_each_series(self, tmp_path):
        def colours(names):
            pixels = draw(tmp_path / "costs.png", results_of(names))[..., :3]
            common, counts = np.unique(
                np.rint(255 * pixels).astype(int).reshape(-1, 3), axis=0, return_counts=True
            )
            frequent = common[counts > 4000].tolist()
            return [colour for colour in frequent if len(set(colour)) > 1 or 0 < colour[0] < 255]

        assert len(colours(["csdnn", "dnn_sosr"])) == 1
        assert len(colours(["csdnn", "dnn_bayes"])) == 2
        assert len(colours(["csdnn", "dnn_bayes", "cnn_blind"])) == 3

    def test_a_cost_of_zero(self, tmp_path):
        pixels = draw(tmp_path / "costs.png", [make_result(average_cost=0.0)])
        assert pixels.shape[1] == 1200
