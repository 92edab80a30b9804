"""Classifiers that are no networks are refused with the name of the right tool."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import csdl_keras as csdl

X, Y = np.arange(8.0).reshape(4, 2), [0, 1, 0, 1]
ESTIMATOR = LogisticRegression().fit(X, Y)


@pytest.mark.parametrize(
    "call",
    [
        lambda model: csdl.adjust_priors(model, [1, 1], [9, 1]),
        lambda model: csdl.bayes_classifier(model, [[0, 1], [5, 0]]),
        lambda model: csdl.calibrate(model, X, Y),
        lambda model: csdl.decide(model, X),
        lambda model: csdl.decision_model(model),
        lambda model: csdl.models.ensemble([model]),
        lambda model: csdl.output_kind(model),
        lambda model: csdl.train("calibrated_bayes", X, Y, [[0, 1], [5, 0]], network=model),
    ],
)
def test_an_estimator_gets_the_name_of_the_right_tool(call):
    right = r"csdl_keras\.bayes_decisions\(estimator\.predict_proba\(x\), costs\)"
    with pytest.raises(ValueError, match=f"{right}, or csdl_keras.sklearn.BayesClassifier"):
        call(ESTIMATOR)
    with pytest.raises(ValueError) as caught:
        call("a model")
    assert "predict_proba" not in str(caught.value)
