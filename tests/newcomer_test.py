"""Messages about a newcomer's mistakes hold the way out."""

import keras
import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import LogisticRegression

import csdl_keras as csdl
from csdl_keras import costs
from csdl_keras.evaluation import cost_report
from csdl_keras.sklearn import BayesClassifier, CostSensitiveClassifier

X = np.random.default_rng(0).normal(size=(60, 4))
Y = np.arange(60) % 10
C, SMALL, ONE_HOT = 1.0 - np.eye(10), 1.0 - np.eye(9), np.eye(10)[Y]
SPARSE = scipy.sparse.csr_array(X)
GAINS = C - 2 * np.eye(10)
MODEL = keras.Sequential([keras.Input((4,)), keras.layers.Dense(10, "softmax")])


def bayes(x, y, cost_matrix):
    return BayesClassifier(LogisticRegression(), cost_matrix).fit(x, y)


ORDER = "The order is csdl_keras.train(x, y, cost_matrix)"
TEN = "There are 10 classes, 0 to 9; each needs a row in the cost matrix"
ROWS = "a row for each of 10 classes; received shape (9, 9)"
FROM_1 = "pass `labels - 1`"
DENSE = "Pass `x.toarray()`"


@pytest.mark.parametrize(
    "call,arguments,words",
    [
        (csdl.train, ("csdnn", X, Y, C), ORDER),
        (csdl.train, (C, X, Y), ORDER),
        (csdl.train, (X, C, Y), ORDER),
        (csdl.Trainer, ("csdnn", X, Y), ORDER),
        (csdl.Trainer, (Y, X), ORDER),
        (csdl.train, (X, Y, "csdnn", C), "`algorithm` to be one of"),
        (csdl.bayes_classifier, (C, MODEL), "The model is the first argument."),
        (csdl.decide, (X, MODEL), "received ndarray of shape (60, 4). The model is the first"),
        (csdl.calibrate, (X, Y, MODEL), "The model is the first argument."),
        (bayes, (X, Y, LogisticRegression()), "real numbers; received LogisticRegression()"),
        (CostSensitiveClassifier(C).fit, (X, Y), "received ndarray of shape (10, 10)."),
        (cost_report, (Y, {"a": Y}, C), "The labels are the second argument."),
        (cost_report, ({"a": Y}, C, Y), "received shape (60,), that of labels."),
        (costs.cost_vectors, (Y, C), "received shape (60,), that of labels."),
        (csdl.train, (X, Y[:, None], C), "Pass numpy.ravel(y)."),
        (csdl.train, (X, Y, SMALL), TEN),
        (csdl.train, (X, Y.astype(str), SMALL), "'8', '9']; received 9 rows"),
        (csdl.bayes_classifier, (MODEL, SMALL), ROWS),
        (costs.cost_vectors, (SMALL, Y), TEN),
        (bayes, (X, Y, SMALL), ROWS),
        (csdl.train, (X, Y + 1, C), FROM_1),
        (csdl.calibrate, (MODEL, X, Y + 1), FROM_1),
        (costs.randomized_proportional, (Y + 1,), "no examples of class(es) [0]. Labels"),
        (csdl.train, (X, ONE_HOT, C), "pass `y.argmax(axis=-1)`"),
        (csdl.calibrate, (MODEL, X, ONE_HOT), "pass `labels.argmax(axis=-1)`"),
        (bayes, (X, ONE_HOT, C), "pass `y.argmax(axis=-1)`"),
        (cost_report, ({"a": ONE_HOT}, Y, C), "pass `decisions['a'].argmax(axis=-1)`"),
        (csdl.train, (SPARSE, Y, C), DENSE),
        (csdl.train, (X, Y, scipy.sparse.csr_array(C)), "Pass `cost_matrix.toarray()`"),
        (csdl.train, (X, Y, GAINS), "csdl_keras.costs.regret(...)"),
        (cost_report, ({"a": Y}, Y, GAINS), "`amounts=`"),
        (csdl.bayes_classifier, (MODEL,), "Pass a `cost_matrix`"),
    ],
)
def test_message_holds_the_way_out(call, arguments, words):
    with pytest.raises(ValueError) as raised:
        call(*arguments)
    assert words in str(raised.value)


def test_bayes_classifier_without_costs_warns_when_it_decides():
    model = BayesClassifier(LogisticRegression()).fit(X, Y)
    with pytest.warns(UserWarning, match="given no costs .* cost_matrix=.* `costs=` to `fit`"):
        blind = model.predict(X)
    np.testing.assert_array_equal(blind, model.predict(X, costs=C))
    fitted = BayesClassifier(LogisticRegression()).fit(X, Y, costs=C[Y])
    assert fitted.predict(X).shape == bayes(X, Y, C).predict(X).shape == (60,)
