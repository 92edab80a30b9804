"""The pre-trainings of algorithms."""

import dataclasses
import pathlib
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.checks import check_bool, check_choice, check_integer
from csdl_keras._utils.types import Verbose
from csdl_keras.fitting.cache import StageCache
from csdl_keras.pretraining.hidden_layers import hidden_layers
from csdl_keras.pretraining.pretrain import pretrain
from csdl_keras.training.bodies import Choices, choice, positive, share

#: The data that pre-training can use, with the paper's marks in Table 1.
MARKS = {"inputs": "X", "errors": "E", "costs": "O"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pretraining(Choices):
    """Base class of pre-trainings, which prepare a network before its training.

    For your own pre-training, implement `run` in a subclass, and pass an instance to `Algorithm`
    instead of a name. A cache keeps its results if it has a `version`, see `csdl_keras.StageCache`.

    Args:
        sees: data that it uses: only `"inputs"`; `"errors"`, the 0/1 costs of labels; or `"costs"`
            (default).
        epochs: epochs of each layer. Defaults to 10.

    Example:

    >>> from csdl_keras import training
    >>> class Nothing(training.Pretraining):
    ...     def run(self, model, x, costs, **others):
    ...         pass
    >>> Nothing(sees="inputs").epochs
    10
    """

    sees: str = choice("costs", check_choice, choices=tuple(MARKS))
    epochs: int = choice(10, check_integer)

    def run(
        self,
        model: keras.Model,
        x: np.ndarray,
        costs: np.ndarray | None,
        *,
        unlabelled: np.ndarray | None,
        epochs: int,
        batch_size: int,
        seed: int | None,
        callbacks: Sequence[keras.callbacks.Callback],
        verbose: Verbose,
        unfinished: pathlib.Path | None,
    ) -> None:
        """Changes the weights of `layers(model)`.

        Args:
            model: the untrained network.
            x, unlabelled: inputs `(N, ...)`, and additional ones without labels or `None`.
            costs: cost vectors `(N, D)` divided by the largest cost, 0/1 costs `(N, K)`
                of errors, or `None` if it uses only inputs.
            epochs: epochs of each layer; on small sets, more than `self.epochs`.
            batch_size, callbacks, verbose: as in `keras.Model.fit`.
            seed: seed of everything random, or `None`.
            unfinished: folder for the state, to resume an interrupted run, or `None`.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement `run`.")

    def layers(self, model: keras.Model) -> list[keras.layers.Layer]:
        """Returns the layers to train, by default the hidden `Dense` layers."""
        return list(hidden_layers(model))

    @property
    def looks_at(self) -> str:
        """The data that it uses with its settings, see `sees`."""
        return self.sees


@dataclasses.dataclass(frozen=True, kw_only=True)
class AutoEncoders(Pretraining):
    """Pre-trains hidden layers one after the other as auto-encoders, see `pretrain`.

    Args:
        learning_rate: learning rate of the optimizer. Defaults to 0.001.
        optimizer: `"adam"` (default) or `"sgd"`.
        corruption: probability of setting an input to zero. Defaults to 0.25.
        beta: balance between reconstruction (0) and costs (1). Defaults to 0.25.
        tied_weights: whether decoders use the transposed weights. Defaults to False.
        **choices: see `Pretraining`; `sees` is set by the `Algorithm`.

    Example:

    >>> from csdl_keras import training
    >>> training.AutoEncoders(beta=0).looks_at
    'inputs'
    """

    learning_rate: float = positive(1e-3)
    optimizer: str = choice("adam", check_choice, choices=("adam", "sgd"))
    corruption: float = share(0.25)
    beta: float = share(0.25)
    tied_weights: bool = choice(False, check_bool)

    @property
    def looks_at(self) -> str:
        """As `sees`, but with `beta = 0` only the inputs."""
        return self.sees if self.beta > 0 else "inputs"

    def run(
        self,
        model: keras.Model,
        x: np.ndarray,
        costs: np.ndarray | None,
        *,
        unfinished: pathlib.Path | None,
        **fit_arguments: Any,
    ) -> None:
        kind = keras.optimizers.Adam if self.optimizer == "adam" else keras.optimizers.SGD
        pretrain(
            model,
            x,
            costs=costs,
            beta=0.0 if costs is None else self.beta,
            corruption=self.corruption,
            optimizer=kind(self.learning_rate),
            tied=self.tied_weights,
            cache=None if unfinished is None else StageCache(unfinished),
            binary_costs=True,  # `Trainer` checked the costs before scaling.
            **fit_arguments,
        )


#: The data that each of the paper's pre-trainings uses, by its name in `Algorithm`.
PRETRAININGS: dict[str, str | None] = {
    "none": None,
    "dae": "inputs",
    "seae": "errors",
    "cae": "costs",
}
