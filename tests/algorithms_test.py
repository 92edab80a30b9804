import dataclasses

import pytest

from csdl_keras.algorithms import ALGORITHMS, Algorithm, get_algorithm

REQUIRED = (
    "dnn_blind dnn_bayes sdae_bayes dnn_sosr sdae_sosr csdnn cnn_blind cnn_bayes cnn_sosr".split()
)
PRETRAINING_OF_NAME = {"dnn": "none", "cnn": "none", "sdae": "dae", "seae": "seae", "scae": "cae"}
SERIES_OF_NAME = {"blind": "blind", "bayes": "Bayes", "sosr": "SOSR"}


class TestAlgorithms:
    def test_rows_of_the_paper(self):
        assert set(REQUIRED) <= set(ALGORITHMS)
        assert len({row.title for row in ALGORITHMS.values()}) == len(ALGORITHMS)
        choices = [dataclasses.astuple(row)[2:] for row in ALGORITHMS.values()]
        assert len(set(choices)) == len(choices)

    @pytest.mark.parametrize("name", ALGORITHMS)
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
            ({"body": "cnn"}, "Expected pretraining='none' for the convolutional"),
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
