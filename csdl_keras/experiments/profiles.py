"""The sizes of a grid, from minutes to days."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from csdl_keras.algorithms import PAPER_ALGORITHMS, Algorithm
from csdl_keras.settings import Settings

#: The paper's grid of balances between reconstruction and costs.
BETAS = (0.0, 0.05, 0.1, 0.25, 0.4, 0.75, 1.0)


@dataclasses.dataclass(frozen=True)
class Profile:
    """The size of a grid, and the values that it chooses from on validation.

    Args:
        datasets: names of data sets, with `_imb` for imbalanced variants.
        settings: settings of the training where nothing is chosen.
        grids: values to choose from, by the name of a field of `Settings`;
            fields are chosen one after the other, in this order.
        cost_seeds: number of cost matrices.
        slow_cost_seeds: number of cost matrices for algorithms that train a
            convolutional network or a kernel machine for each matrix.
        train_size: examples of training and validation for fully-connected
            networks and the kernel machine; `None` (default) is all.
        cnn_train_size: the same for convolutional networks.
        algorithms: names of `ALGORITHMS`, or your own `Algorithm`s; defaults to the
            fifteen of the paper.
    """

    datasets: tuple[str, ...]
    settings: Settings
    grids: Mapping[str, tuple[Any, ...]]
    cost_seeds: int
    slow_cost_seeds: int
    train_size: int | None = None
    cnn_train_size: int | None = None
    algorithms: tuple[str | Algorithm, ...] = PAPER_ALGORITHMS

    def parameters(self, algorithm: Algorithm) -> list[str]:
        """Returns the fields that are chosen for an algorithm, in order."""
        if algorithm.body == "svm":
            fields = ["penalty", "gamma_factor"]
        elif algorithm.body == "cnn":
            fields = ["cnn_learning_rate"]
        else:
            fields = ["learning_rate"]
            if algorithm.pretraining != "none":
                fields += ["pretraining_learning_rate", "corruption"]
            if algorithm.pretraining in ("seae", "cae"):
                fields.append("beta")
        return [name for name in self.grids if name in fields]

    def matrices(self, algorithm: Algorithm) -> int:
        """Returns the number of cost matrices for an algorithm."""
        shared = algorithm.training == "nll" or algorithm.body == "mlp"
        return self.cost_seeds if shared else min(self.cost_seeds, self.slow_cost_seeds)


_FOUR = ("mnist", "bg_img_rot", "svhn", "cifar10")
_HERE = ("mnist", "bg_img_rot_synthetic", "cifar10")


def _with_variants(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{name}{suffix}" for name in names for suffix in ("", "_imb"))


#: Profiles by name.
PROFILES = {
    "tiny": Profile(
        datasets=("digits",),
        settings=Settings(hidden_units=(64, 64, 64), batch_size=50),
        grids={"beta": (0.0, 0.25, 1.0), "penalty": (1.0, 10.0)},
        cost_seeds=2,
        slow_cost_seeds=2,
    ),
    "small": Profile(
        datasets=_with_variants(_HERE),
        settings=Settings(epochs=20, cnn_epochs=10),
        grids={
            "learning_rate": (0.05, 0.2, 0.5),
            "beta": BETAS,
            "penalty": (1.0, 10.0),
            "gamma_factor": (1.0, 2.0),
        },
        cost_seeds=5,
        slow_cost_seeds=3,
        train_size=12_000,
    ),
    # Vincent et al.'s grids (JMLR 2010) for networks of the size that the paper reports.
    "paper": Profile(
        datasets=_with_variants(_FOUR),
        settings=Settings(
            hidden_units=(3000, 3000, 3000),
            epochs=100,
            momentum=0.0,
            pretraining_epochs=30,
            pretraining_optimizer="sgd",
            pretraining_learning_rate=0.01,
            cnn_epochs=30,
        ),
        grids={
            "learning_rate": (5e-4, 5e-3, 5e-2, 1e-1, 2e-1),
            "cnn_learning_rate": (1e-4, 5e-4, 1e-3),
            "pretraining_learning_rate": (5e-4, 5e-3, 5e-2),
            "corruption": (0.0, 0.1, 0.25, 0.4),
            "beta": BETAS,
            "penalty": (0.3, 1.0, 3.0, 10.0),
            "gamma_factor": (0.5, 1.0, 2.0, 4.0),
        },
        cost_seeds=5,
        slow_cost_seeds=5,
    ),
}
