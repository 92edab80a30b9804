"""Costs with names are taken by value, in the order of the classes, never by position."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

import csdl_keras as csdl
from csdl_keras.costs.named_matrix import by_class
from csdl_keras.costs.priors import class_shares

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
        (frame(), CLASSES, COSTS),
        (frame(), [2, 1, 0], COSTS),
        (frame(columns=[2, 0, 1]), [0, 1, 2], COSTS[:, [1, 2, 0]]),
        (frame([2.0, 0.0, 1.0], np.array([2, 0, 1])), [0, 1, 2], COSTS[[1, 2, 0]][:, [1, 2, 0]]),
        (frame(pandas.Categorical(NATURAL), NATURAL), CLASSES, SORTED),
        (frame(pandas.Index(NATURAL, dtype="string[pyarrow]"), NATURAL), CLASSES, SORTED),
        (polars.DataFrame(COSTS, schema=["hi", "lo", "mid"]), CLASSES, COSTS),
        (pyarrow.table(dict(zip(CLASSES, COSTS.T, strict=True))), CLASSES, COSTS),
        (COSTS, CLASSES, COSTS),
        (frame(CLASSES, CLASSES), None, COSTS),
        (frame(), None, COSTS),
    ],
)
def test_names_of_classes_are_followed(matrix, classes, expected):
    np.testing.assert_array_equal(by_class("c", matrix, "", classes), expected)


@pytest.mark.parametrize(
    "matrix",
    [
        frame(NATURAL, ["lo", "mid", "high"]),
        frame(columns=NATURAL),
        frame(NATURAL),
        frame(["lo", "lo", "hi"], NATURAL),
        frame([0, 1, 2], [0, 1, 2]),
        polars.DataFrame(COSTS, schema=NATURAL),
        pyarrow.table(dict(zip(NATURAL, COSTS.T, strict=True))),
    ],
)
def test_other_names_and_orders_are_refused(matrix):
    with pytest.raises(
        ValueError, match=r"`c` has the .*classes are \['hi', 'lo', 'mid'\].*to_num"
    ):
        by_class("c", matrix, "", CLASSES)


@pytest.mark.parametrize(
    "matrix",
    [
        frame(NATURAL, NATURAL),
        frame(columns=NATURAL),
        frame([0, 1, "2"], [0, 1, "2"]),
        frame(["a", "b", "c"], ["x", "y", "z"]),
        polars.DataFrame(COSTS, schema=NATURAL),
        pyarrow.table(dict(zip(NATURAL, COSTS.T, strict=True))),
    ],
)
def test_an_order_that_nothing_tells_is_refused(matrix):
    with pytest.raises(ValueError, match="may not be the order of the classes"):
        by_class("c", matrix, "")


KINDS = {
    "integers": [0, 1, 2, 3, 4],
    "from 1": [1, 2, 3, 4, 5],
    "strings": ["b", "a", "d", "c", "e"],
    "numbers as strings": ["0", "1", "10", "2", "3"],
    "booleans": [False, True],
    "floats": [0.5, 1.0, 2.0, 7.25, 1e6],
}


@given(data=st.data())
def test_random_frames_against_a_lookup_by_name(data):
    """The reference knows lists and dicts of Python alone."""
    kind = data.draw(st.sampled_from(sorted(KINDS)))
    names = KINDS[kind][: data.draw(st.integers(2, len(KINDS[kind])))]
    classes = data.draw(st.permutations(names))
    extra = data.draw(st.sampled_from([[], ["ask"], ["ask", "wait"]]))
    price = {
        (y, k): 0 if y == k else 1 + 10 * i + j
        for i, y in enumerate(names)
        for j, k in enumerate([*names, *extra])
    }
    rows = data.draw(st.permutations(names))
    columns = data.draw(st.permutations([*names, *extra]))
    table = [[price[y, k] for k in columns] for y in rows]
    others = [k for k in columns if k in extra]
    made = data.draw(st.sampled_from(["list", "object", "array"]))
    if made == "list" or extra:
        given_frame = pandas.DataFrame(table, index=rows, columns=columns)
    elif made == "object":
        index = [pandas.Index(axis, dtype=object) for axis in (rows, columns)]
        given_frame = pandas.DataFrame(table, *index)
    else:
        given_frame = pandas.DataFrame(table, np.array(rows), np.array(columns))
    expected = [[price[y, k] for k in [*classes, *others]] for y in classes]
    np.testing.assert_array_equal(by_class("c", given_frame, "", classes), expected)
    in_order = rows == sorted(names) and columns[: len(names)] == rows
    if in_order:
        np.testing.assert_array_equal(by_class("c", given_frame, ""), table)
    else:
        with pytest.raises(ValueError, match="may not be the order"):
            by_class("c", given_frame, "")


# Everything that takes costs of classes, without knowing their labels.
F = frame([0, 1, 2], [0, 1, 2]).loc[[2, 0, 1], [2, 0, 1]]
Y, D = [0, 1, 2, 1], [1, 1, 0, 2]
P = np.full((4, 3), 1 / 3)
BLIND = {
    "average_cost": lambda c: csdl.evaluation.average_cost(Y, D, c),
    "cost_report": lambda c: csdl.evaluation.cost_report({"m": D}, Y, c),
    "cost_report of amounts": lambda c: csdl.evaluation.cost_report({"m": D}, Y, amounts=c),
    "compare_costs": lambda c: csdl.evaluation.compare_costs(Y, D, Y, c),
    "cost_interval": lambda c: csdl.evaluation.cost_interval(Y, D, c),
    "risk_coverage_area": lambda c: csdl.evaluation.risk_coverage_area(Y, P, c),
    "cost_per_class": lambda c: csdl.evaluation.cost_per_class(Y, D, c),
    "savings": lambda c: csdl.evaluation.savings(Y, D, c),
    "error_rate": lambda c: csdl.evaluation.error_rate(Y, D, c),
    "bayes_decisions": lambda c: csdl.bayes_decisions(P, c),
    "cost_vectors": lambda c: csdl.costs.cost_vectors(c, Y),
    "check_cost_matrix": csdl.costs.check_cost_matrix,
    "check_mean_costs": csdl.costs.check_mean_costs,
    "regret": csdl.costs.regret,
    "with_abstain": lambda c: csdl.costs.with_abstain(c, 1),
    "convert": lambda c: csdl.costs.convert(c, "true_decision"),
    "AffineCosts": lambda c: csdl.costs.AffineCosts([1.0] * 4, c),
    "fixed": lambda c: csdl.costs.AffineCosts([1.0] * 4, COSTS, c),
    "SOSRLoss": lambda c: csdl.SOSRLoss(cost_matrix=c),
    "AverageCost": lambda c: csdl.AverageCost(cost_matrix=c),
    "BayesDecision": csdl.BayesDecision,
    "bayes_classifier": lambda c: csdl.bayes_classifier(csdl.models.mlp((2,), 3, (2,)), c),
    "decide": lambda c: csdl.decide(csdl.models.mlp((2,), 3, (2,)), np.zeros((4, 2)), costs=c),
    "pretrain": lambda c: csdl.pretrain(csdl.models.mlp((2,), 3, (2,)), P[:, :2], Y, cost_matrix=c),
    "confusion": lambda c: csdl.plots.cost_confusion(Y, D, c),
}


@pytest.mark.parametrize("name", BLIND)
def test_no_function_takes_names_by_position(name):
    with pytest.raises(ValueError, match=r"rows \[2, 0, 1\]|columns \[2, 0, 1\]"):
        BLIND[name](F)


def test_labels_that_are_given_decide_the_order():
    matrix = F.sort_index(axis=0).sort_index(axis=1).to_numpy()
    expected = np.mean([matrix[y, d] for y, d in zip(Y, D, strict=True)])
    names = np.array(["x", "y", "z"])
    named = frame(names[[2, 0, 1]], names[[2, 0, 1]], F.to_numpy())
    for costs, classes, y, d in [
        (F, [0, 1, 2], Y, D),
        (named, names, names[Y], names[D]),
        (named, list(names), pandas.Series(names[Y]), D),
        (named.loc[::-1, ::-1], names, pandas.array(names[Y], "string"), polars.Series(names[D])),
        (named, names, pyarrow.array(names[Y].tolist()), pandas.Categorical(names[D])),
    ]:
        assert csdl.evaluation.average_cost(y, d, costs, classes=classes) == expected
        report = csdl.evaluation.cost_report({"m": d}, y, costs, classes=classes)
        assert report.rows[0].average_cost == expected
    chosen = csdl.bayes_decisions(P, named, classes=names)
    np.testing.assert_array_equal(chosen, csdl.bayes_decisions(P, matrix))


def test_probabilities_with_names():
    rows = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    given_frame = pandas.DataFrame(rows, columns=NATURAL)
    right = csdl.bayes_decisions(rows[:, [2, 0, 1]], SORTED)
    found = csdl.bayes_decisions(given_frame, frame(NATURAL, NATURAL), classes=CLASSES)
    np.testing.assert_array_equal(found, right)
    for function in (
        lambda p: csdl.bayes_decisions(p, SORTED),
        lambda p: csdl.adjust_priors(p, [1, 1, 1], [1, 2, 3]),
        lambda p: csdl.evaluation.calibration_error([0, 1], p),
        lambda p: csdl.evaluation.estimate_priors(p, [1, 1, 1]),
    ):
        with pytest.raises(ValueError, match="may not be the order"):
            function(given_frame)


def test_counts_of_classes_in_the_order_of_their_size():
    labels = pandas.Series(["b", "c", "b", "a", "b", "c"])
    counts = labels.value_counts()
    assert list(counts.index) == ["b", "c", "a"]
    shares = class_shares("from_priors", counts, classes=["a", "b", "c"])
    np.testing.assert_allclose(shares, [1 / 6, 3 / 6, 2 / 6])
    with pytest.raises(ValueError, match=r"`from_priors` has the index \['b', 'c', 'a'\]"):
        csdl.adjust_priors(P, counts, [1, 1, 1])
    adjusted = csdl.adjust_priors(P, counts, [1, 1, 1], classes=["a", "b", "c"])
    expected = csdl.adjust_priors(P, [1, 3, 2], [1, 1, 1])
    np.testing.assert_array_equal(adjusted, expected)


def test_prices_follow_the_names_of_the_matrix():
    prices = pandas.Series({"mid": 3.0, "hi": 1.0, "lo": 2.0})
    found = csdl.costs.with_abstain(frame(CLASSES, CLASSES), prices)
    np.testing.assert_array_equal(found[:, -1], [1, 2, 3])


def test_cost_vectors_with_names_of_decisions():
    vectors = pandas.DataFrame([[0, 1, 2], [3, 0, 4]], columns=NATURAL)
    found = csdl.costs.check_cost_vectors(vectors, classes=CLASSES)
    np.testing.assert_array_equal(found, [[2, 0, 1], [4, 3, 0]])
    with pytest.raises(ValueError, match="may not be the order"):
        csdl.costs.check_cost_vectors(vectors)
