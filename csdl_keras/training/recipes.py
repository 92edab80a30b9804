"""Makes the recipes of an algorithm for data and costs, if these fit together."""

import dataclasses
import os
import pathlib
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.frames import is_frame
from csdl_keras._utils.tensors import check_numbered
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
from csdl_keras.training.folds import assign_folds
from csdl_keras.training.recipe import Recipe
from csdl_keras.training.settings import Settings
from csdl_keras.training.validation_cost import ValidationCost

#: Least number of folds of an ensemble that is validated on them.
_LEAST_FOLDS = 5

_PACKAGE = f"{pathlib.Path(__file__).parents[1]}{os.sep}"


def recipes(
    data: TrainingData,
    algorithm: Algorithm,
    cost_matrix: ArrayLike | None,
    settings: Settings,
    context: dict[str, Any],
) -> list[Recipe]:
    """Returns a recipe for each network, or one for all networks that train faster as one.

    Raises a `ValueError` if data, costs and algorithm do not fit together. `cost_matrix` is
    `None` if examples have costs of their own; `context` is described in `Recipe`.
    """
    train, known = data.train, data.mean_costs is not None
    if (cost_matrix is None) == (train.costs is None and not known):
        raise ValueError(
            "Expected a `cost_matrix`, or a trainer with `costs` of each example; received "
            f"{'both' if cost_matrix is not None else 'neither'}."
        )
    own: dict[str, Any] = {"columns": data.columns if algorithm.body_kind.takes_frames else None}
    if data.mean_costs is not None:
        matrix = data.mean_costs
        _check_blind(algorithm)
    elif train.costs is not None:
        matrix = check_mean_costs(class_means(train.y, train.costs))
        own["example_costs"] = data.costs_fingerprint
        own["largest"] = max(
            float(part.costs.max()) for part in data.parts if part.costs is not None
        )
    else:
        assert cost_matrix is not None  # as checked above
        classes = data.classes
        if classes is None and is_frame(cost_matrix):
            classes = np.arange(np.shape(cost_matrix)[0])
        matrix = check_cost_matrix(cost_matrix, square=False, classes=classes)
    for part in data.parts:
        check_labels(part.y, len(matrix))
    check_numbered("classes", len(matrix), keras.config.floatx())
    _check_decisions(algorithm, matrix, train.costs is not None)
    if algorithm.body_kind.takes_images:
        check_images(data)
    if algorithm.body == "auto" or algorithm.body_kind.takes_images:
        _check_channels(train.x.shape)
    if not matrix.any():
        raise ValueError("Expected costs with an entry above 0; received all zeros.")
    members = algorithm.members
    assert members is not None  # see `with_members`
    if data.validation is None and algorithm.cross_fits:
        # Two networks would otherwise learn from half of the examples each.
        number = max(members, _LEAST_FOLDS)
        folds = assign_folds(train.y, number, context["seed"])
        if np.bincount(folds[folds >= 0], minlength=number).min() > 1:
            own["folds"] = number
    if data.validation is None and algorithm.calibrated and "folds" not in own:
        _warn_caller(
            f"{algorithm.name!r} calibrates probabilities on `validation_data`; there is none, so "
            "they stay as they are. An ensemble of several networks needs none."
        )
    if data.unlabelled is not None:
        own["unlabelled"] = data.unlabelled_fingerprint
        own["unlabelled_size"] = len(data.unlabelled)
    first = Recipe(algorithm, matrix, settings, train.x.shape, context, **own)
    if members > 1 and algorithm.objective.stacks and first.body.stacks(train.x):
        return [dataclasses.replace(first, stacked=members)]
    if known and algorithm.weighs_costs and first.body.monitor(train.x) == ValidationCost.monitor:
        first = dataclasses.replace(first, stopping_costs=data.known_fingerprint)
    return [dataclasses.replace(first, member=member) for member in range(members)]


def with_members(algorithm: Algorithm, settings: Settings, shape: Sequence[int]) -> Algorithm:
    """Returns an algorithm that knows its number of networks on inputs of a shape, `(N, ...)`."""
    if algorithm.members is not None:
        return algorithm
    body = settings.body_of(algorithm)
    members = body.networks_on(shape) if body.is_network else 1
    return dataclasses.replace(algorithm, members=members)


def _warn_caller(message: str) -> None:
    """Warns at the line outside this package that called it."""
    level = 1
    while sys._getframe(level).f_code.co_filename.startswith(_PACKAGE):
        level += 1
    warnings.warn(message, stacklevel=level + 1)


def _check_channels(shape: Sequence[int]) -> None:
    """Raises if channels come before pixels; warns if gray images may lack them."""
    first = keras.config.image_data_format() == "channels_first"
    if first and len(shape) == 4 and shape[1] in (1, 3) and shape[3] not in (1, 3):
        raise ValueError(
            "Expected images of shape (N, height, width, channels), whatever "
            f"keras.config.image_data_format() says; received shape {tuple(shape)}. Pass "
            "numpy.moveaxis(x, 1, -1)."
        )
    if len(shape) == 3:
        _warn_caller(
            f"x of shape (N, {shape[1]}, {shape[2]}) is taken as a table of "
            f"{shape[1] * shape[2]} features; for images pass x[..., None]. A table that is "
            "passed as x.reshape(len(x), -1) gives no warning."
        )


def _check_blind(algorithm: Algorithm) -> None:
    """Raises unless training looks at no costs, so that they can wait until it decides."""
    if not algorithm.shares_training:
        raise ValueError(
            "Expected an algorithm that trains on labels alone, such as 'calibrated_bayes' or "
            "'dnn_bayes', with costs that are known when deciding, of shape (N, K, D); received "
            f"{algorithm.name!r}, which trains on costs. Where costs are not known when "
            "deciding, pass the vectors `csdl_keras.costs.cost_vectors(costs, y)`."
        )


def _check_decisions(algorithm: Algorithm, matrix: np.ndarray, own_costs: bool) -> None:
    """Raises unless the algorithm can price the decisions of `matrix`.

    `matrix` is checked; if examples have `own_costs`, it is the mean of each class.
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
