"""Builds, pre-trains and trains the network of a recipe."""

import dataclasses
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.frames import Table
from csdl_keras._utils.types import Tensor, Verbose, Weights
from csdl_keras.costs import cost_vectors
from csdl_keras.fitting.divergence import RaiseOnDivergence
from csdl_keras.fitting.seeded_fit import executed_steps, seeded_fit
from csdl_keras.training.augmentation import ChooseAugmentation, affine_layer
from csdl_keras.training.data import TrainingData
from csdl_keras.training.folds import held_out_examples, learned_examples
from csdl_keras.training.keep_deadline import KeepDeadline
from csdl_keras.training.recipe import Recipe
from csdl_keras.training.stop_when_done import StopWhenDone
from csdl_keras.training.validation_cost import ValidationCost


@dataclasses.dataclass(frozen=True)
class FitOptions:
    """Options of every call of `fit` in a stage.

    Args:
        seed: seed of everything random, or `None`.
        unfinished: folder that keeps the state of a stage under way, or `None`.
        callbacks: Keras callbacks for each `fit`.
        verbose: as in `keras.Model.fit`.
        deadline: time at which training ends, as `time.time()` tells it; `None` (default) for
            none.
    """

    seed: int | None
    unfinished: pathlib.Path | None
    callbacks: Sequence[keras.callbacks.Callback]
    verbose: Verbose
    deadline: float | None = None

    @property
    def watched(self) -> bool:
        """Tells whether anybody sees metrics of validation examples that stop nothing."""
        return bool(self.callbacks or self.verbose)

    @property
    def all_callbacks(self) -> list[keras.callbacks.Callback]:
        """The callbacks, and what keeps the deadline before them: they may show what it logs."""
        kept = [] if self.deadline is None else [KeepDeadline(self.deadline)]
        return [*kept, *self.callbacks]


def build_network(recipe: Recipe, x: np.ndarray, seed: int | None) -> keras.Model:
    """Returns the untrained network of a recipe for training inputs `x`."""
    rows: Any = x if recipe.columns is None else Table(x, recipe.columns)
    return recipe.objective.build(recipe.body, rows, recipe.matrix, recipe.unit, seed)


def pretrain_network(
    recipe: Recipe, data: TrainingData, options: FitOptions
) -> tuple[Weights, dict[str, Any]]:
    """Pre-trains a new network; returns the weights of its pre-trained layers and a record."""
    train, pretraining = learned_examples(recipe, data), recipe.pretraining
    assert pretraining is not None
    model = build_network(recipe, data.train.x, options.seed)
    matrix, costs = recipe.pretraining_costs, None
    if matrix is not None and train.costs is not None and pretraining.looks_at == "costs":
        costs = train.costs / recipe.unit
    elif matrix is not None:
        costs = cost_vectors(matrix, train.y)
    pretraining.run(
        model,
        train.x,
        costs,
        unlabelled=data.unlabelled,
        epochs=recipe.pretraining_epochs,
        batch_size=recipe.body.batch_size,
        seed=options.seed,
        callbacks=[
            *options.callbacks,
            RaiseOnDivergence(f"{recipe.algorithm.name!r} (pre-training)"),
        ],
        verbose=options.verbose,
        unfinished=options.unfinished,
    )
    weights = [array for layer in pretraining.layers(model) for array in layer.get_weights()]
    return weights, {"epochs": recipe.pretraining_epochs}


def fit_network(
    recipe: Recipe,
    data: TrainingData,
    pretrained: Sequence[np.ndarray],
    options: FitOptions,
) -> tuple[Weights, dict[str, Any]]:
    """Trains a new network, from `pretrained` layers if any; returns its weights and a record."""
    train, validation = learned_examples(recipe, data), held_out_examples(recipe, data)
    name, costs = recipe.algorithm.name, (recipe.matrix, recipe.unit)
    body, objective = recipe.body, recipe.objective
    model = build_network(recipe, data.train.x, options.seed)
    if recipe.pretraining is not None:
        weights = iter(pretrained)
        for layer in recipe.pretraining.layers(model):
            layer.set_weights([next(weights) for _ in layer.weights])
    shape = train.x.shape
    optimizer = body.optimizer(body.steps_on(shape), on_costs=objective.on_costs)
    executed = executed_steps(len(train.x), body.batch_size)
    arguments = objective.compile_arguments(train, *costs, name)
    if recipe.smoothing and validation is not None:
        arguments["loss"] = _smoothed_crossentropy(recipe.smoothing)
    callbacks = options.all_callbacks
    if recipe.stopping_costs is not None:
        assert validation is not None and validation.known is not None
        # Before the others, which may read what it writes; the metric of errors has its name.
        callbacks.insert(
            0, ValidationCost(validation.x, validation.y, validation.known, objective.output)
        )
        arguments["metrics"] = []
    if not model.compiled:  # as a network of the user's may be
        model.compile(optimizer, **arguments, steps_per_execution=executed)
    epochs = body.epochs_on(shape)
    if body.augments(train.x) and affine_layer(model) is not None:
        looked_at = train if validation is None else validation
        callbacks.append(ChooseAugmentation(looked_at.x, looked_at.y, round(epochs / 6)))
    stopping, monitor = [], body.monitor(train.x)
    if validation is not None and monitor is not None:
        stopping.append(StopWhenDone(monitor, body.patience_on(shape)))
    history = seeded_fit(
        model,
        train.x,
        objective.targets(train, *costs),
        options.seed,
        options.unfinished,
        callbacks,
        stopping,
        sample_weight=objective.sample_weight(train, recipe.matrix, name),
        validation_data=(
            (validation.x, objective.targets(validation, *costs))
            if validation is not None and (monitor is not None or options.watched)
            else None
        ),
        epochs=epochs,
        batch_size=body.batch_size,
        what=repr(name),
        verbose=options.verbose,
    )
    return model.get_weights(), {
        "epochs": len(history.epoch),
        "history": {name: list(map(float, values)) for name, values in history.history.items()},
    }


def _smoothed_crossentropy(share: float) -> Callable[[Tensor, Tensor], Tensor]:
    """Returns the cross-entropy of integer labels, of which a share is spread over all classes."""

    def smoothed_crossentropy(labels: Tensor, probabilities: Tensor) -> Tensor:
        labels = keras.ops.cast(keras.ops.reshape(labels, (-1,)), "int32")
        rows = keras.ops.one_hot(labels, probabilities.shape[-1], dtype=probabilities.dtype)
        return keras.losses.categorical_crossentropy(rows, probabilities, label_smoothing=share)

    return smoothed_crossentropy
