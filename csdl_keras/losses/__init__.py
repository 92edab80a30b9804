"""Losses that train cost estimates and auto-encoders."""

from csdl_keras.losses.expected_cost import expected_cost
from csdl_keras.losses.logistic_cost_loss import LogisticCostLoss, logistic_cost
from csdl_keras.losses.min_loss import MINLoss, min_loss
from csdl_keras.losses.observed_cost_loss import ObservedCostLoss
from csdl_keras.losses.one_sided_loss import OneSidedLoss, one_sided
from csdl_keras.losses.poisson_cost_loss import PoissonCostLoss, poisson_cost
from csdl_keras.losses.reconstruction_loss import (
    ReconstructionLoss,
    SquaredErrorLoss,
    reconstruction,
)
from csdl_keras.losses.sosr_loss import SOSRLoss, sosr

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
