import pytest

from csdl_keras.experiments.reporting.paper import paper_table2
from csdl_keras.training.algorithms import PAPER_ALGORITHMS

COSTS, ERRORS = 354.27, 14.153
SETS = ("mnist", "bg_img_rot", "svhn", "cifar10")


class TestPaperTable2:
    def test_every_cell_is_there(self):
        expected = {(d, i, a) for d in SETS for i in (False, True) for a in PAPER_ALGORITHMS}
        assert set(paper_table2()) == expected
        assert len(expected) == 120

    @pytest.mark.parametrize(
        "key, text",
        [
            (("mnist", False, "dnn_blind"), "0.11 ± 0.00"),
            (("mnist", False, "min"), "0.10 ± 0.003"),
            (("bg_img_rot", False, "scae_bayes"), "2.54 ± 0.07"),
            (("svhn", False, "cnn_sosr"), "0.82 ± 0.03"),
            (("cifar10", False, "csosr"), "3.30 ± 0.04"),
            (("mnist", True, "sdae_sosr"), "0.20 ± 0.01"),
            (("bg_img_rot", True, "dnn_blind"), "15.9 ± 0.70"),
            (("svhn", True, "seae_bayes"), "0.34 ± 0.01"),
            (("cifar10", True, "cnn_sosr"), "6.63 ± 0.08"),
        ],
    )
    def test_cells(self, key, text):
        assert str(paper_table2()[key]) == text

    def test_bold_cells(self):
        bold = {key for key, figure in paper_table2().items() if figure.bold}
        always = {(d, i, "csdnn") for d in SETS for i in (False, True)}
        assert always < bold
        assert bold - always == {
            *(("mnist", False, name) for name in ("sdae_bayes", "cnn_bayes", "cnn_sosr")),
            ("bg_img_rot", False, "cnn_sosr"),
            ("svhn", False, "cnn_bayes"),
            ("svhn", False, "cnn_sosr"),
            ("cifar10", False, "cnn_sosr"),
            *(("mnist", True, name) for name in ("scae_bayes", "cnn_bayes", "cnn_sosr")),
            ("bg_img_rot", True, "cnn_bayes"),
            ("bg_img_rot", True, "cnn_sosr"),
        }

    def test_the_paper_s_lowest_is_bold_and_blind_rows_never_are(self):
        for dataset in SETS:
            for imbalanced in (False, True):
                column = {a: paper_table2()[dataset, imbalanced, a] for a in PAPER_ALGORITHMS}
                lowest = min(column.values(), key=lambda figure: float(figure.cost))
                assert lowest.bold
                assert not any(column[f"{n}_blind"].bold for n in ("dnn", "sdae", "cnn"))

    def test_sums(self):
        # A digit mistaken anywhere would move the sums of the printed table.
        figures = paper_table2().values()
        assert sum(float(figure.cost) for figure in figures) == pytest.approx(COSTS)
        assert sum(float(figure.standard_error) for figure in figures) == pytest.approx(ERRORS)
