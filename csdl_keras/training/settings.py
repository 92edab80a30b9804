"""The settings of training."""

import dataclasses
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from csdl_keras._utils.checks import check_bool, check_integer, check_type
from csdl_keras.training.algorithms import Algorithm
from csdl_keras.training.bodies import (
    MLP,
    AutoNetwork,
    Body,
    CaffeCNN,
    Choices,
    KernelMachine,
    choice,
)
from csdl_keras.training.pretrainings import AutoEncoders, Pretraining


def _part(default: Choices) -> Any:
    kind = type(default)
    return choice(default, check_type, kind=kind, what=f"an instance of {kind.__name__}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(Choices):
    """The settings that all algorithms share, so that they differ only in their stages.

    Args:
        mlp, cnn: a `training.MLP` and a `training.CaffeCNN`, the paper's networks.
        auto: a `training.AutoNetwork`, the network of the default algorithms.
        svm: a `training.KernelMachine`, the kernel machine of `csosr`.
        pretraining: a `training.AutoEncoders`, the pre-training of `mlp`.
        hard_hinge: whether SOSR algorithms train with the hinge loss `OneSidedLoss`, as the
            authors' code does, instead of its smooth version. Defaults to False.
        members: number of networks with different seeds whose outputs are averaged; `None`
            (default) follows the algorithm, or else the effort.

    Example:

    >>> from csdl_keras import Settings, training
    >>> settings = Settings(mlp=training.MLP(hidden_units=(100,)))
    >>> settings.limit_epochs(3).mlp.epochs, settings.replace({"cnn.epochs": 4}).cnn.epochs
    (3, 4)
    """

    mlp: MLP = _part(MLP())
    cnn: CaffeCNN = _part(CaffeCNN())
    auto: AutoNetwork = _part(AutoNetwork())
    svm: KernelMachine = _part(KernelMachine())
    pretraining: AutoEncoders = _part(AutoEncoders())
    hard_hinge: bool = choice(False, check_bool)
    members: int | None = choice(None, check_integer, optional=True)

    def limit_epochs(self, epochs: int) -> "Settings":
        """Returns a copy that trains and pre-trains for at most `epochs` epochs."""
        limits = {"pretraining.epochs": min(self.pretraining.epochs, epochs)}
        for body in ("mlp", "cnn", "auto"):
            limits |= {f"{body}.epochs": epochs, f"{body}.min_steps": 1}
        return self.replace(limits)

    def replace(self, choices: Mapping[str, object]) -> "Settings":
        """Returns a copy with changed values, by names such as `"mlp.learning_rate"`."""
        changed: Any = self
        for name, value in choices.items():
            owner, _, field = name.rpartition(".")
            part: Any = getattr(changed, owner) if owner else changed
            part = dataclasses.replace(part, **{field: value})
            changed = dataclasses.replace(changed, **{owner: part}) if owner else part
        return changed

    def body_of(self, algorithm: Algorithm) -> Any:
        """Returns the body of an algorithm, with the algorithm's effort."""
        body = getattr(self, algorithm.body) if isinstance(algorithm.body, str) else algorithm.body
        if algorithm.effort is None or not body.is_network:
            return body
        return dataclasses.replace(body, effort=algorithm.effort)

    def pretraining_of(self, algorithm: Algorithm) -> Pretraining | None:
        """Returns the pre-training of an algorithm, or `None`."""
        if not isinstance(algorithm.pretraining, str):
            return algorithm.pretraining
        if algorithm.pretraining_sees is None:
            return None
        found = dataclasses.replace(self.pretraining, sees=algorithm.pretraining_sees)
        if found.looks_at == "inputs":  # All of these share one pre-training.
            return dataclasses.replace(found, sees="inputs", beta=0.0)
        return found

    def with_members(self, algorithm: Algorithm, shape: Sequence[int]) -> Algorithm:
        """Returns an algorithm with its number of networks for inputs of a shape `(N, ...)`."""
        body, members = self.body_of(algorithm), 1
        if body.is_network:  # Training other bodies is not random.
            members = self.members or algorithm.members or body.networks_on(shape)
        return dataclasses.replace(algorithm, members=members)

    def names(self, algorithm: Algorithm) -> list[str]:
        """Returns the names, as in `replace`, of the settings that an algorithm uses."""
        found = ["hard_hinge"] if algorithm.objective.hinge is not None else []
        if isinstance(algorithm.body, str):
            fields = dataclasses.fields(self.body_of(algorithm))
            found += [f"{algorithm.body}.{field.name}" for field in fields]
        if algorithm.pretraining_sees and isinstance(algorithm.pretraining, str):
            fields = dataclasses.fields(self.pretraining)
            unread = {"sees", "beta"} if algorithm.pretraining_sees == "inputs" else {"sees"}
            found += [f"pretraining.{it.name}" for it in fields if it.name not in unread]
        return found

    def columns(self, algorithm: Algorithm) -> dict[str, Any]:
        """Returns the settings that an algorithm uses, by the names of their columns."""
        return {column(it): operator.attrgetter(it)(self) for it in self.names(algorithm)}


def column(name: str) -> str:
    """Returns the column of a setting in tables of results, such as `"pretraining_epochs"`."""
    owner, _, field = name.rpartition(".")
    of_bodies = {it.name for it in dataclasses.fields(Body)}
    return f"{owner}_{field}" if owner == "pretraining" and field in of_bodies else field


def check_settings(settings: object) -> Settings:
    """Returns `settings` if it is a `Settings`."""
    return check_type("settings", settings, Settings, "a Settings")
