"""What the estimator refuses before it trains anything, and how it divides examples."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import csdl_keras as csdl
from csdl_keras.sklearn import CostSensitiveClassifier
from csdl_keras.sklearn._training import validation_split
from tests.sklearn.fitted import MATRIX, X, Y, estimator

CASES = settings(max_examples=200)
WRONG = st.sampled_from([-1.0, -1e-9, np.nan, np.inf, -np.inf])


@pytest.fixture(autouse=True, scope="module")
def no_training():
    """Fails whatever begins to train."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keras.Model, "fit", lambda *args, **kwargs: pytest.fail("trained"))
        yield


@CASES
@given(
    st.text(max_size=12).filter(lambda name: name not in csdl.ALGORITHMS)
    | st.sampled_from([None, 3, 0.5, ("csdnn",), b"csdnn"])
)
def test_unknown_algorithms(name):
    with pytest.raises(ValueError, match="Expected `algorithm` to be one of"):
        CostSensitiveClassifier(name).fit(X, Y)
    assert not hasattr(CostSensitiveClassifier(name), "predict_proba")


@CASES
@given(st.booleans(), WRONG, st.integers(0, 2), st.integers(1, 2))
def test_costs_that_are_negative_or_not_finite(own, value, row, column):
    matrix, costs = None, None
    if own:
        costs = np.ones((90, 3))
        costs[row, column] = value
    else:
        matrix = MATRIX.copy()
        matrix[row, (row + column) % 3] = value
    with pytest.raises(ValueError, match="Expected every entry of `cost"):
        estimator(cost_matrix=None).fit(X, Y, matrix, costs)


@CASES
@given(st.booleans(), arrays.array_shapes(min_dims=1, max_dims=3, max_side=4))
def test_costs_of_other_shapes(own, shape):
    values = np.ones(shape)
    if not own and values.ndim == 2:
        np.fill_diagonal(values, 0)
    wrong = values if own or shape[:1] != (3,) or values.ndim != 2 else values[:2]
    with pytest.raises(ValueError, match="Expected"):
        estimator(cost_matrix=None).fit(X, Y, **{"costs" if own else "cost_matrix": wrong})


@CASES
@given(
    st.sampled_from([np.nan, np.inf, -np.inf]), st.integers(0, 89), st.integers(0, 3), st.booleans()
)
def test_inputs_that_are_not_finite(value, row, column, images):
    x = X.copy()
    x[row, column] = value
    with pytest.raises(ValueError, match="Input X contains (NaN|infinity)"):
        estimator().fit(x.reshape(90, 2, 2, 1) if images else x, Y)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"validation_fraction": 1.0}, "Expected `validation_fraction`"),
        ({"validation_fraction": -0.1}, "Expected `validation_fraction`"),
        ({"ensemble": 0}, "Expected `ensemble`"),
        ({"settings": {"epochs": 3}}, "Expected `settings` to be a Settings"),
        ({"settings": {}}, "Expected `settings` to be a Settings"),
        ({"algorithm": "csdnn"}, r"to lie in \[0, 1\]"),
        ({"algorithm": "cnn_bayes"}, r"to lie in \[0, 1\]"),
        ({"random_state": -1}, "Expected `random_state`.*received -1"),
        ({"random_state": "a"}, "Expected `random_state`.*received 'a'"),
    ],
    ids=str,
)
def test_arguments_out_of_range(arguments, match):
    with pytest.raises(ValueError, match=match):
        estimator(**arguments).fit(X, Y)


def test_one_kind_of_costs():
    with pytest.raises(ValueError, match="Expected `costs` or a `cost_matrix`; received both"):
        estimator().fit(X, Y, costs=np.ones((90, 3)))
    with pytest.raises(ValueError, match="at least 2 classes in `y`; received one class"):
        estimator().fit(X, np.ones(90))
    with pytest.raises(ValueError, match="Unknown label type"):
        estimator().fit(X, X[:, 0])


@CASES
@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=120),
    st.floats(0, 0.99),
    st.integers(0, 2**32 - 1),
)
def test_the_split_keeps_proportions(labels, fraction, seed):
    labels = np.array(labels)
    train, validation = validation_split(labels, fraction, np.random.RandomState(seed))
    assert sorted([*train, *validation]) == list(range(len(labels)))
    assert (np.diff(train) > 0).all() and (np.diff(validation) > 0).all()
    assert set(labels[train]) == set(labels)
    if len(validation):
        assert len(validation) >= len(set(labels))
        for label in set(labels):
            share = fraction * np.sum(labels == label)
            assert share - 2 < np.sum(labels[validation] == label) < share + 1
    twin = validation_split(labels, fraction, np.random.RandomState(seed))
    assert np.array_equal(train, twin[0]) and np.array_equal(validation, twin[1])


def test_the_split_is_drawn():
    labels = np.arange(60) % 3
    one, other = (validation_split(labels, 0.2, np.random.RandomState(s))[1] for s in (0, 1))
    assert np.bincount(labels[one]).tolist() == [4, 4, 4] and not np.array_equal(one, other)
    assert not len(validation_split(labels[:8], 0.2, np.random.RandomState(0))[1])
