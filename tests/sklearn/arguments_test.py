"""What the estimator refuses before it trains anything, and how it divides examples."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import csdl_keras as csdl
from csdl_keras.sklearn import CostSensitiveClassifier
from csdl_keras.training.data import validation_split
from tests.sklearn.fitted import MATRIX, X, Y, estimator

PRICED = csdl.costs.with_abstain(MATRIX, price=0.6)
ONES = np.ones((90, 3))


@pytest.fixture(autouse=True, scope="module")
def no_training():
    """Fails whatever begins to train."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keras.Model, "fit", lambda *args, **kwargs: pytest.fail("trained"))
        yield


@pytest.mark.parametrize(
    ("arguments", "data", "match"),
    [
        ({"algorithm": "nobody"}, {}, "Expected `algorithm` to be one of"),
        ({"validation_fraction": 1.0}, {}, "Expected `validation_fraction`"),
        ({"cost_matrix": PRICED, "other_decisions": ["a", "b"]}, {}, "for 1 of them"),
        ({}, {"costs": ONES}, "either `costs` or a `cost_matrix`; received both"),
        ({}, {"y": np.ones(90)}, "`y` needs at least 2 classes; received one class"),
    ],
)
def test_what_is_refused(arguments, data, match):
    with pytest.raises(ValueError, match=match):
        estimator(**arguments).fit(**{"X": X, "y": Y, **data})


def test_probabilities_before_fit():
    algorithms = ("dnn_bayes", "dnn_sosr", "nobody")
    found = [hasattr(CostSensitiveClassifier(name), "predict_proba") for name in algorithms]
    assert found == [True, False, False]


@settings(max_examples=200)
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
