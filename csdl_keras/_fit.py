"""How a network is built and trained for a row of Table 1."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._job import Job
from csdl_keras.costs import cost_vectors, zero_one
from csdl_keras.hidden_layers import hidden_layers
from csdl_keras.losses import MINLoss, OneSidedLoss, SOSRLoss
from csdl_keras.metrics import AverageCost
from csdl_keras.pretraining import pretrain

Weights = list[np.ndarray]


def build_network(job: Job, x: np.ndarray, seed: int | None) -> keras.Model:
    """The untrained network of a job for training inputs `x`."""
    return job.body.build(job.settings, x, len(job.matrix), job.row.output, seed)


def pretrain_network(
    job: Job,
    x: np.ndarray,
    y: np.ndarray,
    seed: int | None,
    callbacks: Sequence[keras.callbacks.Callback],
    verbose: Any,
) -> tuple[Weights, dict[str, Any]]:
    """Pre-trains a new network; returns the weights of its hidden layers."""
    model = build_network(job, x, seed)
    settings, costs = job.settings, job.pretraining_costs
    optimizers = {"adam": keras.optimizers.Adam, "sgd": keras.optimizers.SGD}
    pretrain(
        model,
        x,
        costs=None if costs is None else cost_vectors(costs, y),
        beta=job.beta,
        corruption=settings.corruption,
        epochs=job.pretraining_epochs,
        batch_size=settings.batch_size,
        optimizer=optimizers[settings.pretraining_optimizer](settings.pretraining_learning_rate),
        tied=settings.tied_weights,
        seed=seed,
        callbacks=callbacks,
        verbose=verbose,
    )
    weights = [array for layer in hidden_layers(model) for array in layer.get_weights()]
    return weights, {"epochs": job.pretraining_epochs}


def fit_network(
    job: Job,
    x: np.ndarray,
    y: np.ndarray,
    validation_data: tuple[np.ndarray, np.ndarray] | None,
    pretrained: Sequence[np.ndarray],
    seed: int | None,
    callbacks: Sequence[keras.callbacks.Callback],
    verbose: Any,
) -> tuple[Weights, dict[str, Any]]:
    """Trains a new network from pre-trained weights, if any; returns all its weights."""
    model, settings = build_network(job, x, seed), job.settings
    if len(pretrained):
        weights = iter(pretrained)
        for layer in hidden_layers(model):
            layer.set_weights([next(weights) for _ in layer.weights])
    optimizer = job.body.optimizer(settings, job.body.steps(settings, len(x)))
    model.compile(optimizer, loss=_loss(job, y), metrics=[_metric(job)])
    callbacks = list(callbacks)
    if validation_data is not None:
        callbacks.append(
            keras.callbacks.EarlyStopping(
                job.body.monitor,
                mode="min",
                patience=job.patience,
                restore_best_weights=True,
            )
        )
    history = model.fit(
        x,
        y,
        sample_weight=_mean_costs(job, y) if job.row.training == "weighted_nll" else None,
        validation_data=validation_data,
        epochs=job.epochs,
        batch_size=job.body.batch_size(settings),
        callbacks=callbacks,
        verbose=verbose,
    )
    return model.get_weights(), {"epochs": len(history.epoch)}


def _loss(job: Job, y: np.ndarray) -> keras.losses.Loss:
    if job.row.output == "cost":
        return OneSidedLoss(job.scaled) if job.settings.hard_hinge else SOSRLoss(job.scaled)
    if job.row.training == "min":
        priors = np.bincount(y, minlength=len(job.matrix)) / len(y)
        return MINLoss(job.scaled, priors)
    return keras.losses.SparseCategoricalCrossentropy()


def _metric(job: Job) -> AverageCost:
    """What early stopping watches; cost-blind training must not look at the cost matrix."""
    blind = job.row.training == "nll"
    return AverageCost(zero_one(len(job.matrix)) if blind else job.matrix, output=job.row.output)


def _mean_costs(job: Job, y: np.ndarray) -> np.ndarray:
    """For each example, the mean cost of mistaking its class; 1 on average."""
    weights = (job.matrix.sum(axis=1) / (len(job.matrix) - 1))[y]
    return weights / weights.mean()
