"""Makes classifiers of trained stages."""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras import models
from csdl_keras._utils.data_model import with_data
from csdl_keras.costs import regret
from csdl_keras.fitting.stage_cache import StageResult
from csdl_keras.prediction.calibrate import calibrate, fit_temperature, with_temperature
from csdl_keras.prediction.ensemble import view_average
from csdl_keras.training.augmentation import affine_layer
from csdl_keras.training.data import Examples, TrainingData
from csdl_keras.training.fit_csosr import load_csosr
from csdl_keras.training.fit_network import build_network
from csdl_keras.training.fit_stacked import split_members
from csdl_keras.training.folds import held_out_examples
from csdl_keras.training.raw_data import with_columns
from csdl_keras.training.recipe import Recipe
from csdl_keras.training.stages import Stages

OnError = Callable[[int, Exception], None]


@dataclasses.dataclass(frozen=True)
class Trained:
    """A trained classifier.

    Args:
        model: the classifier, a `keras.Model` or, for `csosr`, a `baselines.CSOSR`;
            `csdl_keras.decide` takes its decisions.
        seconds: seconds of pre-training and training; stages that are shared with other
            algorithms count in full.
        epochs: epochs of training, without those of pre-training.
        unit: the cost that an output of 1 stands for, if the model outputs costs: of algorithms
            that train on costs the largest cost, of `cost_model` and Poisson the mean of the
            costs above 0. Defaults to 1.
        history: the losses and metrics of each epoch, as `fit` of the first network kept
            them; empty if its training keeps none. Losses are of costs divided by `unit`,
            average costs are not.
    """

    model: Any
    seconds: float
    epochs: int
    unit: float = 1.0
    history: dict[str, list[float]] = dataclasses.field(default_factory=dict)


def assemble(
    recipe: Recipe,
    weights: Sequence[Sequence[np.ndarray]],
    data: TrainingData,
) -> Any:
    """Returns the classifier of an algorithm: the mean of its members, calibrated if it says so.

    Args:
        recipe: the algorithm for one cost matrix.
        weights: the weights of each member.
        data: training examples, whose means networks keep, and validation examples, on
            which probabilities are calibrated.
    """
    if not recipe.body.is_network:
        return load_csosr(weights[0])
    algorithm = recipe.algorithm
    recipes = [dataclasses.replace(recipe, member=index) for index in range(len(weights))]
    held_out = [held_out_examples(one, data) if algorithm.calibrated else None for one in recipes]
    members = [
        _member(recipe, arrays, data, examples)
        for arrays, examples in zip(weights, held_out, strict=True)
    ]
    model = members[0] if len(members) == 1 else models.ensemble(members)
    if algorithm.output == "cost":
        return model
    if recipe.folds:
        model = with_temperature(model, _cross_fitted(members, held_out))
    elif held_out[0] is not None:
        model = calibrate(model, held_out[0].x, held_out[0].y)
    if not algorithm.weighs_costs:
        return model
    if recipe.example_costs is None and data.mean_costs is None:
        return models.bayes_classifier(model, recipe.matrix)
    # A constant added to a class's costs changes no decision, so it is removed.
    return models.bayes_classifier(model, regret(recipe.matrix), mean_costs=True)


def _cross_fitted(members: Sequence[keras.Model], held_out: Sequence[Examples | None]) -> float:
    """Returns the temperature that suits members on the examples that each was held out from."""
    folds = [examples for examples in held_out if examples is not None]
    rows = [
        member.predict(examples.x, verbose=0)
        for member, examples in zip(members, folds, strict=True)
    ]
    labels = np.concatenate([examples.y for examples in folds])
    return fit_temperature(np.concatenate(rows), labels)[0]


def _member(
    recipe: Recipe, arrays: Sequence[np.ndarray], data: TrainingData, held_out: Examples | None
) -> keras.Model:
    x = data.train.x
    network = build_network(recipe, x, seed=0)  # Its weights are replaced at once.
    network.set_weights(arrays)
    model = recipe.objective.classifier(network)
    if data.columns is not None and recipe.columns is None:
        model = with_columns(model, data.columns)
    affine = affine_layer(network) if recipe.body.augments(x) else None
    averages = recipe.algorithm.output == "probability" or recipe.objective.calibrates
    if affine is not None and averages:
        mirrored = bool(keras.ops.convert_to_numpy(affine.strengths)[3])
        # An image of one row or column cannot be shifted by a pixel.
        model = view_average(model, pixels=int(min(x.shape[1:3]) > 1), flip=mirrored)
    if recipe.objective.calibrates and held_out is not None:
        # Members differ in probabilities and costs, so each is calibrated by itself.
        model = calibrate(model, held_out.x, held_out.y)
    return model


def train_one(stages: Stages, members: Sequence[Recipe]) -> Trained:
    """Returns the classifier of an algorithm's networks; trains networks that are not trained."""
    seconds, results = 0.0, list[StageResult]()
    for recipe in members:
        late = stages.deadline is not None and time.time() > stages.deadline
        if results and late and not stages.is_trained(recipe):
            break  # The networks that are trained are an ensemble, too.
        pretrained = stages.pretrained(recipe)
        results.append(stages.trained(recipe))
        seconds += results[-1].seconds + (pretrained.seconds if pretrained else 0.0)
    weights = [
        arrays
        for recipe, result in zip(members[: len(results)], results, strict=True)
        for arrays in split_members(result.arrays, recipe.stacked)
    ]
    first = members[0]
    model = assemble(first, weights, stages.data)
    unit = first.unit if first.algorithm.output == "cost" else 1.0
    if isinstance(model, keras.Model):
        model = with_data(model, classes=stages.data.classes, unit=unit)
    info = results[0].info
    return Trained(model, seconds, int(info["epochs"]), unit, info.get("history", {}))


def train_several(
    stages: Stages, requests: Sequence[Sequence[Recipe]], processes: int, on_error: OnError
) -> Iterator[tuple[int, Trained]]:
    """Trains algorithms; yields the index and the result of each, as soon as it is trained.

    Args:
        stages: runs and keeps the stages.
        requests: the recipes of each algorithm.
        processes: number of processes; 1 is this one.
        on_error: called with the index and the error of each request that fails.
    """
    waiting = dict(enumerate(requests))
    if processes > 1:
        everything = [recipe for members in requests for recipe in members]
        with contextlib.closing(stages.run_missing(everything, processes)) as missing:
            for concerned, error in missing:
                identities = set(map(id, concerned))
                for index in list(waiting):
                    if error is not None and not identities.isdisjoint(map(id, waiting[index])):
                        del waiting[index]
                        on_error(index, error)
                    elif all(map(stages.is_trained, waiting[index])):
                        yield from _ready(stages, index, waiting.pop(index), on_error)
    for index, members in waiting.items():
        yield from _ready(stages, index, members, on_error)


def _ready(
    stages: Stages, index: int, members: Sequence[Recipe], on_error: OnError
) -> Iterator[tuple[int, Trained]]:
    try:
        trained = train_one(stages, members)
    except Exception as error:
        on_error(index, error)
    else:
        yield index, trained
