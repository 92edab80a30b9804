"""What a network of a row is trained for: its targets, loss and metric."""

from typing import Any

import keras
import numpy as np

from csdl_keras._examples import Examples
from csdl_keras._job import Job
from csdl_keras.costs import regret, zero_one
from csdl_keras.losses import (
    LogisticCostLoss,
    MINLoss,
    ObservedCostLoss,
    OneSidedLoss,
    PoissonCostLoss,
    SOSRLoss,
)
from csdl_keras.metrics import AverageCost
from csdl_keras.models import labelled_costs

#: Trainings whose network outputs costs on another scale: their loss, and the link to it.
LINKED: dict[str, tuple[Any, str]] = {
    "poisson": (PoissonCostLoss, "log"),
    "logistic": (LogisticCostLoss, "logit"),
}


def targets(job: Job, data: Examples) -> Any:
    """What `fit` is given as `y`."""
    if job.row.training == "expected_cost":
        costs = job.matrix[data.y] if data.costs is None else data.costs
        return labelled_costs(data.y, costs / job.unit)
    if data.costs is None or not job.on_costs:
        return data.y
    return data.costs


def objective(job: Job, data: Examples) -> dict[str, Any]:
    """The arguments `loss` and `metrics` of `compile`."""
    if job.row.training == "expected_cost":
        return {
            "loss": {
                "probability": keras.losses.SparseCategoricalCrossentropy(),
                "class_costs": ObservedCostLoss(),
            },
            "metrics": {"expected_cost": [AverageCost()]},
        }
    return {"loss": _loss(job, data), "metrics": [_metric(job, data)]}


def _loss(job: Job, data: Examples) -> keras.losses.Loss:
    if not job.on_costs:
        return keras.losses.SparseCategoricalCrossentropy()
    # A matrix is scaled before it is rounded to float32, cost vectors within the loss.
    costs: dict[str, Any] = {"cost_matrix": job.scaled}
    if data.costs is not None:
        costs = {"cost_scale": 1 / job.unit}
    if job.row.training in LINKED:
        return LINKED[job.row.training][0](**costs)
    if job.row.training == "min":
        shares = np.bincount(data.y, minlength=len(job.matrix)) / len(data.y)
        if shares.max() == 1.0:
            raise ValueError(
                f"Expected examples of more than one class, since {job.row.name!r} weighs classes "
                f"by what others there are; received only class {data.y[0]}."
            )
        return MINLoss(priors=shares, **costs)
    return OneSidedLoss(**costs) if job.settings.hard_hinge else SOSRLoss(**costs)


def _metric(job: Job, data: Examples) -> AverageCost:
    """What early stopping watches; cost-blind training must not look at the costs."""
    by_class = data.costs is None or job.row.training == "weighted_nll"
    # Mean costs of a class may all be above 0; a cost matrix is 0 for the right decision.
    matrix = regret(job.matrix) if by_class else None
    if job.row.training == "nll":
        matrix = zero_one(len(job.matrix))
    return AverageCost(matrix, output=job.row.output)


def mean_costs(job: Job, data: Examples) -> np.ndarray:
    """For each example, the mean cost of mistaking its class; 1 on average."""
    costs = job.matrix[data.y] if data.costs is None else data.costs
    weights = costs.sum(axis=1) / (costs.shape[1] - 1)
    if not weights.any():
        raise ValueError(
            f"Expected mistakes on examples to cost something, since {job.row.name!r} weighs "
            "examples by that; received costs of 0 for all of them."
        )
    return weights / weights.mean()
