"""Describes everything a stage depends on; stages with equal descriptions are the same stage."""

import dataclasses
import os
import pathlib
import sys
import warnings
from typing import Any

import numpy as np

from csdl_keras._utils.array_file import fingerprint
from csdl_keras._utils.frames import Columns
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import (
    check_cost_matrix,
    check_labels,
    check_mean_costs,
    class_means,
    regret,
    zero_one,
)
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.data import TrainingData, check_images
from csdl_keras.training.descriptions import describe
from csdl_keras.training.objective import Objective
from csdl_keras.training.pretrainings import Pretraining
from csdl_keras.training.settings import Settings

# Raised whenever the code of a stage comes to other results, so that no cache holds old ones.
STAGE_VERSION = 4
PRETRAINING_VERSION = 5

_PACKAGE = f"{pathlib.Path(__file__).parents[1]}{os.sep}"


@dataclasses.dataclass(frozen=True)
class Recipe:
    """An algorithm for one cost matrix under one set of choices.

    Args:
        algorithm: the algorithm.
        matrix: its cost matrix, checked; where costs differ from example to
            example, the mean of each class.
        settings: how it is trained.
        shape: shape of the training inputs, `(N, ...)`.
        context: what else all stages depend on: data, seed, and the `environment`.
        member: index of the network in an ensemble. Defaults to 0.
        example_costs: fingerprint of the examples' own costs, or `None` (default).
        largest: the largest cost; `None` (default) is that of the matrix.
        stacked: number of networks that are trained as one, see `fit_stacked`. Defaults to 1.
        unlabelled: fingerprint of the unlabelled inputs of pre-training, or `None` (default).
        unlabelled_size: number of unlabelled inputs. Defaults to 0.
        columns: the columns of the data frame that its network takes, or `None` (default).
    """

    algorithm: Algorithm
    matrix: np.ndarray
    settings: Settings
    shape: tuple[int, ...]
    context: dict[str, Any]
    member: int = 0
    example_costs: str | None = None
    largest: float | None = None
    stacked: int = 1
    unlabelled: str | None = None
    unlabelled_size: int = 0
    columns: Columns | None = None

    @property
    def body(self) -> Any:
        """The network, or the kernel machine, with its choices."""
        return self.settings.body_of(self.algorithm)

    @property
    def objective(self) -> Objective:
        """The objective of its training."""
        return self.settings.objective_of(self.algorithm)

    @property
    def pretraining(self) -> Pretraining | None:
        """Its pre-training with its choices; `None` without one."""
        return self.settings.pretraining_of(self.algorithm)

    @property
    def unit(self) -> float:
        """Returns what losses divide costs by, see `Objective.unit_of`."""
        return self.objective.unit_of(self.matrix, self.largest)

    @property
    def scaled(self) -> np.ndarray:
        """The cost matrix as losses see it."""
        return self.matrix / self.unit

    @property
    def pretraining_costs(self) -> np.ndarray | None:
        """The cost matrix of pre-training; `None` if pre-training ignores costs."""
        looks_at = None if self.pretraining is None else self.pretraining.looks_at
        matrices = {"costs": self.scaled, "errors": zero_one(len(self.matrix))}
        return matrices.get(looks_at or "inputs")

    @property
    def pretraining_epochs(self) -> int:
        """Epochs of pre-training for each layer."""
        assert self.pretraining is not None
        size = self.shape[0] + self.unlabelled_size
        return self.pretraining.epochs * self.body.stretch(size)

    def describe_pretraining(self) -> dict[str, Any] | None:
        """Describes its pre-training; `None` without one."""
        pretraining = self.pretraining
        if pretraining is None:
            return None
        more = {} if self.unlabelled is None else {"unlabelled": self.unlabelled}
        errors = pretraining.looks_at == "errors"
        return {
            **self._common("pretraining", PRETRAINING_VERSION),
            **more,
            "kind": describe(type(pretraining)),
            "choices": pretraining.describe(),
            "body": describe(type(self.body)),
            "network": self.body.describe(without=("schedule", "optimizer")),
            "costs": self._costs(self.pretraining_costs, errors),
            "epochs": self.pretraining_epochs,
            "batch_size": self.body.batch_size,
        }

    def describe_training(self) -> dict[str, Any]:
        """Describes its training, including its pre-training."""
        objective = self.objective
        description = {
            **self._common("training"),
            "body": describe(type(self.body)),
            "choices": self.body.describe_for(objective.on_costs),
            "training": describe(objective),
            "costs": None if objective.blind else self._costs(self.scaled),
        }
        if not self.body.is_network:
            return description
        description |= {
            "epochs": self.body.epochs_on(self.shape),
            "patience": self.body.patience_on(self.shape),
            "pretraining": self.describe_pretraining(),
        }
        if self.stacked > 1:
            description["stacked"] = self.stacked
        return description

    def _costs(self, matrix: np.ndarray | None, errors: bool = False) -> str | None:
        """Describes the costs that a stage uses; 0/1 `errors` are the same for all examples."""
        if matrix is None:
            return None
        if self.example_costs is None or errors:
            return fingerprint(matrix)
        # Algorithms divide them by different units.
        return f"{self.example_costs} / {self.unit!r}"

    def _common(self, stage: str, version: int = STAGE_VERSION) -> dict[str, Any]:
        classes = len(self.matrix)
        common = {"stage": stage, "version": version, "classes": classes, **self.context}
        common |= {} if self.columns is None else {"columns": describe(self.columns)}
        return common if self.member == 0 else {**common, "member": self.member}


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
    train = data.train
    if (cost_matrix is None) == (train.costs is None):
        raise ValueError(
            "Expected a `cost_matrix`, or a trainer with `costs` of each example; received "
            f"{'both' if cost_matrix is not None else 'neither'}."
        )
    own: dict[str, Any] = {"columns": data.columns if algorithm.body_kind.takes_frames else None}
    if train.costs is not None:
        matrix = check_mean_costs(class_means(train.y, train.costs))
        own["example_costs"] = data.costs_fingerprint
        own["largest"] = max(
            float(part.costs.max()) for part in data.parts if part.costs is not None
        )
    else:
        assert cost_matrix is not None  # as checked above
        matrix = check_cost_matrix(cost_matrix, square=False)
    for part in data.parts:
        check_labels(part.y, len(matrix))
    _check_decisions(algorithm, matrix, train.costs is not None)
    if algorithm.body_kind.takes_images:
        check_images(data)
    if not matrix.any():
        raise ValueError("Expected costs with an entry above 0; received all zeros.")
    if algorithm.calibrated and data.validation is None:
        _warn_caller(
            f"{algorithm.name!r} calibrates probabilities on `validation_data`; there is none, so "
            "they stay as they are."
        )
    if data.unlabelled is not None:
        own["unlabelled"] = data.unlabelled_fingerprint
        own["unlabelled_size"] = len(data.unlabelled)
    first = Recipe(algorithm, matrix, settings, train.x.shape, context, **own)
    members = algorithm.members
    if members > 1 and algorithm.objective.stacks and first.body.stacks(train.x):
        return [dataclasses.replace(first, stacked=members)]
    return [dataclasses.replace(first, member=member) for member in range(members)]


def _warn_caller(message: str) -> None:
    """Warns at the line outside this package that called it."""
    level = 1
    while sys._getframe(level).f_code.co_filename.startswith(_PACKAGE):
        level += 1
    warnings.warn(message, stacklevel=level + 1)


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
