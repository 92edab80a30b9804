"""Trains what an estimator names on a part of its examples."""

import numbers
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.seeds import random_generator
from csdl_keras.outputs.kind import output_kind
from csdl_keras.sklearn._own_network import Builder, train_own_networks
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.data import Examples, check_training_data
from csdl_keras.training.settings import Settings
from csdl_keras.training.trainer import Trainer


def train_model(
    algorithm: str | Algorithm | Builder,
    examples: Examples,
    matrix: np.ndarray,
    settings: Settings,
    fraction: float,
    random_state: Any,
    ensemble: int | None,
    verbose: Any,
) -> tuple[Any, float]:
    """Trains on a part of the examples, and validates on the others.

    Args:
        algorithm: as in `CostSensitiveClassifier`, and so are the others.
        examples: all of them.
        matrix: `(K, D)`; where examples have costs of their own, their means by class.
        settings: how it is trained.
        fraction: of validation examples.
        random_state: of the split, and of training.
        ensemble: number of networks, or `None`.
        verbose: as in `keras.Model.fit`.

    Returns:
        The model, and the cost that an output of 1 stands for where it outputs costs.
    """
    generator, seed = random_generator(random_state), None
    if isinstance(random_state, numbers.Integral):
        seed = int(random_state)
    elif random_state is not None:
        seed = int(generator.randint(2**31 - 1))
    kept, held_out = validation_split(examples.y, fraction, generator)
    validation = tuple(array[held_out] for array in examples.arrays) if len(held_out) else None
    x, y = examples.x[kept], examples.y[kept]
    costs = None if examples.costs is None else examples.costs[kept]
    if callable(algorithm):
        data = check_training_data(x, y, costs, validation)
        return train_own_networks(algorithm, data, matrix, settings, seed, ensemble or 1, verbose)
    trainer = Trainer(x, y, validation, settings, seed, verbose=verbose, costs=costs)
    trained = trainer.train(algorithm, matrix if costs is None else None, ensemble=ensemble)
    return trained.model, trained.unit


def probability_model(model: Any) -> keras.Model | None:
    """The part of a trained model that outputs class probabilities, if any; layers are shared."""
    if not isinstance(model, keras.Model):
        return None
    if output_kind(model) == "probability":
        return model
    ends = [layer for layer in model.layers if layer.name == "bayes_decision"]
    return keras.Model(model.inputs, ends[0].input) if ends else None


def validation_split(
    labels: np.ndarray, fraction: float, generator: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Indices of training and validation examples, every class divided in the same proportion.

    Every class keeps an example in training. Where fewer would be set apart than
    there are classes, which says too little, all are trained on.

    Args:
        labels: `(N,)` integers.
        fraction: of the examples, in [0, 1).
        generator: draws the examples.

    Returns:
        `(train, validation)`, both sorted; the second may be empty.

    Example:

    >>> labels = np.array([0, 1] * 10)
    >>> train, validation = validation_split(labels, 0.2, np.random.RandomState(0))
    >>> labels[validation].tolist(), len(train)
    ([0, 1, 0, 1], 16)
    """
    size = len(labels)
    order = np.lexsort((generator.uniform(size=size), labels))  # by class, shuffled within it
    # As evenly along that order as whole numbers can be.
    counts = np.floor(fraction * np.arange(size + 1) + 0.5)
    chosen = np.diff(counts) > 0
    chosen[np.flatnonzero(np.diff(labels[order], prepend=-1))] = False  # a class's first one
    if chosen.sum() < len(np.unique(labels)):
        chosen[:] = False
    return np.sort(order[~chosen]), np.sort(order[chosen])
