"""Small data and settings of the tests of estimators."""

import functools

import numpy as np

import csdl_keras as csdl
from csdl_keras.costs import AffineCosts
from csdl_keras.sklearn import CostSensitiveClassifier

SETTINGS = csdl.Settings().replace({"mlp.hidden_units": (8,), "mlp.batch_size": 40}).limit_epochs(2)
LABELS = np.array(["cat", "dog", "eel"])
# Far from symmetric: the transposed matrix comes to other decisions.
MATRIX = np.array([[0.0, 3.0, 9.0], [4.0, 0.0, 2.0], [30.0, 6.0, 0.0]])
GENERATOR = np.random.default_rng(0)
INDICES = np.arange(90) % 3
Y = LABELS[INDICES]
X = GENERATOR.normal(size=(90, 4)) + INDICES[:, None]
COSTS = MATRIX[INDICES] * GENERATOR.uniform(0.5, 1.5, size=(90, 1))
AMOUNTS = np.random.default_rng(1).lognormal(size=90)
# What a decision costs depends on the amount, and right ones cost something.
AFFINE = AffineCosts(AMOUNTS, per_unit=MATRIX, fixed=[[0.3, 8, 8], [0, 8.1, 8], [0.5, 8, 8]])
EXPANDED = np.array([AFFINE.fixed + amount * AFFINE.per_unit for amount in AMOUNTS])


def expected(probabilities, matrix_of):
    """Expected costs of decisions, one by one."""
    rows = []
    for n, chances in enumerate(probabilities):
        rows.append(sum(p * row for p, row in zip(chances, matrix_of(n), strict=True)))
    return np.array(rows)


def estimator(algorithm="dnn_bayes", **kwargs):
    arguments = {"cost_matrix": MATRIX, "settings": SETTINGS, "random_state": 0, **kwargs}
    return CostSensitiveClassifier(algorithm, **arguments)


@functools.cache
def fitted(algorithm="dnn_bayes", own_costs=False):
    """An estimator that tests share, so they must not change it."""
    if own_costs:
        return estimator(algorithm, cost_matrix=None).fit(X, Y, costs=COSTS)
    return estimator(algorithm).fit(X, Y)
