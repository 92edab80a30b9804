"""The classifier that trained weights make."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from csdl_keras import models
from csdl_keras._examples import Examples
from csdl_keras._fit import build_network
from csdl_keras._job import Job
from csdl_keras._machine import load_machine
from csdl_keras._objective import LINKED
from csdl_keras._training_data import TrainingData
from csdl_keras.costs import regret
from csdl_keras.prediction.calibrate import calibrate


def assemble(
    job: Job,
    weights: Sequence[Sequence[np.ndarray]],
    data: TrainingData,
) -> Any:
    """The model of a row: its members with their weights, their mean, calibration, decision.

    Args:
        job: the row for one cost matrix.
        weights: of each member.
        data: training examples, of which networks keep means, and validation
            examples, on which probabilities are calibrated.
    """
    if job.row.body == "svm":
        return load_machine(weights[0])
    held_out = data.validation if job.row.calibrated else None
    members = [_member(job, arrays, data.train, held_out) for arrays in weights]
    model = members[0] if len(members) == 1 else models.ensemble(members)
    if job.row.output == "cost":
        return model
    if held_out is not None:
        model = calibrate(model, held_out.x, held_out.y)
    if job.row.prediction != "bayes":
        return model
    if job.example_costs is None:
        return models.bayes_classifier(model, job.matrix)
    # What even the cheapest decision costs in a class changes no decision.
    return models.bayes_classifier(model, regret(job.matrix), mean_costs=True)


def _member(
    job: Job, arrays: Sequence[np.ndarray], data: Examples, held_out: Examples | None
) -> Any:
    network = build_network(job, data.x, seed=0)  # of weights that are replaced at once
    network.set_weights(arrays)
    if job.row.training in LINKED:
        return models.cost_estimator(network, LINKED[job.row.training][1])
    if not isinstance(network, models.ExpectedCostModel):
        return network
    # Each has probabilities and costs of its own, so each is calibrated by itself.
    costs = network.cost_model()
    return costs if held_out is None else calibrate(costs, held_out.x, held_out.y)
