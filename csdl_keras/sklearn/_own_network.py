"""Trains networks that a user's function builds, as the default rows are trained."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from csdl_keras import models
from csdl_keras._utils.seeds import member_seed
from csdl_keras.costs import cost_vectors, regret
from csdl_keras.fitting.divergence import RaiseOnDivergence
from csdl_keras.outputs.kind import output_kind
from csdl_keras.prediction.calibrate import calibrate
from csdl_keras.training.data import TrainingData
from csdl_keras.training.objectives import OBJECTIVES
from csdl_keras.training.settings import Settings

Builder = Callable[[tuple[int, ...], int], keras.Model]


def train_own_networks(
    build: Builder,
    data: TrainingData,
    matrix: np.ndarray,
    settings: Settings,
    seed: int | None,
    members: int,
    verbose: Any,
) -> tuple[keras.Model, float]:
    """Trains what `build` returns, and lets the mean of its outputs decide by costs.

    Args:
        build: maps the shape of an input and `K` to a network.
        data: to train and to validate on.
        matrix: `(K, D)`; of costs that differ from example to example, the mean
            of each class.
        settings: its `auto` says how they are trained.
        seed: from which each member begins, or `None`.
        members: number of networks.
        verbose: as in `keras.Model.fit`.

    Returns:
        The model, whose output is costs of decisions, and the cost that an
        output of 1 stands for.
    """
    vectors = cost_vectors(matrix, data.train.y) if data.train.costs is None else data.train.costs
    unit = float(vectors.max())
    networks = []
    for member in range(members):
        begin = member_seed(seed, member)
        if begin is not None:
            keras.utils.set_random_seed(begin)
        network = build(data.train.x.shape[1:], len(matrix))
        _fit(network, _check_output(network, matrix), data, matrix / unit, unit, settings, verbose)
        networks.append(network)
    model = networks[0] if members == 1 else models.ensemble(networks)
    if output_kind(model) == "cost":
        return model, unit
    if data.validation is not None:
        model = calibrate(model, data.validation.x, data.validation.y)
    own_costs = data.train.costs is not None
    return models.bayes_classifier(model, regret(matrix), mean_costs=own_costs), 1.0


def _check_output(network: Any, matrix: np.ndarray) -> str:
    """What the network outputs; raises if its decisions would be others than the matrix has."""
    if not isinstance(network, keras.Model):
        raise ValueError(f"Expected a builder to return a keras.Model; received {network!r}.")
    kind, width = output_kind(network), network.output_shape[-1]
    classes, decisions = matrix.shape
    if kind == "cost" and classes != decisions:
        raise ValueError(
            "Expected a network of class probabilities where decisions are not the classes; "
            f"received one of costs with {classes} classes and {decisions} decisions."
        )
    if width != classes and (kind, width, classes) != ("probability", 1, 2):
        raise ValueError(
            f"Expected a network with an output for each of {classes} classes; received {width}."
        )
    return kind


def _fit(
    network: keras.Model,
    kind: str,
    data: TrainingData,
    scaled: np.ndarray,
    unit: float,
    settings: Settings,
    verbose: Any,
) -> None:
    body, shape = settings.auto, data.train.x.shape
    if not network.compiled:
        objective = OBJECTIVES["sosr" if kind == "cost" else "nll"]
        loss = objective.make_loss()
        if network.output_shape[-1] == 1:
            loss = keras.losses.BinaryCrossentropy()
        optimizer = body.optimizer(body.steps_on(shape), on_costs=objective.on_costs)
        network.compile(optimizer, loss=loss)
    pairs = []
    for part in data.parts:
        if kind == "probability":
            pairs.append((part.x, part.y))
        else:
            costs = scaled[part.y] if part.costs is None else part.costs / unit
            pairs.append((part.x, costs.astype("float32")))
    callbacks: list[keras.callbacks.Callback] = [RaiseOnDivergence()]
    if len(pairs) > 1:
        patience = body.patience_on(shape)
        best = keras.callbacks.EarlyStopping(
            "val_loss", patience=patience, restore_best_weights=True
        )
        callbacks.insert(0, best)
    network.fit(
        *pairs[0],
        validation_data=pairs[1] if len(pairs) > 1 else None,
        epochs=body.epochs_on(shape),
        batch_size=body.batch_size,
        callbacks=callbacks,
        verbose=verbose,
    )
