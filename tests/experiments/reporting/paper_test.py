import pytest

from csdl_keras.experiments.reporting.paper import paper_table2
from csdl_keras.training.algorithms import PAPER_ALGORITHMS

SETS = ("mnist", "bg_img_rot", "svhn", "cifar10")


class TestPaperTable2:
    def test_every_cell_is_there(self):
        figures = paper_table2()
        assert set(figures) == {
            (d, i, a) for d in SETS for i in (False, True) for a in PAPER_ALGORITHMS
        }
        # A digit mistaken anywhere would move the sums of the printed table.
        assert sum(float(figure.cost) for figure in figures.values()) == pytest.approx(354.27)
        errors = sum(float(figure.standard_error) for figure in figures.values())
        assert errors == pytest.approx(14.153)

    def test_cells(self):
        figures = paper_table2()
        assert str(figures["mnist", False, "min"]) == "0.10 ± 0.003"
        assert str(figures["bg_img_rot", True, "dnn_blind"]) == "15.9 ± 0.70"
        assert str(figures["svhn", False, "cnn_sosr"]) == "0.82 ± 0.03"
        assert str(figures["cifar10", True, "cnn_sosr"]) == "6.63 ± 0.08"

    def test_bold_cells(self):
        expected = {(d, i, "csdnn") for d in SETS for i in (False, True)} | {
            *((name, False, "cnn_sosr") for name in SETS),
            *((name, False, "cnn_bayes") for name in ("mnist", "svhn")),
            *((name, True, "cnn_sosr") for name in ("mnist", "bg_img_rot")),
            *((name, True, "cnn_bayes") for name in ("mnist", "bg_img_rot")),
            ("mnist", False, "sdae_bayes"),
            ("mnist", True, "scae_bayes"),
        }
        assert {key for key, figure in paper_table2().items() if figure.bold} == expected
