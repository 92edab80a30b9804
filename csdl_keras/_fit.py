"""How a network is built and trained for a row."""

import pathlib
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras import models
from csdl_keras._job import Job
from csdl_keras._objective import mean_costs, objective, targets
from csdl_keras._training_data import TrainingData
from csdl_keras.costs import cost_vectors
from csdl_keras.fitting.divergence import RaiseOnDivergence
from csdl_keras.fitting.seeded_fit import executed_steps, seeded_fit
from csdl_keras.fitting.stage_cache import StageCache
from csdl_keras.pretraining.hidden_layers import hidden_layers
from csdl_keras.pretraining.pretrain import pretrain

Weights = list[np.ndarray]


def build_network(job: Job, x: np.ndarray, seed: int | None) -> keras.Model:
    """The untrained network of a job for training inputs `x`."""
    if job.row.training == "expected_cost":
        body = job.body.build(job.settings, x, len(job.matrix), "features", seed)
        return models.expected_cost_model(body, job.scaled, seed=seed)
    # Probabilities of classes, or costs of decisions.
    width = job.matrix.shape[1 if job.row.output == "cost" else 0]
    return job.body.build(job.settings, x, width, job.row.output, seed)


def pretrain_network(
    job: Job,
    data: TrainingData,
    seed: int | None,
    unfinished: pathlib.Path | None,
    callbacks: Sequence[keras.callbacks.Callback],
    verbose: Any,
) -> tuple[Weights, dict[str, Any]]:
    """Pre-trains a new network; returns the weights of its hidden layers.

    In the folder `unfinished`, if there is one, it keeps layers that are done, and the state
    of the one under way.
    """
    train = data.train
    model = build_network(job, train.x, seed)
    settings, matrix = job.settings, job.pretraining_costs
    costs = None
    if train.costs is not None and matrix is not None and job.row.pretraining == "cae":
        costs = train.costs / job.unit
    elif matrix is not None:
        costs = cost_vectors(matrix, train.y)
    optimizers = {"adam": keras.optimizers.Adam, "sgd": keras.optimizers.SGD}
    pretrain(
        model,
        train.x,
        costs=costs,
        unlabelled=data.unlabelled,
        beta=job.beta,
        corruption=settings.corruption,
        epochs=job.pretraining_epochs,
        batch_size=settings.batch_size,
        optimizer=optimizers[settings.pretraining_optimizer](settings.pretraining_learning_rate),
        tied=settings.tied_weights,
        seed=seed,
        callbacks=[*callbacks, RaiseOnDivergence(f"{job.row.name!r} (pre-training)")],
        verbose=verbose,
        cache=None if unfinished is None else StageCache(unfinished),
    )
    weights = [array for layer in hidden_layers(model) for array in layer.get_weights()]
    return weights, {"epochs": job.pretraining_epochs}


def fit_network(
    job: Job,
    data: TrainingData,
    pretrained: Sequence[np.ndarray],
    seed: int | None,
    unfinished: pathlib.Path | None,
    callbacks: Sequence[keras.callbacks.Callback],
    verbose: Any,
) -> tuple[Weights, dict[str, Any]]:
    """Trains a new network from pre-trained weights, if any; returns all its weights.

    It keeps its state in the folder `unfinished`, if there is one.
    """
    train, validation = data.train, data.validation
    model, settings = build_network(job, train.x, seed), job.settings
    if len(pretrained):
        weights = iter(pretrained)
        for layer in hidden_layers(model):
            layer.set_weights([next(weights) for _ in layer.weights])
    steps = job.body.steps(settings, train.x.shape)
    optimizer = job.body.optimizer(settings, steps, on_costs=job.on_costs)
    batch_size = job.body.batch_size(settings)
    executed = executed_steps(len(train.x), batch_size)
    model.compile(optimizer, **objective(job, train), steps_per_execution=executed)
    stopping, monitor = [], job.body.monitor(train.x)
    if validation is not None and monitor is not None:
        stopping.append(
            keras.callbacks.EarlyStopping(
                monitor,
                mode="min",
                patience=job.patience,
                restore_best_weights=True,
            )
        )
    history = seeded_fit(
        model,
        train.x,
        targets(job, train),
        seed,
        unfinished,
        callbacks,
        stopping,
        sample_weight=mean_costs(job, train) if job.row.training == "weighted_nll" else None,
        validation_data=None if validation is None else (validation.x, targets(job, validation)),
        epochs=job.epochs,
        batch_size=batch_size,
        what=repr(job.row.name),
        verbose=verbose,
    )
    return model.get_weights(), {"epochs": len(history.epoch)}
