"""Which losses decide right with unlimited data: minimised on known posteriors."""

import keras
import numpy as np
import pytest

from csdl_keras import costs
from csdl_keras.losses import LogisticCostLoss, PoissonCostLoss, SOSRLoss
from csdl_keras.models import expected_cost_model, labelled_costs
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


def test_population_minimum_of_expected_cost_model():
    """Costs by class differ from point to point: half the mean or half as much again."""
    rng = np.random.default_rng(1)
    means = rng.uniform(0.1, 2.0, size=(POINTS, CLASSES, CLASSES + 1))  # One decision is no class.
    means[:, np.arange(CLASSES), np.arange(CLASSES)] = 0.0
    expected = np.einsum("ny,nyk->nk", POSTERIOR.astype("float64"), means)
    points, labels = np.divmod(np.arange(2 * POINTS * CLASSES) % (POINTS * CLASSES), CLASSES)
    own = means[points, labels] * np.repeat([0.5, 1.5], POINTS * CLASSES)[:, None]

    end = keras.Input((1,), dtype="int32")
    table = keras.layers.Embedding(POINTS, POINTS, trainable=False)
    features = keras.layers.Flatten()(table(end))
    table.set_weights([np.eye(POINTS)])
    base = costs.class_means(labels, own)
    model = expected_cost_model(keras.Model(end, features), base, seed=0)
    weights = np.tile(POSTERIOR.ravel(), 2) * POINTS * CLASSES
    minimized(model, points, labelled_costs(labels, own), weights, 10, **model.losses_and_weights())
    outputs = to_numpy(model.cost_model()(np.arange(POINTS)[:, None]))
    check_decisions(outputs, expected, most=1 + 2e-3, margin=0.02)
    # By class means alone, as the model begins, the same decisions would cost more.
    assert paid(POSTERIOR @ base, expected) > 1.05
