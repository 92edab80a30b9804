"""Profiles of the grid: its size, from minutes to days, and its search values."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from csdl_keras.training.algorithms import PAPER_ALGORITHMS, Algorithm
from csdl_keras.training.bodies import MLP, CaffeCNN
from csdl_keras.training.pretrainings import AutoEncoders
from csdl_keras.training.settings import Settings

#: The paper's grid of balances between reconstruction and costs.
BETAS = (0.0, 0.05, 0.1, 0.25, 0.4, 0.75, 1.0)
#: The algorithms that verdicts need most; they run first.
HEADLINE = ("dnn_bayes", "dnn_sosr", "csdnn", "sdae_sosr", "seae_sosr", "sdae_bayes")
#: Maximum number of values that a search adds.
MOST_ADDED = 10


@dataclasses.dataclass(frozen=True)
class Search:
    """The values of a setting to try, together with `given` values of other settings.

    If it `widens`, values beyond an edge are tried as long as the best one is there.
    """

    field: str
    values: tuple[Any, ...]
    widens: bool = False
    given: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def edge(self, tried: Sequence[Any], value: Any) -> str:
        """Returns `"low"` or `"high"` if a value is at an edge that may be widened, else `""`."""
        if not self.widens or min(tried) < value < max(tried):
            return ""
        return "low" if value == min(tried) else "high"

    def next_value(self, tried: Sequence[Any], best: Any) -> float | None:
        """Returns the value to try next; `None` if the best one has neighbours on both sides."""
        edge = self.edge(tried, best)
        if not edge or len(tried) >= len(self.values) + MOST_ADDED:
            return None
        ordered = sorted(tried)
        low, high = ordered[:2] if edge == "low" else ordered[-2:]
        return float(f"{low * low / high if edge == 'low' else high * high / low:.6g}")


@dataclasses.dataclass(frozen=True)
class Profile:
    """The size of a grid, such as its number of `cost_seeds`, and its searches."""

    datasets: tuple[str, ...]
    settings: Settings
    searches: tuple[Search, ...]
    cost_seeds: int = 3
    train_size: int | None = None
    cnn_train_size: int | None = None
    seeds: int = 1
    choices_on: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    algorithms: tuple[str, ...] = PAPER_ALGORITHMS

    def settings_on(self, dataset: str) -> Settings:
        return self.settings.replace(self.choices_on.get(dataset.removesuffix("_imb"), {}))

    def rounds(self, algorithm: Algorithm) -> list[list[Search]]:
        """Returns the searches of an algorithm, grouped by setting, in order."""
        names = self.settings.names(algorithm)
        fields = dict.fromkeys(it.field for it in self.searches if it.field in names)
        return [[it for it in self.searches if it.field == field] for field in fields]


def _with_variants(*names: str) -> tuple[str, ...]:
    return tuple(f"{name}{suffix}" for name in names for suffix in ("", "_imb"))


#: The search of all fully connected networks: two optimizers, whose rates differ by a factor of a
#: hundred, each with as many rates as it takes to find the best one.
_RATES = (
    Search("mlp.learning_rate", (0.01, 0.04, 0.16), True, {"mlp.optimizer_name": "sgd"}),
    Search("mlp.learning_rate", (1e-4, 4e-4, 1.6e-3), True, {"mlp.optimizer_name": "adam"}),
)
#: The same search for all convolutional networks, whose rates decay in training.
_CNN_RATES = (
    Search("cnn.learning_rate", (2.5e-4, 1e-3, 4e-3), True, {"cnn.optimizer_name": "sgd"}),
    Search("cnn.learning_rate", (1e-4, 4e-4, 1.6e-3), True, {"cnn.optimizer_name": "adam"}),
)
_KERNEL = (
    Search("svm.penalty", (1.0, 10.0), True),
    Search("svm.gamma_factor", (1.0, 2.0), True),
)

#: Profiles by name.
PROFILES = {
    "tiny": Profile(
        datasets=("digits",),
        settings=Settings(mlp=MLP(hidden_units=(64, 64, 64), batch_size=50)),
        searches=(
            Search("pretraining.beta", (0.0, 0.25, 1.0)),
            Search("svm.penalty", (1.0, 10.0)),
        ),
        cost_seeds=2,
    ),
    "small": Profile(
        datasets=_with_variants("mnist", "bg_img_rot_synthetic", "cifar10"),
        settings=Settings(mlp=MLP(epochs=300, patience=10), cnn=CaffeCNN(epochs=10)),
        searches=(*_RATES, *_CNN_RATES, Search("pretraining.beta", BETAS), *_KERNEL),
        train_size=12_000,
    ),
    # It tries Vincent et al.'s corruptions (JMLR 2010), for networks of the paper's size.
    "paper": Profile(
        # The first ones are most often available.
        datasets=_with_variants("bg_img_rot_synthetic", "mnist", "cifar10", "bg_img_rot", "svhn"),
        settings=Settings(
            # Updating so many weights takes as long as a batch of 100, so batches are larger.
            mlp=MLP(hidden_units=(3000, 3000, 3000), batch_size=250, epochs=300, patience=15),
            pretraining=AutoEncoders(epochs=15),
            cnn=CaffeCNN(epochs=30),
        ),
        searches=(
            *_RATES,
            *_CNN_RATES,
            Search("pretraining.corruption", (0.0, 0.1, 0.25, 0.4)),
            Search("pretraining.beta", BETAS),
            *_KERNEL,
        ),
        choices_on={"cifar10": {"mlp.hidden_units": (1000, 1000, 1000)}},
    ),
}

#: Settings of the authors' code, in which the cost term has 100 times the weight of reconstruction,
#: and training never stops early.
AUTHORS_SETTINGS = {
    "hard_hinge": True,
    "pretraining.tied_weights": True,
    "pretraining.beta": 100 / 101,
    "mlp.patience": None,
    "cnn.patience": None,
    "mlp.epochs": 50,
}
