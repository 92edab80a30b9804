"""The jobs of a row on the data of a trainer, after all checks."""

import dataclasses
import warnings
from typing import Any

from csdl_keras._job import Job
from csdl_keras._row_checks import check_decisions
from csdl_keras._training_data import TrainingData, check_images
from csdl_keras._utils.optional import optional_module
from csdl_keras.algorithms import Algorithm
from csdl_keras.costs import check_cost_matrix, check_labels, check_mean_costs, class_means
from csdl_keras.settings import Settings


def row_jobs(
    data: TrainingData,
    row: Algorithm,
    cost_matrix: Any,
    settings: Settings,
    context: dict[str, Any],
) -> list[Job]:
    """A job for each network of a row, or one for all where they train faster as one.

    Args:
        data: what to train and to validate on.
        row: the algorithm.
        cost_matrix: `(K, D)`, or `None` if examples have costs of their own.
        settings: how it is trained.
        context: see `Job`.

    Raises:
        ValueError: if data, costs and row do not go together.
    """
    first = _first_job(data, row, cost_matrix, settings, context)
    stackable = row.members > 1 and row.body != "svm" and row.training == "nll"
    if stackable and first.body.stacks(data.train.x):
        return [dataclasses.replace(first, stacked=row.members)]
    return [dataclasses.replace(first, member=member) for member in range(row.members)]


def _first_job(
    data: TrainingData,
    row: Algorithm,
    cost_matrix: Any,
    settings: Settings,
    context: dict[str, Any],
) -> Job:
    train = data.train
    if (cost_matrix is None) == (train.costs is None):
        raise ValueError(
            "Expected a `cost_matrix`, or a trainer with `costs` of each example; received "
            f"{'both' if cost_matrix is not None else 'neither'}."
        )
    own: dict[str, Any] = {}
    if train.costs is not None:
        matrix = check_mean_costs(class_means(train.y, train.costs))
        own["example_costs"] = data.costs_fingerprint
        own["largest"] = max(
            float(part.costs.max()) for part in data.parts if part.costs is not None
        )
    else:
        matrix = check_cost_matrix(cost_matrix, square=False)
    for part in data.parts:
        check_labels(part.y, len(matrix))
    check_decisions(row, matrix, train.costs is not None)
    if row.body == "cnn":
        check_images(data)
    if not matrix.any():
        raise ValueError("Expected costs with an entry above 0; received all zeros.")
    if row.calibrated and data.validation is None:
        warnings.warn(
            f"{row.name!r} calibrates probabilities on `validation_data`; there is none, so "
            "they stay as they are.",
            stacklevel=5,
        )
    elif row.calibrated:
        optional_module("scipy", "compare")  # before the training, not after it
    if data.unlabelled is not None:
        own["unlabelled"] = data.unlabelled_fingerprint
        own["unlabelled_size"] = len(data.unlabelled)
    return Job(row, matrix, settings, train.x.shape, context, **own)
