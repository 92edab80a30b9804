"""Losses that train cost estimates and auto-encoders."""

from csdl_keras.losses.cost_regression import (
    LogisticCostLoss,
    ObservedCostLoss,
    PoissonCostLoss,
    expected_cost,
    logistic_cost,
    poisson_cost,
)
from csdl_keras.losses.min_loss import MINLoss, min_loss
from csdl_keras.losses.reconstruction_loss import (
    ReconstructionLoss,
    SquaredErrorLoss,
    reconstruction,
)
from csdl_keras.losses.sosr_loss import OneSidedLoss, SOSRLoss, one_sided, sosr

__all__ = [
    "LogisticCostLoss",
    "MINLoss",
    "ObservedCostLoss",
    "OneSidedLoss",
    "PoissonCostLoss",
    "ReconstructionLoss",
    "SOSRLoss",
    "SquaredErrorLoss",
    "expected_cost",
    "logistic_cost",
    "min_loss",
    "one_sided",
    "poisson_cost",
    "reconstruction",
    "sosr",
]
