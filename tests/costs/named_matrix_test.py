"""Data frames of costs whose rows and columns are named."""

import numpy as np
import pandas
import polars
import pytest

from csdl_keras.costs.named_matrix import in_class_order

CLASSES = np.array(["hi", "lo", "mid"])
COSTS = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]])
NATURAL = ["lo", "mid", "hi"]
# The costs by their names, in the order of the classes.
SORTED = np.array([[0, 5, 6], [2, 0, 1], [4, 3, 0]])


def frame(rows=None, columns=None, costs=COSTS):
    return pandas.DataFrame(costs, index=rows, columns=columns)


@pytest.mark.parametrize(
    ("matrix", "classes", "expected"),
    [
        (frame(NATURAL, NATURAL), CLASSES, SORTED),
        (frame(NATURAL[::-1], NATURAL, COSTS[::-1]), CLASSES, SORTED),
        (frame(CLASSES, CLASSES), CLASSES, COSTS),
        (frame(), CLASSES, COSTS),
        (frame(columns=CLASSES), CLASSES, COSTS),
        (frame(CLASSES), CLASSES, COSTS),
        (frame([7, 8, 9], [7, 8, 9]), CLASSES, COSTS),
        (frame(), [2, 1, 0], COSTS),
        (frame([2, 0, 1], [1, 0, 2]), [0, 1, 2], COSTS),
        (frame(list("210"), list("210")), list("012"), COSTS[::-1, ::-1]),
        (frame([3, 2, 1], [3, 2, 1]), [1, 2, 3], COSTS[::-1, ::-1]),
        (frame([True, False], ["True", "False"], COSTS[:2, :2]), [False, True], [[0, 3], [1, 0]]),
        (polars.DataFrame(COSTS), CLASSES, COSTS),
        (polars.DataFrame(COSTS, schema=["hi", "lo", "mid"]), CLASSES, COSTS),
        (polars.DataFrame(COSTS, schema=["a", "b", "c"]), CLASSES, COSTS),
        (COSTS, CLASSES, COSTS),
        (frame(NATURAL, NATURAL), None, COSTS),
    ],
)
def test_names_of_classes_are_followed(matrix, classes, expected):
    np.testing.assert_array_equal(np.asarray(in_class_order(matrix, classes)), expected)


def test_other_decisions_come_last():
    matrix = frame(NATURAL, ["ask", *NATURAL], np.hstack([[[7], [8], [9]], COSTS]))
    expected = np.hstack([SORTED, [[9], [7], [8]]])
    np.testing.assert_array_equal(in_class_order(matrix, CLASSES), expected)


@pytest.mark.parametrize(
    ("matrix", "received"),
    [
        (frame(NATURAL, ["lo", "mid", "high"]), "columns .'lo', 'mid', 'high'. and the rows .'lo'"),
        (frame(["l", "m", "h"], NATURAL), "the rows .'l', 'm', 'h'."),
        (frame(columns=["a", "b", "c"]), "the columns .'a', 'b', 'c'."),
        (frame(columns=NATURAL), "the columns .'lo', 'mid', 'hi'."),
        (frame(NATURAL), "the rows .'lo', 'mid', 'hi'."),
        (polars.DataFrame(COSTS, schema=NATURAL), "'lo', 'mid', 'hi'., and no names of rows"),
    ],
)
def test_other_names_and_orders_are_refused(matrix, received):
    with pytest.raises(ValueError, match=rf"named \['hi', 'lo', 'mid'\].*received.*{received}"):
        in_class_order(matrix, CLASSES)
