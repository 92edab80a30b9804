"""Trains the estimator's algorithm and validates on examples held out."""

import dataclasses
import numbers
from collections.abc import Callable
from typing import TypeAlias

import keras
import numpy as np
from sklearn.utils import check_random_state

from csdl_keras._utils.checks import OUTPUTS
from csdl_keras._utils.types import Classifier, Verbose
from csdl_keras.costs.known import KnownCosts, vectors_of_labels
from csdl_keras.prediction.kind import check_loss, describe_output
from csdl_keras.training.algorithms import ALGORITHMS, Algorithm, get_algorithm
from csdl_keras.training.data import HELD_OUT, Examples, validation_split
from csdl_keras.training.own_network import Network
from csdl_keras.training.settings import Settings
from csdl_keras.training.train import Trainer

Builder: TypeAlias = Callable[[tuple[int, ...], int], keras.Model]
#: Source of random numbers in scikit-learn.
RandomState: TypeAlias = int | np.random.RandomState | None

#: The end of messages about costs that are known when deciding.
KNOWN_NEED_PROBABILITIES = (
    " for costs that are known when deciding, of shape (K, D) or (N, K, D); received an algorithm "
    "that estimates costs directly. Take one such as 'calibrated_bayes', or in `fit` the cost "
    "vectors (N, D) of the labels, `csdl_keras.costs.cost_vectors(costs, labels)`."
)


def train_model(
    algorithm: str | Algorithm | Builder,
    examples: Examples,
    matrix: np.ndarray,
    settings: Settings,
    fraction: float | None,
    random_state: RandomState,
    ensemble: int | None,
    verbose: Verbose,
    network: Network | None = None,
    effort: str | None = None,
) -> tuple[Classifier, float]:
    """Trains on a part of the examples and validates on the others.

    Args:
        algorithm: as in `CostSensitiveClassifier`.
        examples: all examples; their costs are vectors `(N, D)`, or are known when deciding.
        matrix: `(K, D)` costs; the means if examples have their own.
        settings: settings of the training.
        fraction: share of the examples held out for validation; `None` is 0.15, or 0 if the
            algorithm cross-fits.
        random_state: source of the seeds of the split and of training.
        ensemble: number of networks, or `None`.
        verbose: as in `keras.Model.fit`.
        network: the user's own, or `None` (default).
        effort: as in `csdl_keras.train`.

    Returns:
        The model, and the cost that an output of 1 stands for if it outputs costs.
    """
    generator, seed = check_random_state(random_state), None
    if isinstance(random_state, numbers.Integral):
        seed = int(random_state)
    elif random_state is not None:
        seed = int(generator.randint(2**31 - 1))
    if callable(algorithm):
        if network is not None:
            raise ValueError("Expected a function as `algorithm` or a `network`; received both.")
        network = algorithm
        algorithm = _own_algorithm(network, examples.x.shape[1:], len(matrix))
    known = examples.known
    costs: KnownCosts | None = examples.costs if known is None else known
    if known is not None:
        if not has_probabilities(algorithm):
            raise ValueError(f"Expected class probabilities{KNOWN_NEED_PROBABILITIES}")
        if not get_algorithm(algorithm).shares_training:
            # What trains on costs trains on those of the labels.
            costs = vectors_of_labels(examples.y, known)
    found = get_algorithm(algorithm)
    if effort is not None:
        found = dataclasses.replace(found, effort=effort)
    if ensemble is not None:
        found = dataclasses.replace(found, members=ensemble)
    if fraction is None:
        members = settings.members_of(found, examples.x.shape)
        fraction = 0.0 if dataclasses.replace(found, members=members).cross_fits else HELD_OUT
    kept, held_out = validation_split(examples.y, fraction, generator)
    arrays = (examples.x, examples.y) if costs is None else (examples.x, examples.y, costs)
    validation = tuple(array[held_out] for array in arrays) if len(held_out) else None
    x, y, *own = (array[kept] for array in arrays)
    own_costs = own[0] if own else None
    trainer = Trainer(
        x,
        y,
        validation,
        settings=settings,
        seed=seed,
        verbose=verbose,
        costs=own_costs,
        network=network,
    )
    trained = trainer.train(found, matrix if costs is None else None)
    return trained.model, trained.unit


def has_probabilities(algorithm: str | Algorithm | Builder) -> bool:
    """Tells whether an algorithm estimates class probabilities; of a builder, assumes so."""
    if callable(algorithm):
        return True
    found = get_algorithm(algorithm)
    return found.output == "probability" or found.objective.calibrates


def _own_algorithm(build: Builder, shape: tuple[int, ...], num_classes: int) -> Algorithm:
    """Returns the algorithm that suits what the networks of a function output."""
    network = build(shape, num_classes)
    if not isinstance(network, keras.Model):
        raise ValueError(f"Expected a builder to return a keras.Model; received {network!r}.")
    if (kind := describe_output(network)[0]) in OUTPUTS:
        check_loss(network, kind)
    if kind != "cost":
        return ALGORITHMS["calibrated_bayes"]
    if network.compiled:
        raise ValueError(
            "Expected an uncompiled network of costs, which is trained by SOSRLoss; received "
            f"{network.name!r}, which is compiled."
        )
    return Algorithm("own_network", "Own network", "auto", "none", "sosr", "argmin", False)
