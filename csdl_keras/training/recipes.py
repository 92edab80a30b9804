"""The recipes of an algorithm on the data of a trainer, after all checks."""

import dataclasses
import warnings
from typing import Any

import numpy as np

from csdl_keras._utils.optional import optional_module
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import (
    check_cost_matrix,
    check_labels,
    check_mean_costs,
    class_means,
    regret,
)
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.data import TrainingData, check_images
from csdl_keras.training.recipe import Recipe
from csdl_keras.training.settings import Settings


def recipes(
    data: TrainingData,
    algorithm: Algorithm,
    cost_matrix: ArrayLike | None,
    settings: Settings,
    context: dict[str, Any],
) -> list[Recipe]:
    """Returns a recipe for each network, or one for all where they train faster as one.

    Args:
        data: what to train and to validate on.
        algorithm: the algorithm.
        cost_matrix: `(K, D)`, or `None` if examples have costs of their own.
        settings: how it is trained.
        context: see `Recipe`.

    Raises:
        ValueError: if data, costs and algorithm do not go together.
    """
    first = _first_recipe(data, algorithm, cost_matrix, settings, context)
    members = algorithm.members
    if members > 1 and algorithm.objective.stacks and first.body.stacks(data.train.x):
        return [dataclasses.replace(first, stacked=members)]
    return [dataclasses.replace(first, member=member) for member in range(members)]


def _first_recipe(
    data: TrainingData,
    algorithm: Algorithm,
    cost_matrix: ArrayLike | None,
    settings: Settings,
    context: dict[str, Any],
) -> Recipe:
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
    check_decisions(algorithm, matrix, train.costs is not None)
    if algorithm.body_kind.takes_images:
        check_images(data)
    if not matrix.any():
        raise ValueError("Expected costs with an entry above 0; received all zeros.")
    if algorithm.calibrated and data.validation is None:
        warnings.warn(
            f"{algorithm.name!r} calibrates probabilities on `validation_data`; there is none, so "
            "they stay as they are.",
            stacklevel=5,
        )
    elif algorithm.calibrated:
        optional_module("scipy", "compare")  # before the training, not after it
    if data.unlabelled is not None:
        own["unlabelled"] = data.unlabelled_fingerprint
        own["unlabelled_size"] = len(data.unlabelled)
    return Recipe(algorithm, matrix, settings, train.x.shape, context, **own)


def check_decisions(algorithm: Algorithm, matrix: np.ndarray, own_costs: bool) -> None:
    """Raises if the algorithm cannot price the decisions of a checked matrix.

    Args:
        algorithm: the algorithm.
        matrix: `(K, D)`; where costs differ from example to example, the mean
            of each class.
        own_costs: whether it is such a mean.
    """
    classes, decisions = matrix.shape
    received = f"received {algorithm.name!r} with {classes} classes and {decisions} decisions."
    objective = algorithm.objective
    prices_others = objective.other_decisions and algorithm.pretraining_sees != "costs"
    if decisions > classes and not prices_others:
        raise ValueError(
            "Expected an algorithm that can price decisions that are no class, such as to "
            "abstain: one with prediction='bayes' and without cost-aware pre-training, such as "
            f"'calibrated_bayes' or 'dnn_bayes', or 'cost_model'; {received} What trains on costs "
            "of classes, SOSR, MIN or weights, never takes them to be the cheapest. An "
            "`Objective` of your own says by `other_decisions` that it can."
        )
    if decisions < classes and algorithm.prediction == "argmax":
        raise ValueError(
            f"Expected an algorithm that decides by costs, not for a class; {received}"
        )
    if own_costs and objective.weighted and np.diagonal(regret(matrix)).any():
        raise ValueError(
            "Expected costs whose right decisions are on average the cheapest, since "
            f"{algorithm.name!r} weighs examples by the costs of mistakes; received mean costs "
            f"{matrix.round(4).tolist()}."
        )
