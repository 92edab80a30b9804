"""What a network of a row is trained for: its targets, loss and metric."""

from typing import Any

import keras
import numpy as np

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
from csdl_keras.training.algorithms import Algorithm
from csdl_keras.training.data import Examples
from csdl_keras.training.recipe import Job

# They train on costs of classes alone: one decision is right, and it is a class.
_OF_CLASSES = ("sosr", "min", "one_sided_svm", "weighted_nll")


def check_decisions(row: Algorithm, matrix: np.ndarray, own_costs: bool) -> None:
    """Raises if the row cannot price the decisions of a checked matrix.

    Args:
        row: the row.
        matrix: `(K, D)`; of costs that differ from example to example, the mean
            of each class.
        own_costs: whether it is such a mean.
    """
    classes, decisions = matrix.shape
    received = f"received {row.name!r} with {classes} classes and {decisions} decisions."
    if decisions > classes and (row.training in _OF_CLASSES or row.pretraining == "cae"):
        raise ValueError(
            "Expected a row that can price decisions that are no class, such as to abstain: one "
            "with prediction='bayes' and without cost-aware pre-training, such as "
            f"'calibrated_bayes' or 'dnn_bayes', or 'cost_model'; {received} What trains on costs "
            "of classes, SOSR, MIN or weights, never takes them to be the cheapest."
        )
    if decisions < classes and (row.training == "min" or row.prediction == "argmax"):
        raise ValueError(f"Expected a row that decides by costs, not for a class; {received}")
    if own_costs and row.training == "weighted_nll" and np.diagonal(regret(matrix)).any():
        raise ValueError(
            "Expected costs whose right decisions are on average the cheapest, since "
            f"{row.name!r} weighs examples by the costs of mistakes; received mean costs "
            f"{matrix.round(4).tolist()}."
        )


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
