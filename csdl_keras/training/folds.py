"""Folds of the training examples, each held out from one network of an ensemble."""

import numpy as np

from csdl_keras.training.data import Examples, TrainingData
from csdl_keras.training.recipe import Recipe


def assign_folds(labels: np.ndarray, number: int, seed: int | None) -> np.ndarray:
    """Assigns examples to folds at random, with about the same share of every class in each.

    Args:
        labels: integers `(N,)`.
        number: number of folds.
        seed: seed of the assignment; `None` is 0, so that all networks see the same folds.

    Returns:
        Folds `(N,)`, -1 for the only example of a class, which no network can miss.

    Example:

    >>> assign_folds(np.array([0, 0, 0, 0, 1, 1, 2]), 2, seed=0)
    array([ 1,  0,  1,  0,  0,  1, -1])
    """
    order = np.lexsort((np.random.default_rng(seed or 0).uniform(size=len(labels)), labels))
    folds = np.empty(len(labels), np.int64)
    folds[order] = np.arange(len(labels)) % number
    folds[np.bincount(labels)[labels] == 1] = -1
    return folds


def folds_of(recipe: Recipe, data: TrainingData) -> np.ndarray:
    """Returns the fold of each training example, `(N,)`."""
    return assign_folds(data.train.y, recipe.folds, recipe.context["seed"])


def learned_examples(recipe: Recipe, data: TrainingData) -> Examples:
    """Returns the examples that a recipe's network learns from, all but those of its fold."""
    if not recipe.folds:
        return data.train
    return _chosen(data.train, folds_of(recipe, data) != recipe.member)


def held_out_examples(recipe: Recipe, data: TrainingData) -> Examples | None:
    """Returns the examples that validate a recipe's network, if there are any."""
    if not recipe.folds:
        return data.validation
    return _chosen(data.train, folds_of(recipe, data) == recipe.member)


def _chosen(examples: Examples, chosen: np.ndarray) -> Examples:
    costs = None if examples.costs is None else examples.costs[chosen]
    return Examples(examples.x[chosen], examples.y[chosen], costs)
