"""Trains an algorithm from end to end: pre-training, training, prediction."""

import keras

from csdl_keras._utils.types import ArrayLike, Verbose
from csdl_keras.costs.known import CostsLike
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.algorithms import get_algorithm
from csdl_keras.training.own_network import Network
from csdl_keras.training.settings import Settings
from csdl_keras.training.trainer import Trainer


def train(
    algorithm: str | Algorithm,
    x: ArrayLike,
    y: ArrayLike,
    cost_matrix: ArrayLike | None = None,
    validation_data: tuple[CostsLike, ...] | None = None,
    settings: Settings | None = None,
    seed: int | None = None,
    verbose: Verbose = 0,
    ensemble: int | None = None,
    jobs: int = 1,
    costs: CostsLike | None = None,
    unlabelled: ArrayLike | None = None,
    network: Network | None = None,
    effort: str | None = None,
    minutes: float | None = None,
) -> keras.Model:
    """Trains an algorithm from end to end and returns the classifier.

    Args:
        algorithm: a name of `ALGORITHMS`, such as `"csdnn"`, or an `Algorithm`.
        x: inputs `(N, ...)`, see `Trainer`; or a data frame of pandas or Polars, whose columns
            hold numbers, booleans, strings or categoricals; the network for tables takes
            categories and missing values too. Later columns are matched by name, but not by
            `"csosr"`, and a category that was not in `x` counts as missing. Dates are refused.
        y: labels `(N,)`: integers, which are the rows of the cost matrix, or strings or
            booleans, whose sorted order (`numpy.unique`) is that of the rows.
        cost_matrix: `(K, D)`, `C[true, decision]`; `None` (default) with `costs`. If labels are
            strings or booleans, a data frame of pandas that names rows and columns after them
            may have any order; other names are refused.
        validation_data: `(x_val, y_val)`, with `costs` also `(x_val, y_val,
            costs_val)`, for the choice of an epoch and calibration, see `Trainer`.
            `None` (default): of an
            ensemble with calibrated probabilities, such as `"ensemble_bayes"`, each network is
            trained without another fold of the examples, which takes the place of
            validation data; others train all epochs and are not calibrated.
        settings: a `Settings`; `None` (default) is `Settings()`.
        seed: seed of everything random; `None` (default) follows
            `keras.utils.set_random_seed`.
        verbose: as in `keras.Model.fit`. Defaults to 0.
        ensemble: number of networks whose outputs are averaged, see `Trainer.train`.
        jobs: number of processes that train them, above 1 with a `seed` only.
            Defaults to 1, this process.
        costs: costs of each example that replace a cost matrix: vectors `(N, D)`, or if they
            are known when deciding, `(N, K, D)` or `csdl_keras.costs.AffineCosts`, see
            `Trainer`. Defaults to `None`.
        unlabelled: more inputs, for pre-training only, or `None` (default).
        network: a network of your own, which algorithms without pre-training train in place
            of theirs, as `settings.auto` says: an uncompiled `keras.Model`, or a function
            `build(input_shape, num_classes)` that returns one. Each member of an ensemble
            trains a copy of a model with new weights; frozen layers keep theirs. Its last layer
            tells what it outputs: a softmax or one logistic unit probabilities, a `Dense`
            of `K` units without activation logits, `CostOutput` costs, anything else
            features, such as a backbone of `keras.applications`. A missing output layer is
            added, after the mean over positions; for `cost_model`, which has its own, the
            network's is left out. Defaults to `None`.
        effort: `"quick"`, `"balanced"` or `"best"`: seconds, minutes or most of an hour on two
            cores for some thousand small images. On images the default algorithms train one
            narrow network, two wide ones or four, on tables one, five or ten; of other
            algorithms they average one, five or ten networks trained as always. `None`
            (default) is `"balanced"` for `"ensemble_bayes"` and `"quick"` for others.
        minutes: most minutes that training may take. Some updates are timed first, then the
            highest effort that fits is trained, up to `effort` if that is given, with as many
            networks as fit; if not even `"quick"` does, with fewer epochs, at least one. The
            results depend on the speed of the machine. Not for algorithms with pre-training.
            `None` (default) for no limit.

    Returns:
        A `keras.Model`, for `"csosr"` a `csdl_keras.baselines.CSOSR`;
        `csdl_keras.decide(model, x)` takes its decisions. Outputs that are costs are in the
        unit of the costs or, of algorithms that train on costs, divided by
        `model.unit`, see `Trained`.
        `model.save("name.keras")` keeps it whole, with the columns of a data frame: it takes
        data frames again. With labels that are no integers, `model.classes` are the classes,
        so that `model.classes[csdl_keras.decide(model, x)]` are labels, where all decisions
        are classes.

    Raises:
        ValueError: if an argument fails its check, before anything is trained; the message
            names strings among the labels of validation examples that training examples lack.
        DivergedError: if training diverges, with the epoch and the likely causes.

    Example:

    >>> import csdl_keras
    >>> from csdl_keras import training
    >>> data = csdl_keras.datasets.load("digits")
    >>> matrix = csdl_keras.costs.randomized_proportional(data.y_train, seed=0)
    >>> settings = Settings(mlp=training.MLP(hidden_units=(20,))).limit_epochs(2)
    >>> model = train("csdnn", data.x_train, data.y_train, matrix, settings=settings, seed=0)
    >>> csdl_keras.decide(model, data.x_test).shape
    (540,)
    """
    if unlabelled is not None and not get_algorithm(algorithm).pretrains:
        raise ValueError(
            "Expected `unlabelled` with an algorithm that pre-trains only; received "
            f"{get_algorithm(algorithm).name!r}, which would not look at it."
        )
    trainer = Trainer(
        x,
        y,
        validation_data,
        settings,
        seed,
        verbose=verbose,
        jobs=jobs,
        costs=costs,
        unlabelled=unlabelled,
        network=network,
    )
    return trainer.train(
        algorithm, cost_matrix, ensemble=ensemble, effort=effort, minutes=minutes
    ).model
