import dataclasses

import pytest

from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.algorithms import ALGORITHMS, PAPER_ALGORITHMS, get_algorithm

ORDER = (
    "dnn_blind sdae_blind cnn_blind csosr min dnn_bayes sdae_bayes seae_bayes scae_bayes cnn_bayes "
    "dnn_sosr sdae_sosr seae_sosr csdnn cnn_sosr"
).split()
# The paper's Table 1, row by row.
TABLE1 = {
    "pretraining": "none X none none none none X E O none none X E O none".split(),
    "training": "X X X O O X X X X X O O O O O".split(),
    "prediction": "X X X X X O O O O O X X X X X".split(),
}
PRETRAINING_OF_NAME = {"dnn": "none", "cnn": "none", "sdae": "dae", "seae": "seae", "scae": "cae"}
SERIES_OF_NAME = {"blind": "blind", "bayes": "Bayes", "sosr": "SOSR"}


class TestAlgorithms:
    def test_rows_of_the_paper(self):
        assert list(PAPER_ALGORITHMS) == ORDER == list(ALGORITHMS)[:15]
        assert len({row.title for row in ALGORITHMS.values()}) == len(ALGORITHMS)
        choices = [dataclasses.astuple(row)[2:] for row in ALGORITHMS.values()]
        assert len(set(choices)) == len(choices)

    def test_awareness_is_the_table_of_the_paper(self):
        marks = zip(*(row.awareness for row in map(get_algorithm, ORDER)), strict=True)
        assert dict(zip(TABLE1, map(list, marks), strict=True)) == TABLE1

    def test_alias(self):
        assert ALGORITHMS["scae_sosr"] is ALGORITHMS["csdnn"] is get_algorithm("scae_sosr")
        assert "scae_sosr" in ALGORITHMS and "scae_sosr" not in list(ALGORITHMS)
        with pytest.raises(KeyError):
            ALGORITHMS["scae"]

    def test_extra_rows_are_not_of_the_paper(self):
        extra = [name for name, row in ALGORITHMS.items() if not row.in_table2]
        assert extra == [name for name in ALGORITHMS if name not in ORDER]
        assert {"calibrated_bayes", "ensemble_bayes", "cost_model", "dnn_weighted"} <= set(extra)

    @pytest.mark.parametrize("name", [name for name in ORDER if name not in ("csosr", "min")])
    def test_a_row_is_what_its_name_says(self, name):
        row = ALGORITHMS[name]
        assert row.name == name
        assert row.title.lower().replace(" ", "_") == name
        family, _, series = ("scae_sosr" if name == "csdnn" else name).partition("_")
        assert row.body == ("cnn" if family == "cnn" else "mlp")
        assert row.pretraining == PRETRAINING_OF_NAME[family]
        assert row.series == SERIES_OF_NAME[series]
        assert row.output == ("cost" if series == "sosr" else "probability")

    @pytest.mark.parametrize(
        "change,match",
        [
            ({"body": "rnn"}, "Expected `body` to be one of"),
            ({"pretraining": "rbm"}, "Expected `pretraining` to be one of"),
            ({"training": "mse"}, "Expected `training` to be one of"),
            ({"prediction": "vote"}, "Expected `prediction` to be one of"),
            ({"prediction": "argmax"}, "Expected `prediction` to be one of .'argmin'.;"),
            ({"training": "nll"}, "one of .'argmax', 'bayes'.; received 'argmin'"),
            ({"body": "cnn"}, "Expected pretraining='none' for body='cnn'"),
            ({"pretraining": "none", "body": "svm"}, "body='svm' and training='one_sided_svm' tog"),
            ({"pretraining": "none", "training": "one_sided_svm"}, "together; received 'mlp'"),
        ],
        ids=str,
    )
    def test_choices_that_do_not_fit(self, change, match):
        with pytest.raises(ValueError, match=match):
            dataclasses.replace(ALGORITHMS["csdnn"], **change)

    def test_get_algorithm(self):
        assert get_algorithm("csdnn") is ALGORITHMS["csdnn"]
        mine = Algorithm("mine", "Mine", "cnn", "none", "sosr", "argmin")
        assert get_algorithm(mine) is mine

    @pytest.mark.parametrize("wrong", ["CSDNN", "dnn", "", None, 3])
    def test_unknown_names(self, wrong):
        with pytest.raises(ValueError) as caught:
            get_algorithm(wrong)
        assert all(repr(name) in str(caught.value) for name in ALGORITHMS)
        assert repr(wrong) in str(caught.value)
