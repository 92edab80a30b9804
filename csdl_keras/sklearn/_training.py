"""Trains the estimator's network, or those of your own, and validates on examples held out."""

import numbers
from collections.abc import Callable
from typing import TypeAlias

import keras
import numpy as np

from csdl_keras import models
from csdl_keras._utils.seeds import member_seed, random_generator
from csdl_keras._utils.types import Classifier, Verbose
from csdl_keras.costs import cost_vectors, regret
from csdl_keras.costs.known import KnownCosts, vectors_of_labels
from csdl_keras.fitting.seeded_fit import executed_steps, seeded_fit
from csdl_keras.outputs.kind import output_kind
from csdl_keras.prediction.calibrate import calibrate
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.algorithms import get_algorithm
from csdl_keras.training.data import Examples, TrainingData, check_training_data
from csdl_keras.training.objectives import OBJECTIVES
from csdl_keras.training.settings import Settings
from csdl_keras.training.trainer import Trainer

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
    fraction: float,
    random_state: RandomState,
    ensemble: int | None,
    verbose: Verbose,
) -> tuple[Classifier, float]:
    """Trains on a part of the examples and validates on the others.

    Args:
        algorithm: as in `CostSensitiveClassifier`.
        examples: all examples; their costs are vectors `(N, D)`, or are known when deciding.
        matrix: `(K, D)` costs; the means if examples have their own.
        settings: settings of the training.
        fraction: share of the examples held out for validation.
        random_state: source of the seeds of the split and of training.
        ensemble: number of networks, or `None`.
        verbose: as in `keras.Model.fit`.

    Returns:
        The model, and the cost that an output of 1 stands for if it outputs costs.
    """
    generator, seed = random_generator(random_state), None
    if isinstance(random_state, numbers.Integral):
        seed = int(random_state)
    elif random_state is not None:
        seed = int(generator.randint(2**31 - 1))
    known = examples.known
    costs: KnownCosts | None = examples.costs if known is None else known
    if known is not None and (
        callable(algorithm) or not get_algorithm(algorithm).shares_training
    ):  # What trains on costs trains on those of the labels.
        costs = vectors_of_labels(examples.y, known)
    kept, held_out = validation_split(examples.y, fraction, generator)
    arrays = (examples.x, examples.y) if costs is None else (examples.x, examples.y, costs)
    validation = tuple(array[held_out] for array in arrays) if len(held_out) else None
    x, y, *own = (array[kept] for array in arrays)
    own_costs = own[0] if own else None
    if callable(algorithm):
        data = check_training_data(x, y, own_costs, validation)
        members = ensemble or 1
        return train_own_networks(
            algorithm,
            data,
            matrix,
            settings,
            seed,
            members,
            verbose,
            probabilities=known is not None,
        )
    trainer = Trainer(x, y, validation, settings, seed, verbose=verbose, costs=own_costs)
    trained = trainer.train(algorithm, matrix if costs is None else None, ensemble=ensemble)
    return trained.model, trained.unit


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


def train_own_networks(
    build: Builder,
    data: TrainingData,
    matrix: np.ndarray,
    settings: Settings,
    seed: int | None,
    members: int,
    verbose: Verbose,
    probabilities: bool = False,
) -> tuple[keras.Model, float]:
    """Trains the networks that `build` returns and makes their mean output decide by costs.

    Args:
        build: maps the shape of an input and `K` to a network.
        data: training and validation examples.
        matrix: `(K, D)` costs; the mean costs of each class if examples have their own.
        settings: its `auto` says how they are trained.
        seed: seed of the members, or `None`.
        members: number of networks.
        verbose: as in `keras.Model.fit`.
        probabilities: whether networks must output probabilities. Defaults to False.

    Returns:
        The model, which outputs costs of decisions, and the cost that an output of 1
        stands for.
    """
    vectors = cost_vectors(matrix, data.train.y) if data.train.costs is None else data.train.costs
    unit = float(vectors.max())
    networks = []
    for member in range(members):
        begin = member_seed(seed, member)
        if begin is not None:
            keras.utils.set_random_seed(begin)
        network = build(data.train.x.shape[1:], len(matrix))
        kind = _check_output(network, matrix, probabilities)
        _fit(network, kind, data, matrix / unit, unit, settings, begin, verbose)
        networks.append(network)
    model = networks[0] if members == 1 else models.ensemble(networks)
    if output_kind(model) == "cost":
        return model, unit
    if data.validation is not None:
        model = calibrate(model, data.validation.x, data.validation.y)
    own_costs = data.train.costs is not None
    return models.bayes_classifier(model, regret(matrix), mean_costs=own_costs), 1.0


def _check_output(network: object, matrix: np.ndarray, probabilities: bool) -> str:
    """Returns the kind of the network's output; raises if it does not match the matrix."""
    if not isinstance(network, keras.Model):
        raise ValueError(f"Expected a builder to return a keras.Model; received {network!r}.")
    kind, width = output_kind(network), network.output_shape[-1]
    classes, decisions = matrix.shape
    if kind == "cost" and probabilities:
        raise ValueError(f"Expected a network of class probabilities{KNOWN_NEED_PROBABILITIES}")
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
    seed: int | None,
    verbose: Verbose,
) -> None:
    body, shape = settings.auto, data.train.x.shape
    if not network.compiled:
        objective = OBJECTIVES["sosr" if kind == "cost" else "nll"]
        loss = objective.make_loss()
        if network.output_shape[-1] == 1:
            loss = keras.losses.BinaryCrossentropy()
        optimizer = body.optimizer(body.steps_on(shape), on_costs=objective.on_costs)
        executed = executed_steps(len(data.train.x), body.batch_size)
        network.compile(optimizer, loss=loss, steps_per_execution=executed)
    pairs = []
    for part in data.parts:
        if kind == "probability":
            pairs.append((part.x, part.y))
        else:
            costs = scaled[part.y] if part.costs is None else part.costs / unit
            pairs.append((part.x, costs.astype("float32")))
    callbacks = []
    if len(pairs) > 1:
        callbacks.append(
            keras.callbacks.EarlyStopping(
                "val_loss", patience=body.patience_on(shape), restore_best_weights=True
            )
        )
    seeded_fit(
        network,
        *pairs[0],
        seed=seed,
        validation_data=pairs[1] if len(pairs) > 1 else None,
        epochs=body.epochs_on(shape),
        batch_size=body.batch_size,
        callbacks=callbacks,
        verbose=verbose,
    )
