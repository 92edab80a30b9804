"""Small data and settings of the tests of estimators."""

import functools

import numpy as np

import csdl_keras as csdl
from csdl_keras.sklearn import CostSensitiveClassifier

SETTINGS = csdl.Settings().replace({"mlp.hidden_units": (8,), "mlp.batch_size": 40}).limit_epochs(2)
LABELS = np.array(["cat", "dog", "eel"])
# Far from symmetric: the transposed matrix comes to other decisions.
MATRIX = np.array([[0.0, 3.0, 9.0], [4.0, 0.0, 2.0], [30.0, 6.0, 0.0]])
GENERATOR = np.random.default_rng(0)
Y = LABELS[np.arange(90) % 3]
X = GENERATOR.normal(size=(90, 4)) + (np.arange(90) % 3)[:, None]
COSTS = MATRIX[np.arange(90) % 3] * GENERATOR.uniform(0.5, 1.5, size=(90, 1))


def estimator(algorithm="dnn_bayes", **kwargs):
    arguments = {"cost_matrix": MATRIX, "settings": SETTINGS, "random_state": 0, **kwargs}
    return CostSensitiveClassifier(algorithm, **arguments)


@functools.cache
def fitted(algorithm="dnn_bayes", own_costs=False):
    """An estimator that tests share, so they must not change it."""
    if own_costs:
        return estimator(algorithm, cost_matrix=None).fit(X, Y, costs=COSTS)
    return estimator(algorithm).fit(X, Y)
