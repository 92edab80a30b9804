"""Which losses decide right with unlimited data: minimised on known posteriors."""

import keras
import numpy as np
import pytest

from csdl_keras import costs
from csdl_keras.losses import LogisticCostLoss, PoissonCostLoss, SOSRLoss
from tests.support.testing import to_numpy

CLASSES, POINTS, STEPS = 5, 20, 100
POSTERIOR = np.random.default_rng(0).dirichlet(np.full(CLASSES, 0.6), POINTS).astype("float32")
MATRIX = costs.randomized_proportional(np.arange(CLASSES), seed=3)
MATRIX /= MATRIX.max()
ABSTAIN = np.hstack([MATRIX, np.full((CLASSES, 1), 0.1)])


@pytest.mark.parametrize(
    ("loss", "matrix", "estimates"),
    [
        (PoissonCostLoss(ABSTAIN), ABSTAIN, np.exp),
        (LogisticCostLoss(MATRIX), MATRIX, lambda u: 1 / (1 + np.exp(-u))),
        (SOSRLoss(MATRIX), MATRIX, None),
    ],
    ids=["poisson", "logistic", "sosr"],
)
def test_population_minimum(loss, matrix, estimates):
    """Each step sees all labels of all points, weighted by their probability."""
    expected = POSTERIOR.astype("float64") @ matrix
    points, labels = np.divmod(np.arange(POINTS * CLASSES), CLASSES)
    table = keras.layers.Embedding(POINTS, matrix.shape[1], "zeros")
    model = keras.Sequential([keras.Input((1,), dtype="int32"), table, keras.layers.Flatten()])
    rate = keras.optimizers.schedules.CosineDecay(0.1, 5 * STEPS)
    model.compile(keras.optimizers.Adam(rate, beta_2=0.99), loss)
    # Few long epochs, since beginning one takes longer than a step.
    x, y, weights = (np.tile(it, STEPS) for it in (points, labels, POSTERIOR.ravel() * len(points)))
    choices = {"batch_size": len(points), "epochs": 5, "shuffle": False, "verbose": 0}
    model.fit(x[:, None], y, sample_weight=weights, **choices)
    outputs = to_numpy(model(np.arange(POINTS)[:, None]))
    paid = expected[np.arange(POINTS), outputs.argmin(axis=1)].sum() / expected.min(axis=1).sum()
    if estimates is None:
        # Not consistent: far from the Bayes decision, even at the optimum of its loss.
        assert paid > 1.05
        return
    np.testing.assert_allclose(estimates(outputs), expected, atol=2e-3)
    assert paid < 1 + 1e-3
