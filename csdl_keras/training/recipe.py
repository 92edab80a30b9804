"""Describes everything a stage depends on; stages with equal descriptions are the same stage."""

import dataclasses
import functools
from typing import Any

import numpy as np

from csdl_keras._utils.array_file import fingerprint
from csdl_keras._utils.frames import Columns
from csdl_keras.costs import zero_one
from csdl_keras.fitting.descriptions import describe, identity, is_kept
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.objective import Objective
from csdl_keras.training.pretrainings import Pretraining
from csdl_keras.training.settings import Settings

# Raised whenever the code of a stage comes to other results, so that no cache holds old ones.
STAGE_VERSION = 7
PRETRAINING_VERSION = 5


@dataclasses.dataclass(frozen=True)
class Recipe:
    """An algorithm for one cost matrix under one set of choices.

    Args:
        algorithm: the algorithm.
        matrix: its cost matrix, checked; where costs differ from example to
            example, the mean of each class, or of all examples if costs are known.
        settings: how it is trained.
        shape: shape of the training inputs, `(N, ...)`.
        context: what else all stages depend on: data, seed, and the `environment`.
        member: index of the network in an ensemble. Defaults to 0.
        example_costs: fingerprint of the examples' own costs, or `None` (default).
        largest: the largest cost; `None` (default) is that of the matrix.
        stacked: number of networks that are trained as one, see `fit_stacked`. Defaults to 1.
        unlabelled: fingerprint of the unlabelled inputs of pre-training, or `None` (default).
        unlabelled_size: number of unlabelled inputs. Defaults to 0.
        stopping_costs: fingerprint of the known costs by which Bayes decisions on validation
            examples are priced for early stopping; `None` (default) if it looks at none.
        columns: the columns of the data frame that its network takes, or `None` (default).
        folds: number of folds of the training examples, of which network `member` is validated
            on its own, see `folds`. Defaults to 0, none.
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
    stopping_costs: str | None = None
    columns: Columns | None = None
    folds: int = 0

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
    def smoothing(self) -> float:
        """The share of a label that is spread over all classes, if a calibration can undo it."""
        undone = self.algorithm.calibrated and self.objective.stacks
        return self.body.smoothing_on(self.shape) if undone else 0.0

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

    @property
    def stages(self) -> dict[str, dict[str, Any]]:
        """The descriptions of its stages, `"pretraining"`, unless it has none, and `"training"`."""
        stages = {"training": self.describe_training()}
        before = self.describe_pretraining()
        return stages if before is None else {"pretraining": before, **stages}

    @functools.cached_property
    def is_kept(self) -> bool:
        """True if a cache keeps its stages: if all objects of the user's in it have a version."""
        return is_kept(self.stages)

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
            "kind": identity(pretraining),
            "choices": pretraining.describe(),
            "body": identity(self.body),
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
            "body": identity(self.body),
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
        if self.smoothing:
            description["smoothing"] = self.smoothing
        if self.stacked > 1:
            description["stacked"] = self.stacked
        if self.stopping_costs is not None:
            description["stopping_costs"] = self.stopping_costs
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
        common |= {"folds": self.folds} if self.folds else {}
        return common if self.member == 0 else {**common, "member": self.member}
