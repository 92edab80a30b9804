"""Trains the estimator's algorithm and validates on examples held out."""

import numbers
from collections.abc import Callable
from typing import TypeAlias

import keras
import numpy as np

from csdl_keras._utils.checks import OUTPUTS
from csdl_keras._utils.seeds import random_generator
from csdl_keras._utils.types import Classifier, Verbose
from csdl_keras.costs.known import KnownCosts, vectors_of_labels
from csdl_keras.prediction.kind import check_loss, describe_output
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.algorithms import ALGORITHMS, get_algorithm, with_options
from csdl_keras.training.data import Examples
from csdl_keras.training.own_network import Network
from csdl_keras.training.recipes import with_members
from csdl_keras.training.settings import Settings
from csdl_keras.training.trainer import Trainer

Builder: TypeAlias = Callable[[tuple[int, ...], int], keras.Model]
#: Source of random numbers in scikit-learn.
RandomState: TypeAlias = int | np.random.RandomState | None

_FRACTION = 0.15

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
    minutes: float | None = None,
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
        effort, minutes: as in `csdl_keras.train`.

    Returns:
        The model, and the cost that an output of 1 stands for if it outputs costs.
    """
    generator, seed = random_generator(random_state), None
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
    if fraction is None:
        found = with_options(algorithm, ensemble, effort)
        found = with_members(found, settings, examples.x.shape)
        # With a limit of time there may be one network only.
        fraction = 0.0 if found.cross_fits and minutes is None else _FRACTION
    kept, held_out = validation_split(examples.y, fraction, generator)
    arrays = (examples.x, examples.y) if costs is None else (examples.x, examples.y, costs)
    validation = tuple(array[held_out] for array in arrays) if len(held_out) else None
    x, y, *own = (array[kept] for array in arrays)
    own_costs = own[0] if own else None
    trainer = Trainer(
        x, y, validation, settings, seed, verbose=verbose, costs=own_costs, network=network
    )
    trained = trainer.train(
        algorithm,
        matrix if costs is None else None,
        ensemble=ensemble,
        effort=effort,
        minutes=minutes,
    )
    return trained.model, trained.unit


def has_probabilities(algorithm: str | Algorithm | Builder) -> bool:
    """Tells whether an algorithm estimates class probabilities; of a builder, assumes so."""
    if callable(algorithm):
        return True
    found = get_algorithm(algorithm)
    return found.output == "probability" or found.objective.calibrates


def validation_split(
    labels: np.ndarray, fraction: float, generator: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Splits examples into training and validation, with the same proportion of every class.

    Every class keeps a training example. If fewer examples would be held out than there
    are classes, too few to validate on, none are.

    Args:
        labels: `(N,)` integers.
        fraction: share of the examples held out, in [0, 1).
        generator: generator that draws the examples.

    Returns:
        Indices `(train, validation)`, both sorted; the second may be empty.

    Example:

    >>> labels = np.array([0, 1] * 10)
    >>> train, validation = validation_split(labels, 0.2, np.random.RandomState(0))
    >>> labels[validation].tolist(), len(train)
    ([0, 1, 0, 1], 16)
    """
    size = len(labels)
    order = np.lexsort((generator.uniform(size=size), labels))  # By class, shuffled within it.
    # Examples are chosen as evenly along that order as whole numbers allow.
    counts = np.floor(fraction * np.arange(size + 1) + 0.5)
    chosen = np.diff(counts) > 0
    chosen[np.flatnonzero(np.diff(labels[order], prepend=-1))] = False  # First one of a class.
    if chosen.sum() < len(np.unique(labels)):
        chosen[:] = False
    return np.sort(order[~chosen]), np.sort(order[chosen])


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
