"""Assembles the classifier of an algorithm from trained weights."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras import models
from csdl_keras.costs import regret
from csdl_keras.prediction.calibrate import calibrate
from csdl_keras.training.data import Examples, TrainingData
from csdl_keras.training.fit_csosr import load_csosr
from csdl_keras.training.fit_network import build_network
from csdl_keras.training.recipe import Recipe


def assemble(
    recipe: Recipe,
    weights: Sequence[Sequence[np.ndarray]],
    data: TrainingData,
) -> Any:
    """Returns the model of an algorithm: the mean of its members, calibrated, and its decision.

    Args:
        recipe: the algorithm for one cost matrix.
        weights: the weights of each member.
        data: training examples, of which networks keep means, and validation
            examples, on which probabilities are calibrated.
    """
    if not recipe.body.is_network:
        return load_csosr(weights[0])
    algorithm = recipe.algorithm
    held_out = data.validation if algorithm.calibrated else None
    members = [_member(recipe, arrays, data.train, held_out) for arrays in weights]
    model = members[0] if len(members) == 1 else models.ensemble(members)
    if algorithm.output == "cost":
        return model
    if held_out is not None:
        model = calibrate(model, held_out.x, held_out.y)
    if not algorithm.weighs_costs:
        return model
    if recipe.example_costs is None:
        return models.bayes_classifier(model, recipe.matrix)
    # A constant added to a class's costs changes no decision, so it is removed.
    return models.bayes_classifier(model, regret(recipe.matrix), mean_costs=True)


def _member(
    recipe: Recipe, arrays: Sequence[np.ndarray], data: Examples, held_out: Examples | None
) -> keras.Model:
    network = build_network(recipe, data.x, seed=0)  # its weights are replaced at once
    network.set_weights(arrays)
    return recipe.objective.classifier(network, held_out)
