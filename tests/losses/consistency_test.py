"""Which losses decide right with unlimited data: minimised on known posteriors."""

import keras
import numpy as np
import pytest

from csdl_keras import costs
from csdl_keras.losses import LogisticCostLoss, PoissonCostLoss, SOSRLoss
from tests.support.testing import to_numpy

CLASSES, POINTS = 5, 40
POSTERIOR = np.random.default_rng(0).dirichlet(np.full(CLASSES, 0.6), POINTS).astype("float32")


def minimized(model, points, targets, weights, epochs=5, **losses):
    """Trains on all labels of all points, weighted by their probability; returns outputs.

    Every step sees all of it; few long epochs, since beginning one takes longer than a step.
    """
    steps = 100
    rate = keras.optimizers.schedules.CosineDecay(0.1, epochs * steps)
    model.compile(keras.optimizers.Adam(rate, beta_2=0.99), **losses)

    def repeated(array):
        return np.tile(array, (steps, *[1] * (array.ndim - 1)))

    model.fit(
        repeated(points[:, None]),
        keras.tree.map_structure(repeated, targets),
        sample_weight=keras.tree.map_structure(lambda _: repeated(weights), targets),
        batch_size=len(points),
        epochs=epochs,
        shuffle=False,
        verbose=0,
    )


def check_decisions(outputs, expected, most, margin):
    """Decisions pay at most `most` times the Bayes decision's costs; clear ones are the same."""
    lowest = np.sort(expected, axis=1)
    clear = lowest[:, 1] - lowest[:, 0] > margin
    assert clear.mean() > 0.8
    np.testing.assert_array_equal(outputs[clear].argmin(axis=1), expected[clear].argmin(axis=1))
    assert paid(outputs, expected) < most


def paid(outputs, expected):
    """The expected cost of the argmin of the outputs, relative to the Bayes decision's."""
    return expected[np.arange(POINTS), outputs.argmin(axis=1)].sum() / expected.min(axis=1).sum()


@pytest.mark.parametrize(
    ("name", "abstain"), [("poisson", True), ("logistic", False), ("sosr", False), ("sosr", True)]
)
def test_population_minimum(name, abstain):
    matrix = costs.randomized_proportional(np.arange(CLASSES), seed=3)
    matrix /= matrix.max()
    if abstain:
        matrix = np.hstack([matrix, np.full((CLASSES, 1), 0.1)])
    expected = POSTERIOR.astype("float64") @ matrix
    points, labels = np.divmod(np.arange(POINTS * CLASSES), CLASSES)
    table = [
        keras.Input((1,), dtype="int32"),
        keras.layers.Embedding(POINTS, matrix.shape[1], "zeros"),
        keras.layers.Flatten(),
    ]
    model = keras.Sequential(table)
    # SOSR refuses a matrix with a column that is no class.
    targets = np.float32(matrix)[labels] if name == "sosr" else labels
    loss = {"poisson": PoissonCostLoss, "logistic": LogisticCostLoss}.get(name)
    loss = SOSRLoss() if loss is None else loss(matrix)
    minimized(model, points, targets, POSTERIOR.ravel() * len(points), loss=loss)
    outputs = to_numpy(model(np.arange(POINTS)[:, None]))
    if name == "sosr":
        # Not consistent: far from the Bayes decision, even at the optimum of its loss.
        assert paid(outputs, expected) > 1.1
        return
    estimates = np.exp(outputs) if name == "poisson" else 1 / (1 + np.exp(-outputs))
    np.testing.assert_allclose(estimates, expected, atol=2e-3)
    check_decisions(outputs, expected, most=1 + 1e-3, margin=4e-3)
