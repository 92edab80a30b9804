"""The objectives of training."""

import dataclasses
from typing import Any

import keras
import numpy as np

from csdl_keras import models
from csdl_keras.losses import (
    LogisticCostLoss,
    MINLoss,
    ObservedCostLoss,
    OneSidedLoss,
    PoissonCostLoss,
    SOSRLoss,
)
from csdl_keras.metrics import AverageCost
from csdl_keras.training.body import Body
from csdl_keras.training.data import Examples
from csdl_keras.training.objective import Objective


@dataclasses.dataclass(frozen=True)
class _ExpectedCost(Objective):
    """Trains class probabilities and costs by class, see `models.expected_cost_model`."""

    @property
    def needs_features(self) -> bool:
        return True

    @property
    def calibrates(self) -> bool:
        return True

    def build(
        self, body: Body, x: np.ndarray, matrix: np.ndarray, unit: float, seed: int | None
    ) -> keras.Model:
        features = body.build(x, len(matrix), "features", seed)
        return models.expected_cost_model(features, matrix / unit, seed=seed)

    def targets(self, data: Examples, matrix: np.ndarray, unit: float) -> Any:
        costs = matrix[data.y] if data.costs is None else data.costs
        return models.labelled_costs(data.y, costs / unit, binary_costs=True)

    def compile_arguments(
        self, data: Examples, matrix: np.ndarray, unit: float, algorithm: str
    ) -> dict[str, Any]:
        return {
            "loss": {
                "probability": keras.losses.SparseCategoricalCrossentropy(),
                "class_costs": ObservedCostLoss(),
            },
            # The costs were checked before they were scaled.
            "metrics": {"expected_cost": [AverageCost(output="cost", binary_costs=True)]},
        }

    def classifier(self, network: keras.Model) -> keras.Model:
        return network.cost_model()


_CROSS_ENTROPY = keras.losses.SparseCategoricalCrossentropy
_REGRESSION = (("argmin", "regression"),)

#: Objectives by the names that an `Algorithm` takes.
OBJECTIVES: dict[str, Objective] = {
    objective.name: objective
    for objective in (
        Objective(
            "nll",
            _CROSS_ENTROPY,
            output="probability",
            on_costs=False,
            other_decisions=True,
            series=(("argmax", "blind"), ("bayes", "Bayes")),
        ),
        Objective(
            "weighted_nll",
            _CROSS_ENTROPY,
            output="probability",
            on_costs=False,
            weighted=True,
            predictions=("argmax",),
        ),
        Objective("min", MINLoss, output="probability", priors=True, predictions=("argmax",)),
        Objective(
            "sosr",
            SOSRLoss,
            searched=("cost_scale", "alpha"),
            hinge="one_sided",
            series=(("argmin", "SOSR"),),
        ),
        Objective("one_sided", OneSidedLoss, series=_REGRESSION),
        Objective(
            "poisson",
            PoissonCostLoss,
            link="log",
            unit="mean",
            other_decisions=True,
            series=_REGRESSION,
        ),
        Objective(
            "logistic", LogisticCostLoss, link="logit", other_decisions=True, series=_REGRESSION
        ),
        Objective("one_sided_svm", None),
        _ExpectedCost(
            "expected_cost",
            ObservedCostLoss,
            unit="mean",
            other_decisions=True,
            series=_REGRESSION,
        ),
    )
}
