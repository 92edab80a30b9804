import dataclasses

import numpy as np
import pytest

from csdl_keras.training import OBJECTIVES
from csdl_keras.training.algorithms import ALGORITHMS, PAPER_ALGORITHMS
from csdl_keras.training.data import Examples

ORDER = (
    "dnn_blind sdae_blind cnn_blind csosr min dnn_bayes sdae_bayes seae_bayes scae_bayes cnn_bayes "
    "dnn_sosr sdae_sosr seae_sosr csdnn cnn_sosr"
).split()
# The paper's Table 1, row by row.
TABLE1 = (
    "none X none none none none X E O none none X E O none".split(),
    "X X X O O X X X X X O O O O O".split(),
    "X X X X X O O O O O X X X X X".split(),
)


def test_table_1_comes_first():
    assert list(PAPER_ALGORITHMS) == ORDER == list(ALGORITHMS)[:15]
    assert [name for name, it in ALGORITHMS.items() if it.in_table2] == ORDER
    assert len({dataclasses.astuple(it)[2:] for it in ALGORITHMS.values()}) == len(ALGORITHMS)
    marks = zip(*(ALGORITHMS[name].awareness for name in ORDER), strict=True)
    assert tuple(map(list, marks)) == TABLE1


@pytest.mark.parametrize(
    "change,match",
    [
        ({"body": "rnn"}, "Expected `body` to be one of"),
        ({"prediction": "argmax"}, "Expected `prediction` to be one of .'argmin'.;"),
        ({"body": "cnn"}, "body='cnn' has no hidden Dense layers to pre-train"),
    ],
    ids=str,
)
def test_choices_that_do_not_fit(change, match):
    with pytest.raises(ValueError, match=match):
        dataclasses.replace(ALGORITHMS["csdnn"], **change)


@pytest.mark.parametrize("name", ["min", "sosr", "one_sided", "poisson", "logistic"])
def test_losses_see_costs_in_the_unit_of_their_objective(name):
    """The largest cost; of Poisson, whose costs may have a long tail, the mean of those above 0."""
    objective, matrix = OBJECTIVES[name], np.array([[0.0, 2], [6, 0]])
    unit = 4.0 if name == "poisson" else 6.0
    assert objective.unit_of(matrix) == unit and objective.unit_of(matrix, 8.0) in (4.0, 8.0)
    data = Examples(np.zeros((3, 1)), np.array([0, 1, 1]), None)
    loss = objective.compile_arguments(data, matrix, unit)["loss"]
    np.testing.assert_allclose(loss.get_config()["cost_matrix"], matrix / unit)
    of_examples = dataclasses.replace(data, costs=matrix[data.y])
    loss = objective.compile_arguments(of_examples, matrix, unit)["loss"]
    np.testing.assert_allclose(loss.cost_scale, 1 / unit)
