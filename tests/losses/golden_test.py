"""Losses give the values and gradients of version 0.2.0, on every backend."""

import pathlib

import keras
import numpy as np

from csdl_keras import losses
from tests.support.gradients import gradient
from tests.support.testing import to_numpy

FILE = pathlib.Path(__file__).parents[1] / "data" / "golden" / "losses.npz"
RNG = np.random.default_rng(0)
LABELS = np.array([0, 2, 1, 2, 0, 1])
WEIGHTS = np.array([1.0, 0.5, 2.0, 0.0, 3.0, 1.5], "float32")
MATRIX = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 0.0], [3.0, 6.0, 0.0]])
ABSTAIN = np.hstack([MATRIX, np.full((3, 1), 0.75)])
# Ties, and a row whose cheapest decision costs something.
COSTS = np.array([[0.0, 1, 2], [3, 0, 0], [2, 2, 2], [1, 5, 4], [7, 0.5, 0], [0, 0.25, 9]])
SHARES = RNG.dirichlet(np.ones(3), 6).astype("float32")
OUTPUTS = {width: RNG.normal(1, 2, (6, width)).astype("float32") for width in (3, 4)}
LOGS = RNG.normal(size=(6, 3, 4)).astype("float32")
JOINED = np.hstack([LABELS[:, None], ABSTAIN[LABELS]]).astype("float32")

LOSSES = {
    "sosr": (losses.SOSRLoss(alpha=2.0), COSTS, OUTPUTS[3]),
    "sosr_matrix": (losses.SOSRLoss(MATRIX, cost_scale=0.5), LABELS, OUTPUTS[3]),
    "one_sided": (losses.OneSidedLoss(), COSTS, OUTPUTS[3]),
    "one_sided_matrix": (losses.OneSidedLoss(MATRIX), LABELS, OUTPUTS[3]),
    "min": (losses.MINLoss(), COSTS, SHARES),
    "min_matrix": (losses.MINLoss(MATRIX, [0.2, 0.7, 0.1]), LABELS, SHARES),
    "poisson": (losses.PoissonCostLoss(), COSTS, OUTPUTS[3]),
    "poisson_abstain": (losses.PoissonCostLoss(ABSTAIN, cost_scale=0.5), LABELS, OUTPUTS[4]),
    "logistic": (losses.LogisticCostLoss(cost_scale=0.1), COSTS, OUTPUTS[3]),
    "logistic_abstain": (losses.LogisticCostLoss(ABSTAIN / 6), LABELS, OUTPUTS[4]),
    "observed": (losses.ObservedCostLoss(), JOINED, LOGS),
    "squared": (losses.SquaredErrorLoss(), COSTS, OUTPUTS[3]),
    "reconstruction": (losses.ReconstructionLoss(), np.eye(3)[LABELS], SHARES),
    "reconstruction_logits": (
        losses.ReconstructionLoss(from_logits=True),
        np.eye(3)[LABELS],
        OUTPUTS[3],
    ),
}


def answers() -> dict[str, np.ndarray]:
    """Weighted losses of the examples, and gradients of their mean."""
    found = {"expected_cost": to_numpy(losses.expected_cost(None, OUTPUTS[4]))}
    for name, (loss, y_true, y_pred) in LOSSES.items():
        y_true = keras.ops.convert_to_tensor(y_true.astype("float32"))

        def mean(outputs, loss=loss, y_true=y_true):
            return loss(y_true, outputs, WEIGHTS)

        found[f"gradient of {name}"] = gradient(mean, y_pred)
        each = type(loss).from_config({**loss.get_config(), "reduction": None})
        found[name] = to_numpy(each(y_true, y_pred, WEIGHTS))
    return found


def test_values_and_gradients_are_those_of_version_0_2_0():
    found = answers()
    with np.load(FILE) as expected:
        assert sorted(found) == sorted(expected.files)
        for name, values in expected.items():
            np.testing.assert_allclose(found[name], values, rtol=2e-5, atol=1e-6, err_msg=name)
