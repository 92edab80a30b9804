"""What the stages of an algorithm depend on, as descriptions that tell equal stages."""

import dataclasses
from typing import Any

import numpy as np

from csdl_keras._bodies import NETWORKS, Body
from csdl_keras._utils.array_file import fingerprint
from csdl_keras.algorithms import Algorithm
from csdl_keras.costs import zero_one
from csdl_keras.settings import Settings

# Raised whenever the code of a stage comes to other results, so that no cache holds old ones.
STAGE_VERSION = 3
PRETRAINING_VERSION = 4


@dataclasses.dataclass(frozen=True)
class Job:
    """An algorithm for one cost matrix under one set of choices.

    Args:
        row: the algorithm.
        matrix: its cost matrix, checked; of costs that differ from example to
            example, the mean of each class.
        settings: how it is trained.
        shape: shape of the training inputs, `(N, ...)`.
        context: what else all stages depend on: data, seed, and the `environment`.
        member: number of the network in an ensemble. Defaults to 0.
        example_costs: `None` (default), or a fingerprint of the examples' own costs.
        largest: the largest cost; `None` (default) is that of the matrix.
        stacked: number of networks that are trained as one, see `fit_stacked`.
            Defaults to 1.
        unlabelled: `None` (default), or a fingerprint of the unlabelled inputs of
            pre-training.
        unlabelled_size: their number. Defaults to 0.
    """

    row: Algorithm
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

    @property
    def on_costs(self) -> bool:
        """Whether the network trains on costs, and not on labels alone or weighted."""
        return self.row.training not in ("nll", "weighted_nll")

    @property
    def unit(self) -> float:
        """By what losses divide costs: the largest, or where it may be far out, the mean."""
        if self.row.training in ("expected_cost", "poisson"):
            return float(self.matrix[self.matrix > 0].mean())
        return float(self.matrix.max()) if self.largest is None else self.largest

    @property
    def scaled(self) -> np.ndarray:
        """The cost matrix as losses see it."""
        return self.matrix / self.unit

    @property
    def beta(self) -> float:
        """The balance in pre-training; 0 is the cost-blind auto-encoder in any row."""
        return self.settings.beta if self.row.pretraining in ("seae", "cae") else 0.0

    @property
    def pretraining_costs(self) -> np.ndarray | None:
        """The cost matrix of pre-training, None where it does not look at costs."""
        if self.beta == 0:
            return None
        return self.scaled if self.row.pretraining == "cae" else zero_one(len(self.matrix))

    @property
    def body(self) -> Body:
        """The network, of rows that have one."""
        return NETWORKS[self.row.body]

    @property
    def pretraining_epochs(self) -> int:
        """Epochs of pre-training, a layer."""
        size = self.shape[0] + self.unlabelled_size
        return self.settings.pretraining_epochs * self.settings.stretch("mlp", size)

    @property
    def epochs(self) -> int:
        """Most epochs of training."""
        return self.body.epochs(self.settings, self.shape)

    @property
    def patience(self) -> int:
        """Epochs without improvement before training stops."""
        return self.body.patience(self.settings, self.shape)

    def pretraining(self) -> dict[str, Any] | None:
        """The description of its pre-training, None if it has none."""
        if self.row.pretraining == "none":
            return None
        settings, costs = self.settings, self.pretraining_costs
        more = {} if self.unlabelled is None else {"unlabelled": self.unlabelled}
        return {
            **self._common("pretraining", PRETRAINING_VERSION),
            **more,
            "hidden_units": list(settings.hidden_units),
            "costs": self._costs(costs, errors=self.row.pretraining == "seae"),
            "beta": self.beta,
            "corruption": settings.corruption,
            "epochs": self.pretraining_epochs,
            "batch_size": settings.batch_size,
            "optimizer": settings.pretraining_optimizer,
            "learning_rate": settings.pretraining_learning_rate,
            "tied_weights": settings.tied_weights,
        }

    def training(self) -> dict[str, Any]:
        """The description of its training, that of its pre-training within."""
        blind = self.row.training == "nll"
        description = {
            **self._common("training"),
            "body": self.row.body,
            "training": self.row.training,
            "costs": None if blind else self._costs(self.scaled),
        }
        settings = self.settings
        if self.row.body == "svm":
            return {
                **description,
                "penalty": settings.penalty,
                "gamma_factor": settings.gamma_factor,
            }
        if self.row.training == "sosr" and settings.hard_hinge:
            description["training"] = "one_sided"
        description |= {"epochs": self.epochs, "patience": self.patience}
        description |= self.body.choices(settings, self.on_costs)
        if self.stacked > 1:
            description["stacked"] = self.stacked
        if self.row.body == "mlp":
            description["pretraining"] = self.pretraining()
        return description

    def _costs(self, matrix: np.ndarray | None, errors: bool = False) -> str | None:
        """What tells the costs that a stage looks at; `errors` are the same for all examples."""
        if matrix is None:
            return None
        if self.example_costs is None or errors:
            return fingerprint(matrix)
        return f"{self.example_costs} / {self.unit!r}"  # rows divide them by different units

    def _common(self, stage: str, version: int = STAGE_VERSION) -> dict[str, Any]:
        classes = len(self.matrix)
        common = {"stage": stage, "version": version, "classes": classes, **self.context}
        return common if self.member == 0 else {**common, "member": self.member}
