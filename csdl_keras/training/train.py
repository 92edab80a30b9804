"""Trains algorithms from end to end: check, choose, pre-train, fit, calibrate, decide."""

import dataclasses
import functools
import importlib
import json
import pathlib
import sys
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import keras
import numpy as np

from csdl_keras import models
from csdl_keras._utils.array_file import fingerprint
from csdl_keras._utils.arrays import as_array, check_range, variance_beyond_rounding
from csdl_keras._utils.checks import (
    LARGEST_SEED,
    check_callbacks,
    check_integer,
    check_type,
    check_verbose,
)
from csdl_keras._utils.data_model import with_data
from csdl_keras._utils.frames import Columns, Table, is_frame
from csdl_keras._utils.seeds import member_seed
from csdl_keras._utils.tensors import check_numbered, float_dtype
from csdl_keras._utils.types import ArrayLike, Classifier, Tensor, Verbose, Weights
from csdl_keras.costs import (
    check_cost_matrix,
    check_labels,
    check_mean_costs,
    class_means,
    cost_vectors,
    regret,
    zero_one,
)
from csdl_keras.costs.known import CostsLike
from csdl_keras.fitting.cache import (
    StageCache,
    StageResult,
    check_cache,
    describe,
    environment,
    is_kept,
)
from csdl_keras.fitting.fit import (
    DivergedError,
    RaiseOnDivergence,
    check_observers,
    executed_steps,
    seeded_fit,
)
from csdl_keras.layers.frame_columns import FrameColumns
from csdl_keras.prediction.calibrate import calibrate, with_temperature
from csdl_keras.training.algorithms import Algorithm, get_algorithm
from csdl_keras.training.augmentation import ChooseAugmentation, affine_layer
from csdl_keras.training.callbacks import EpochBar, StopWhenDone, ValidationCost
from csdl_keras.training.data import Examples, TrainingData, assign_folds, check_data
from csdl_keras.training.ensemble import (
    as_lists,
    cross_fitted_temperature,
    fit_stacked,
    split_members,
)
from csdl_keras.training.objectives import Objective
from csdl_keras.training.own_network import Network, with_network
from csdl_keras.training.parallel import run_tasks, several_jobs
from csdl_keras.training.pretrainings import Pretraining
from csdl_keras.training.settings import Settings, check_settings

#: An algorithm and a cost matrix, and `Settings` if they are not the trainer's.
Request: TypeAlias = tuple[str | Algorithm, ArrayLike | None, *tuple[Settings, ...]]
OnError: TypeAlias = Callable[[int, Exception], None]

#: Least number of folds of an ensemble that is validated on them: two networks would otherwise
#: learn from half of the examples each.
_LEAST_FOLDS = 5


def train(
    x: ArrayLike,
    y: ArrayLike,
    cost_matrix: ArrayLike | None = None,
    algorithm: str | Algorithm = "calibrated_bayes",
    *,
    costs: CostsLike | None = None,
    validation_data: tuple[CostsLike, ...] | Literal[False] | None = None,
    network: Network | None = None,
    effort: str | None = None,
    epochs: int | None = None,
    settings: Settings | None = None,
    seed: int | None = None,
    verbose: Verbose = "auto",
) -> Classifier:
    """Trains a classifier whose decisions cost little, from end to end.

    Args:
        x: inputs `(N, ...)`, see `Trainer`; or a data frame of pandas or Polars, whose columns
            hold numbers, booleans, strings or categoricals; the network for tables takes
            categories and missing values too. Later columns are matched by name, but not by
            `"csosr"`, and a category that was not in `x` counts as missing. Dates are refused.
        y: labels `(N,)`: integers, which are the rows of the cost matrix, or strings or
            booleans, whose sorted order (`numpy.unique`) is that of the rows.
        cost_matrix: `(K, D)`, `C[true, decision]`; `None` (default) with `costs`. If labels are
            strings or booleans, a data frame of pandas that names rows and columns after them
            may have any order; other names are refused.
        algorithm: a name of `ALGORITHMS`, or an `Algorithm`. Defaults to `"calibrated_bayes"`.
        costs: costs of each example that replace a cost matrix: vectors `(N, D)`, or if they
            are known when deciding, `(N, K, D)` or `csdl_keras.costs.AffineCosts`, see
            `Trainer`. Defaults to `None`.
        validation_data: `(x_val, y_val)`, with `costs` also `(x_val, y_val, costs_val)`, for the
            choice of an epoch and calibration, see `Trainer`. `None` (default) holds out 15 % of
            the examples of each class; an ensemble with calibrated probabilities, such as
            `"ensemble_bayes"`, trains each network without another fold instead. `False` trains
            on all examples, without early stopping and calibration.
        network: a network of your own, which algorithms without pre-training train in place
            of theirs, as `settings.auto` says: an uncompiled `keras.Model`, or a function
            `build(input_shape, num_classes)` that returns one. Its last layer tells what it
            outputs: a softmax or one logistic unit probabilities, a `Dense` of `K` units
            without activation logits, `CostOutput` costs, anything else features, such as a
            backbone of `keras.applications`, which get an output layer. Members of an ensemble
            train copies with new weights; frozen layers keep theirs. Defaults to `None`.
        effort: `"quick"`, `"balanced"` or `"best"`: seconds, minutes or most of an hour on two
            cores for some thousand small images, see `training.EFFORTS`. `None` (default) is
            `"balanced"` for `"ensemble_bayes"` and `"quick"` for others.
        epochs: most epochs of training, and of pre-training; `None` (default) is what the
            settings say.
        settings: a `Settings`; `None` (default) is `Settings()`.
        seed: seed of everything random; `None` (default) follows
            `keras.utils.set_random_seed`.
        verbose: `"auto"` (default) shows a bar of epochs for each network in a terminal or
            notebook; 0, 1 and 2 are as in `keras.Model.fit`.

    Returns:
        A `keras.Model`, for `"csosr"` a `csdl_keras.baselines.CSOSR`;
        `csdl_keras.decide(model, x)` takes its decisions. Outputs that are costs are in the
        unit of the costs or, of algorithms that train on costs, divided by `model.unit`.
        `model.history` is the `keras.callbacks.History` of its first network, and
        `model.classes` are the labels if they are no integers:
        `model.classes[csdl_keras.decide(model, x)]`. `model.save("name.keras")` keeps it whole,
        also the columns of a data frame.

    Raises:
        TypeError: if `x` is a string, as where an algorithm comes first.
        ValueError: if an argument fails its check, before anything is trained; the message
            names strings among the labels of validation examples that training examples lack.
        DivergedError: if training diverges, with the epoch and the likely causes.

    Example:

    >>> import csdl_keras
    >>> data = csdl_keras.datasets.load("digits")
    >>> matrix = csdl_keras.costs.randomized_proportional(data.y_train, seed=0)
    >>> model = train(data.x_train, data.y_train, matrix, "dnn_bayes", epochs=2, seed=0)
    >>> csdl_keras.decide(model, data.x_test).shape, len(model.history.epoch)
    ((540,), 2)
    """
    if isinstance(x, (str, Algorithm)):
        raise TypeError(
            f"Expected inputs as `x`; received {x!r}. The data come first: "
            "csdl_keras.train(x, y, cost_matrix, algorithm)."
        )
    settings = Settings() if settings is None else check_settings(settings)
    if epochs is not None:
        settings = settings.limit_epochs(epochs)
    algorithm = _with_effort(get_algorithm(algorithm), effort)
    trainer = Trainer(
        x,
        y,
        validation_data or None,
        costs=costs,
        network=network,
        settings=settings,
        seed=seed,
        verbose=verbose,
    )
    if validation_data is False and not algorithm.calibrated and algorithm.body_kind.is_network:
        warnings.warn(
            f"{algorithm.name!r} trains all its epochs and keeps the last one, since no examples "
            "validate it.",
            stacklevel=2,
        )
    if validation_data is None and algorithm.body_kind.is_network:
        members = settings.members_of(algorithm, trainer.data.train.x.shape)
        if not dataclasses.replace(algorithm, members=members).cross_fits:
            drawn = np.random.randint(2**31 - 1) if seed is None else seed
            trainer.data = trainer.data.split(np.random.RandomState(drawn))
    ((_, trained),) = trainer._start([(algorithm, cost_matrix)], _raise)
    if isinstance(trained.model, keras.Model):
        history = keras.callbacks.History()
        history.history, history.epoch = trained.history, list(range(trained.epochs))
        trained.model.history = history
    return trained.model


@dataclasses.dataclass(frozen=True)
class Trained:
    """A trained classifier.

    Args:
        model: the classifier, a `keras.Model` or, for `csosr`, a `baselines.CSOSR`;
            `csdl_keras.decide` takes its decisions.
        seconds: seconds of pre-training and training; what is shared with other algorithms
            counts in full.
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


class Trainer:
    """Trains algorithms on one data set; what they share is trained once.

    Cost-blind and Bayes algorithms share their training for all cost matrices. Members of an
    ensemble and the requests of `train_all` are trained where joblib is configured to: in this
    process, or with `joblib.parallel_config(n_jobs=2)` in two, or on a Dask cluster with
    `joblib.parallel_config("dask")`. That needs a `seed`, and parts of your own that can be
    pickled; `callbacks` are called in this process alone.

    Args:
        x: inputs `(N, ...)`; images `(N, height, width, channels)` for the
            convolutional networks (gray ones too: `x[..., None]`); in [0, 1] for
            those and for pre-training. Or a data frame, see `csdl_keras.train`.
        y: labels `(N,)`, integers, strings or booleans, see `csdl_keras.train`.
        validation_data: `(x_val, y_val)`, with `costs` also `(x_val, y_val, costs_val)`:
            the paper's fully-connected networks stop early and keep the epoch of the lowest
            validation cost, cost-blind ones that of fewest errors, Bayes algorithms with
            known `costs` that of the cheapest decisions. The default algorithms train all
            their epochs and are calibrated on these examples; on tables, and with a network
            of your own, they keep the epoch of the lowest validation loss, on images the
            last one. `None` (default) is none: networks train all their epochs, and only
            ensembles are calibrated, whose networks are each trained without another fold.
        costs: cost vectors `(N, D)` of the examples; or where costs are known when deciding,
            `(N, K, D)` or `costs.AffineCosts`, for algorithms that train on labels alone and
            then decide by the mean matrix, or in `decide` by others. Defaults to `None`.
        unlabelled: inputs `(U, ...)` that pre-training sees too, or `None` (default).
        network: a network of your own, see `csdl_keras.train`, or `None` (default).
        settings: a `Settings`; `None` (default) is `Settings()`.
        seed: seed of weights, shuffling and all that layers draw, so that results do not
            depend on the order of requests; each training begins with
            `keras.utils.set_random_seed(seed)`. `None` (default) follows the global state.
        cache: a `StageCache` in which finished trainings are looked up and kept, shared with
            other trainers; it needs a `seed`, and keeps what depends on objects of your
            own by their `version` alone. With a folder, a killed training goes on
            from an epoch at most 30 seconds, and an epoch, before it was killed, and ends where
            it would have. `None` (default) keeps them in memory.
        callbacks: Keras callbacks for each `fit`. With a `cache` or several processes they may
            only observe: Keras' loggers and checkpoints, and your own callbacks that have
            the attribute `observes_only = True`.
        verbose: as in `csdl_keras.train`. Defaults to 0.

    Raises:
        ValueError: if an argument fails its check.

    Example:

    >>> import csdl_keras
    >>> data = csdl_keras.datasets.load("digits")
    >>> matrix = csdl_keras.costs.randomized_proportional(data.y_train, seed=0)
    >>> settings = Settings().replace({"mlp.hidden_units": (20,)}).limit_epochs(2)
    >>> trainer = Trainer(data.x_train, data.y_train, settings=settings, seed=0)
    >>> blind, bayes = (trainer.train(name, matrix) for name in ("dnn_blind", "dnn_bayes"))
    >>> blind.seconds == bayes.seconds
    True
    """

    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        validation_data: tuple[CostsLike, ...] | None = None,
        *,
        costs: CostsLike | None = None,
        unlabelled: ArrayLike | None = None,
        network: Network | None = None,
        settings: Settings | None = None,
        seed: int | None = None,
        cache: StageCache | None = None,
        callbacks: Sequence[keras.callbacks.Callback] = (),
        verbose: Verbose = 0,
    ):
        self.data = check_data(x, y, costs, validation_data, unlabelled)
        self.network = network
        self.settings = Settings() if settings is None else check_settings(settings)
        self.seed = None if seed is None else check_integer("seed", seed, 0, LARGEST_SEED)
        self.cache = check_cache(cache, self.seed) or StageCache()
        self._here = _Here(check_callbacks(callbacks), check_verbose(verbose))
        if cache is not None:
            check_observers(self._here.callbacks, "a `cache`")

    def train(
        self,
        algorithm: str | Algorithm = "calibrated_bayes",
        cost_matrix: ArrayLike | None = None,
        settings: Settings | None = None,
        effort: str | None = None,
    ) -> Trained:
        """Trains one algorithm for one cost matrix.

        Args:
            algorithm: a name of `ALGORITHMS`, or an `Algorithm`. Defaults to
                `"calibrated_bayes"`.
            cost_matrix: `(K, D)`, `C[true, decision]`; decisions that are no class, `D > K`,
                are for algorithms that weigh probabilities or estimate costs consistently.
                `None` (default) takes the examples' own `costs`, by whose means Bayes
                algorithms then decide.
            settings: choices that replace the trainer's own; `None` (default) keeps those.
            effort: see `csdl_keras.train`.

        Returns:
            A `Trained`. Its model outputs probabilities (cost-blind algorithms, `min` and the
            weighted ones) or expected costs, in the unit of the costs (Bayes) or divided by
            `Trained.unit` (algorithms that train on costs); for `csosr` it is a fitted
            `baselines.CSOSR`.

        Raises:
            ValueError: if an argument fails its check; nothing is trained then.
            DivergedError: if training diverges; the trainer and its cache remember that.
        """
        algorithm = _with_effort(get_algorithm(algorithm), effort)
        request = (
            (algorithm, cost_matrix) if settings is None else (algorithm, cost_matrix, settings)
        )
        ((_, trained),) = self._start([request], _raise)
        return trained

    def train_all(
        self, requests: Iterable[Request], on_error: OnError | None = None
    ) -> Iterator[tuple[int, Trained]]:
        """Trains several algorithms, at once where joblib is configured to.

        Args:
            requests: pairs of an algorithm and a cost matrix as in `train`, or with their own
                `Settings` as a third.
            on_error: called with the index and the error of each request whose training fails
                or diverges; the others go on. `None` (default) raises the first error.

        Returns:
            An iterator of `(index, trained)`: the index of a request and what `train`
            returns for it, as soon as it is trained; one after the other in their order unless
            joblib runs several.

        Raises:
            ValueError: if a request fails its check; nothing is trained then.
            DivergedError: if training diverges and there is no `on_error`.
        """
        if on_error is not None:
            check_type("on_error", on_error, Callable, "a function or None")
        return self._start(requests, on_error or _raise)

    def key(
        self,
        algorithm: str | Algorithm,
        cost_matrix: ArrayLike | None = None,
        settings: Settings | None = None,
    ) -> str:
        """Returns a digest of all that an algorithm's networks depend on, for caches of others.

        It is new in each call if an object of your own has no `version`. Arguments are those of
        `train`.
        """
        keys = [one.key for one in self._plan(algorithm, cost_matrix, settings)]
        return keys[0] if len(keys) == 1 else StageCache.key(keys)

    def _start(
        self, requests: Iterable[Request], on_error: OnError
    ) -> Iterator[tuple[int, Trained]]:
        """Checks all requests, and returns an iterator that trains them."""
        planned = []
        for request in requests:
            if not isinstance(request, (tuple, list)) or len(request) not in (2, 3):
                raise ValueError(
                    "Expected `requests` to be pairs of an algorithm and a cost matrix; received "
                    f"{request!r}."
                )
            members = self._plan(*request)
            for message in members[0].remarks:
                warnings.warn(message, stacklevel=3)  # the caller of a public method
            planned.append(members)
        if several_jobs():
            check_observers(self._here.callbacks, "several processes")
            if self.seed is None:  # Processes cannot share a state of random numbers.
                raise ValueError("Expected a `seed` where joblib runs several jobs; received None.")
        return self._run(planned, on_error)

    def _plan(
        self,
        algorithm: str | Algorithm,
        cost_matrix: ArrayLike | None,
        settings: Settings | None = None,
    ) -> "list[Training]":
        """Returns each network of an algorithm, or all in one if they train faster as one.

        Raises a `ValueError` if data, costs and algorithm do not fit together.
        """
        settings = self.settings if settings is None else check_settings(settings)
        algorithm, data = get_algorithm(algorithm), self.data
        members = settings.members_of(algorithm, data.train.x.shape)
        algorithm = dataclasses.replace(algorithm, members=members)
        algorithm = with_network(algorithm, self.network, settings)
        matrix = _check_costs(data, algorithm, cost_matrix)
        _check_inputs(data, algorithm)
        folds = 0
        if data.validation is None and algorithm.cross_fits:
            number = max(members, _LEAST_FOLDS)
            assigned = assign_folds(data.train.y, number, self.seed)
            if np.bincount(assigned[assigned >= 0], minlength=number).min() > 1:
                folds = number
        first = Training(algorithm, matrix, settings, data, self.seed, environment(), folds)
        if members > 1 and algorithm.objective.stacks and first.body.stacks(data.train.x):
            return [dataclasses.replace(first, stacked=members)]
        return [dataclasses.replace(first, member=member) for member in range(members)]

    def _run(
        self, planned: "Sequence[list[Training]]", on_error: OnError
    ) -> Iterator[tuple[int, Trained]]:
        """Trains what the cache lacks; yields a request as soon as its networks are there."""
        waiting = dict(enumerate(planned))
        groups = [waiting] if several_jobs() else [{i: them} for i, them in waiting.items()]
        for group in groups:
            results: dict[str, StageResult | Exception] = {}
            networks = {it.key: it for members in group.values() for it in members}.values()
            # First pre-trainings, and trainings that need none.
            for step in (_pretrain, _fit):
                tasks: dict[str, _Task] = {}
                for network in networks:
                    tasks |= self._missing(network, step, results)
                yield from self._ready(group, results, on_error)
                wanted = next(iter(networks)).environment if tasks else {}
                for key, result in run_tasks(tasks, wanted):
                    results[key] = self._kept(tasks[key], result)
                    yield from self._ready(group, results, on_error)

    def _missing(
        self,
        network: "Training",
        step: "_Step",
        results: dict[str, StageResult | Exception],
    ) -> "dict[str, _Task]":
        """Returns what has to run next for a network, by its key; adds what the cache has."""
        cache = self.cache if network.is_kept else StageCache()
        before, key = network.pretraining_description, network.key
        if step is _pretrain:
            for description in (network.description, before):
                kept = None if description is None else cache.find(description)
                if kept is not None:
                    results[StageCache.key(description)] = _converged(kept)
        arrays: Sequence[np.ndarray] = ()
        if key in results:
            return {}
        if before is not None:
            found = results.get(StageCache.key(before))
            if isinstance(found, Exception):
                results[key] = found
                return {}
            if found is None:
                task = (_run_step, _pretrain, network, before, cache, self._here, arrays)
                return {StageCache.key(before): task}
            if step is _pretrain:
                return {}
            arrays = found.arrays
        return {key: (_run_step, _fit, network, network.description, cache, self._here, arrays)}

    def _kept(self, task: "_Task", result: StageResult | Exception) -> StageResult | Exception:
        """Keeps what may come from another process; returns it, or the error in which it ended."""
        _, _, network, description, *_ = task
        if isinstance(result, Exception):
            return result
        if network.is_kept and self.cache.folder is None:
            self.cache.put(description, result)
        return _converged(result)

    def _ready(
        self,
        waiting: "dict[int, list[Training]]",
        results: Mapping[str, StageResult | Exception],
        on_error: OnError,
    ) -> Iterator[tuple[int, Trained]]:
        """Yields requests whose networks are all trained, and takes them and failed ones away."""
        for index, members in list(waiting.items()):
            found = [results.get(one.key) for one in members]
            error = next((one for one in found if isinstance(one, Exception)), None)
            if error is None and None in found:
                continue
            del waiting[index]
            try:
                if error is not None:
                    raise error
                trained = _trained(members, results)
            except Exception as raised:
                on_error(index, raised)
            else:
                yield index, trained


def _raise(index: int, error: Exception) -> None:
    raise error


def _with_effort(algorithm: Algorithm, effort: str | None) -> Algorithm:
    return algorithm if effort is None else dataclasses.replace(algorithm, effort=effort)


# What algorithm, costs and data have to be for each other.


def _check_costs(
    data: TrainingData, algorithm: Algorithm, cost_matrix: ArrayLike | None
) -> np.ndarray:
    """Returns the cost matrix, or the mean costs of examples that have their own, checked."""
    own = data.train.costs
    if (cost_matrix is None) == (own is None and data.mean_costs is None):
        raise ValueError(
            "Expected a `cost_matrix`, or `costs` of each example; received "
            f"{'both' if cost_matrix is not None else 'neither'}."
        )
    given = data.mean_costs if cost_matrix is None else cost_matrix
    if data.classes is not None and given is not None:
        rows = np.shape(as_array("cost_matrix", given, "(K, D)"))[:1]
        if rows != (len(data.classes),):
            raise ValueError(
                f"Expected costs with a row for each of the labels {data.classes.tolist()}, in "
                f"that order; received {rows[0] if rows else 'no'} rows."
            )
    if own is not None:
        matrix = check_mean_costs(class_means(data.train.y, own))
    elif data.mean_costs is not None:
        matrix = data.mean_costs
        if not algorithm.shares_training:
            raise ValueError(
                "Expected an algorithm that trains on labels alone, such as 'calibrated_bayes' or "
                "'dnn_bayes', with costs that are known when deciding, of shape (N, K, D); "
                f"received {algorithm.name!r}, which trains on costs. Where costs are not known "
                "when deciding, pass the vectors `csdl_keras.costs.cost_vectors(costs, y)`."
            )
    else:
        assert cost_matrix is not None  # as checked above
        classes = data.classes
        if classes is None and is_frame(cost_matrix):
            classes = np.arange(np.shape(cost_matrix)[0])
        matrix = check_cost_matrix(cost_matrix, square=False, classes=classes)
    for part in data.parts:
        check_labels(part.y, len(matrix))
    check_numbered("classes", len(matrix), keras.config.floatx())
    _check_decisions(algorithm, matrix, own is not None)
    if not matrix.any():
        raise ValueError("Expected costs with an entry above 0; received all zeros.")
    return matrix


def _check_decisions(algorithm: Algorithm, matrix: np.ndarray, own_costs: bool) -> None:
    """Raises unless the algorithm can price the decisions of a matrix, or of mean costs."""
    classes, decisions = matrix.shape
    received = f"received {algorithm.name!r} with {classes} classes and {decisions} decisions."
    objective = algorithm.objective
    prices_others = objective.other_decisions and algorithm.pretraining_sees != "costs"
    if decisions > classes and not prices_others:
        raise ValueError(
            "Expected an algorithm that can price decisions that are no class, such as to "
            "abstain: one with prediction='bayes' and without cost-aware pre-training, such as "
            f"'calibrated_bayes' or 'dnn_bayes', or 'cost_model'; {received} What trains on costs "
            "of classes, SOSR, MIN or weights, never takes them to be the cheapest. An "
            "`Objective` of your own says by `other_decisions` that it can."
        )
    if decisions < classes and algorithm.prediction == "argmax":
        raise ValueError(
            f"Expected an algorithm that decides by costs, not for a class; {received}"
        )
    if own_costs and objective.weighted and np.diagonal(regret(matrix)).any():
        raise ValueError(
            "Expected costs whose right decisions are on average the cheapest, since "
            f"{algorithm.name!r} weighs examples by the costs of mistakes; received mean costs "
            f"{matrix.round(4).tolist()}."
        )


def _check_inputs(data: TrainingData, algorithm: Algorithm) -> None:
    """Raises unless the inputs and labels are such as the algorithm's body takes."""
    body, shape = algorithm.body_kind, data.train.x.shape
    if data.classes is not None and not body.is_network:
        raise ValueError(
            f"Expected integer labels for {algorithm.name!r}, whose file keeps no others; received "
            f"{data.classes.tolist()}. Pass numpy.unique(y, return_inverse=True)[1]."
        )
    if data.columns is not None and not body.takes_frames:
        missing = any(np.isnan(part.x).any() for part in data.parts)
        if missing or data.columns.categorical:
            raise ValueError(
                "Expected a data frame of numbers without missing values for the network of "
                f"{algorithm.name!r}; received categories or missing values. Take "
                "'calibrated_bayes', 'ensemble_bayes' or 'cost_model', whose network for tables "
                "encodes them."
            )
    if body.takes_images:
        for part in data.parts:
            check_range("images for a convolutional network", part.x, 0, 1)
    first = keras.config.image_data_format() == "channels_first"
    images = len(shape) == 4 and (algorithm.body == "auto" or body.takes_images)
    if first and images and shape[1] in (1, 3) and shape[3] not in (1, 3):
        raise ValueError(
            "Expected images of shape (N, height, width, channels), whatever "
            f"keras.config.image_data_format() says; received shape {tuple(shape)}. Pass "
            "numpy.moveaxis(x, 1, -1)."
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Training:
    """The training of a network, or of several that are trained as one, and what it depends on.

    Args:
        algorithm: the algorithm, with its number of networks.
        matrix: its cost matrix, checked; where costs differ from example to
            example, the mean of each class, or of all examples if costs are known.
        settings: how it is trained.
        data: what it is trained on.
        seed: seed of everything random, or `None`.
        environment: versions and settings of Keras, see `fitting.cache`.
        folds: number of folds of the training examples, of which network `member` is validated
            on its own. Defaults to 0, none.
        member: index of the network in an ensemble. Defaults to 0.
        stacked: number of networks that are trained as one, see `fit_stacked`. Defaults to 1.
    """

    algorithm: Algorithm
    matrix: np.ndarray
    settings: Settings
    data: TrainingData
    seed: int | None
    environment: dict[str, Any]
    folds: int = 0
    member: int = 0
    stacked: int = 1

    @functools.cached_property
    def body(self) -> Any:
        """The network, or the kernel machine, with its choices."""
        return self.settings.body_of(self.algorithm)

    @functools.cached_property
    def objective(self) -> Objective:
        """The objective of its training."""
        return self.settings.objective_of(self.algorithm)

    @functools.cached_property
    def pretraining(self) -> Pretraining | None:
        """Its pre-training with its choices; `None` without one."""
        return self.settings.pretraining_of(self.algorithm)

    @property
    def columns(self) -> Columns | None:
        """The columns of the data frame that its network takes, or `None`."""
        return self.data.columns if self.algorithm.body_kind.takes_frames else None

    @functools.cached_property
    def unit(self) -> float:
        """What losses divide costs by, see `Objective.unit_of`."""
        own = [float(part.costs.max()) for part in self.data.parts if part.costs is not None]
        return self.objective.unit_of(self.matrix, max(own) if own else None)

    @property
    def smoothing(self) -> float:
        """The share of a label that is spread over all classes, if a calibration can undo it."""
        undone = self.algorithm.calibrated and self.objective.stacks
        return self.body.smoothing_on(self.data.train.x.shape) if undone else 0.0

    @property
    def stops_by_known_costs(self) -> bool:
        """True if Bayes decisions on validation examples are priced for early stopping."""
        known = self.data.validation is not None and self.data.validation.known is not None
        monitors = self.body.is_network and self.body.monitor(self.data.train.x)
        return known and self.algorithm.weighs_costs and monitors == ValidationCost.monitor

    @property
    def pretraining_epochs(self) -> int:
        """Epochs of pre-training for each layer."""
        assert self.pretraining is not None
        unlabelled = 0 if self.data.unlabelled is None else len(self.data.unlabelled)
        return self.pretraining.epochs * self.body.stretch(len(self.data.train.x) + unlabelled)

    @functools.cached_property
    def assigned(self) -> np.ndarray | None:
        """The fold of each training example, `(N,)`, or `None`."""
        return assign_folds(self.data.train.y, self.folds, self.seed) if self.folds else None

    @property
    def learned(self) -> Examples:
        """The examples that its network learns from, all but those of its fold."""
        folds, train = self.assigned, self.data.train
        return train if folds is None else train.at(np.flatnonzero(folds != self.member))

    @property
    def held_out(self) -> Examples | None:
        """The examples that validate its network, if there are any."""
        if self.assigned is None:
            return self.data.validation
        return self.data.train.at(np.flatnonzero(self.assigned == self.member))

    @property
    def remarks(self) -> list[str]:
        """What a user should know who may not have meant this."""
        shape, found = self.data.train.x.shape, []
        of_images = self.algorithm.body == "auto" or self.algorithm.body_kind.takes_images
        if self.algorithm.calibrated and self.data.validation is None and not self.folds:
            found.append(
                f"{self.algorithm.name!r} calibrates probabilities on `validation_data`; there is "
                "none, so they stay as they are. An ensemble of several networks needs none."
            )
        if of_images and len(shape) == 3:
            found.append(
                f"x of shape (N, {shape[1]}, {shape[2]}) is taken as a table of "
                f"{shape[1] * shape[2]} features; for images pass x[..., None]. A table that is "
                "passed as x.reshape(len(x), -1) gives no warning."
            )
        return found

    @functools.cached_property
    def description(self) -> dict[str, Any]:
        """All that its training depends on, as JSON can hold it; new in each if it is not kept."""
        found = {
            **self._common,
            "stage": "training",
            "body": describe(self.body),
            "objective": describe(self.objective),
            "costs": None if self.objective.blind else self._costs(self.matrix / self.unit),
            "pretraining": self.pretraining_description,
            "smoothing": self.smoothing,
            "stopping_costs": self.data.known_fingerprint if self.stops_by_known_costs else None,
            "stacked": self.stacked,
        }
        return found if is_kept(found) else {**found, "request": uuid.uuid4().hex}

    @functools.cached_property
    def pretraining_description(self) -> dict[str, Any] | None:
        """All that its pre-training depends on; `None` without one."""
        if self.pretraining is None:
            return None
        fields = [it.name for it in dataclasses.fields(self.body)]
        looks_at = self.pretraining.looks_at
        matrices = {"costs": self.matrix / self.unit, "errors": zero_one(len(self.matrix))}
        return {
            **self._common,
            "stage": "pretraining",
            "pretraining": describe(self.pretraining),
            "body": describe(type(self.body)),
            "network": {
                name: describe(getattr(self.body, name))
                for name in fields
                if name not in self.body.of_training
            },
            "costs": self._costs(matrices.get(looks_at), looks_at == "errors"),
            "epochs": self.pretraining_epochs,
            "unlabelled": self.data.unlabelled_fingerprint,
        }

    @functools.cached_property
    def key(self) -> str:
        """A digest of its description."""
        return StageCache.key(self.description)

    @functools.cached_property
    def is_kept(self) -> bool:
        """True if all objects of the user's in it have a version, so that a cache keeps it."""
        return is_kept(self.description)

    @property
    def _common(self) -> dict[str, Any]:
        return {
            "environment": self.environment,
            "data": self.data.fingerprint,
            "classes": len(self.matrix),
            "columns": describe(self.columns),
            "seed": self.seed,
            "folds": self.folds,
            "member": self.member,
        }

    def _costs(self, matrix: np.ndarray | None, errors: bool = False) -> str | None:
        """Describes the costs that are used; 0/1 `errors` are the same for all examples."""
        if matrix is None:
            return None
        if self.data.train.costs is None or errors:
            return fingerprint(matrix)
        # Algorithms divide them by different units.
        return f"{self.data.costs_fingerprint} / {self.unit!r}"

    def build(self, seed: int | None) -> keras.Model:
        """Returns the untrained network."""
        x = self.data.train.x
        rows: Any = x if self.columns is None else Table(x, self.columns)
        return self.objective.build(self.body, rows, self.matrix, self.unit, seed)


# The two functions that train, wherever joblib runs them.


class _Here:
    """Callbacks and output of this process: another one that is sent them gets none."""

    def __init__(self, callbacks: Sequence[keras.callbacks.Callback] = (), verbose: Verbose = 0):
        self.callbacks, self.verbose = callbacks, verbose

    def __reduce__(self) -> tuple:
        return _Here, ()


@dataclasses.dataclass(frozen=True)
class _Options:
    """Arguments of every `fit`: `seeded_fit`'s, and whether somebody sees all metrics."""

    seed: int | None
    unfinished: pathlib.Path | None
    callbacks: list[keras.callbacks.Callback]
    verbose: Verbose
    watched: bool


_Result: TypeAlias = tuple[Weights, dict[str, Any]]
_Step: TypeAlias = Callable[[Training, Sequence[np.ndarray], _Options], _Result]
_Task: TypeAlias = tuple[Any, _Step, Training, dict, StageCache, _Here, Sequence[np.ndarray]]


def _run_step(
    step: _Step,
    training: Training,
    description: dict[str, Any],
    cache: StageCache,
    here: _Here,
    pretrained: Sequence[np.ndarray],
) -> StageResult:
    """Pre-trains or trains from the seed, unless the cache has that."""
    shows_bar = here.verbose == "auto" and (sys.stdout.isatty() or "ipykernel" in sys.modules)
    callbacks = list(here.callbacks)
    if shows_bar:
        members = training.algorithm.members or 1
        place = f", network {training.member + 1} of {members}" if members > 1 else ""
        what = ", pre-training" if step is _pretrain else ""
        callbacks.append(EpochBar(f"{training.algorithm.title}{place}{what}"))
    seed = member_seed(training.seed, training.member)
    options = _Options(
        seed,
        cache.unfinished(description),
        callbacks,
        0 if here.verbose == "auto" else here.verbose,
        bool(here.callbacks) or here.verbose in (1, 2),
    )

    def compute() -> _Result:
        if seed is not None:
            keras.utils.set_random_seed(seed)
        try:
            return step(training, pretrained, options)
        except DivergedError as error:  # It is kept like any result, so as not to diverge again.
            return [], {"epochs": error.epoch, "diverged": str(error)}

    return cache.get(description, compute)


def _converged(result: StageResult) -> StageResult | DivergedError:
    """Returns a result, or the `DivergedError` in which it ended."""
    if "diverged" in result.info:
        return DivergedError(result.info["diverged"], result.info["epochs"])
    return result


def _pretrain(training: Training, pretrained: Sequence[np.ndarray], options: _Options) -> _Result:
    """Pre-trains a new network; returns the weights of its pre-trained layers and a record."""
    pretraining, examples = training.pretraining, training.learned
    assert pretraining is not None
    model, costs = training.build(options.seed), None
    if pretraining.looks_at == "errors":
        costs = cost_vectors(zero_one(len(training.matrix)), examples.y)
    elif pretraining.looks_at == "costs" and examples.costs is not None:
        costs = examples.costs / training.unit
    elif pretraining.looks_at == "costs":
        costs = cost_vectors(training.matrix / training.unit, examples.y)
    what = f"{training.algorithm.name!r} (pre-training)"
    pretraining.run(
        model,
        examples.x,
        costs,
        unlabelled=training.data.unlabelled,
        epochs=training.pretraining_epochs,
        batch_size=training.body.batch_size,
        seed=options.seed,
        callbacks=[*options.callbacks, RaiseOnDivergence(what)],
        verbose=options.verbose,
        unfinished=options.unfinished,
    )
    weights = [array for layer in pretraining.layers(model) for array in layer.get_weights()]
    return weights, {"epochs": training.pretraining_epochs}


def _fit(training: Training, pretrained: Sequence[np.ndarray], options: _Options) -> _Result:
    """Trains a new network, from `pretrained` layers if any; returns its weights and a record."""
    body, name = training.body, training.algorithm.name
    arguments: dict[str, Any] = {
        "seed": options.seed,
        "unfinished": options.unfinished,
        "callbacks": options.callbacks,
        "verbose": options.verbose,
        "what": repr(name),
    }
    if not body.is_network:
        return _fit_csosr(training)
    if training.stacked > 1:
        seeds = [member_seed(options.seed, member) for member in range(training.stacked)]
        networks = [training.build(seed) for seed in seeds]
        parts = training.data.train, training.data.validation, training.assigned
        return fit_stacked(networks, body, *parts, **arguments)
    train, validation = training.learned, training.held_out
    objective, costs, shape = training.objective, (training.matrix, training.unit), train.x.shape
    model = training.build(options.seed)
    if training.pretraining is not None:
        weights = iter(pretrained)
        for layer in training.pretraining.layers(model):
            layer.set_weights([next(weights) for _ in layer.weights])
    compiled = objective.compile_arguments(train, *costs, name)
    if training.smoothing and validation is not None:
        compiled["loss"] = _smoothed_crossentropy(training.smoothing)
    callbacks, epochs = list(options.callbacks), body.epochs_on(shape)
    if training.stops_by_known_costs:
        assert validation is not None and validation.known is not None
        # Before the others, which may read what it writes; the metric of errors has its name.
        known = validation.x, validation.y, validation.known, objective.output
        callbacks.insert(0, ValidationCost(*known))
        compiled["metrics"] = []
    if not model.compiled:  # as a network of the user's may be
        optimizer = body.optimizer(body.steps_on(shape), on_costs=objective.on_costs)
        steps = executed_steps(len(train.x), body.batch_size)
        model.compile(optimizer, **compiled, steps_per_execution=steps)
    if body.augments(train.x) and affine_layer(model) is not None:
        looked_at = train if validation is None else validation
        callbacks.append(ChooseAugmentation(looked_at.x, looked_at.y, round(epochs / 6)))
    stopping, monitor = [], body.monitor(train.x)
    if validation is not None and monitor is not None:
        stopping.append(StopWhenDone(monitor, body.patience_on(shape)))
    if validation is not None and (monitor is not None or options.watched):
        targets = objective.targets(validation, *costs)
        arguments["validation_data"] = (validation.x, targets)
    history = seeded_fit(
        model,
        train.x,
        objective.targets(train, *costs),
        **{**arguments, "callbacks": callbacks},
        stateful=stopping,
        sample_weight=objective.sample_weight(train, training.matrix, name),
        epochs=epochs,
        batch_size=body.batch_size,
    )
    return model.get_weights(), {"epochs": len(history.epoch), "history": as_lists(history)}


def _smoothed_crossentropy(share: float) -> Callable[[Tensor, Tensor], Tensor]:
    """Returns the cross-entropy of integer labels, of which a share is spread over all classes."""

    def smoothed_crossentropy(labels: Tensor, probabilities: Tensor) -> Tensor:
        labels = keras.ops.cast(keras.ops.reshape(labels, (-1,)), "int32")
        rows = keras.ops.one_hot(labels, probabilities.shape[-1], dtype=probabilities.dtype)
        return keras.losses.categorical_crossentropy(rows, probabilities, label_smoothing=share)

    return smoothed_crossentropy


def _fit_csosr(training: Training) -> _Result:
    """Fits `CSOSR` on flattened inputs and scaled costs; returns it as arrays, a record first."""
    body, data, unit = training.body, training.data.train, training.unit
    rows = data.x.reshape(len(data.x), -1)
    # 1 where all examples are alike
    spread = rows.shape[1] * variance_beyond_rounding(rows) or 1.0
    machine = importlib.import_module("csdl_keras.baselines").CSOSR(
        penalty=body.penalty,
        gamma=float(body.gamma_factor / spread),
        cost_matrix=training.matrix / unit if data.costs is None else None,
        binary_costs=True,  # They were checked before they were scaled.
    )
    machine.fit(rows, data.y if data.costs is None else data.costs / unit)
    info = {"epochs": int(machine.n_iter_), "duality_gap": float(machine.duality_gap_)}
    record, arrays = importlib.import_module("csdl_keras.baselines._csosr_arrays").to_arrays(
        machine
    )
    return [np.frombuffer(json.dumps(record).encode(), np.uint8), *arrays], info


# From trained networks to the model that decides.


def _trained(
    members: Sequence[Training], results: Mapping[str, StageResult | Exception]
) -> Trained:
    """Returns the classifier of an algorithm's networks, all of which are trained."""
    first, weights, seconds = members[0], [], 0.0
    for one in members:
        before = one.pretraining_description
        keys = [one.key] if before is None else [one.key, StageCache.key(before)]
        found = [result for key in keys if isinstance(result := results.get(key), StageResult)]
        seconds += sum(result.seconds for result in found)
        weights += split_members(found[0].arrays, one.stacked)
    model = _classifier(first, weights)
    unit = first.unit if first.algorithm.output == "cost" else 1.0
    if isinstance(model, keras.Model):
        model = with_data(model, classes=first.data.classes, unit=unit)
    info = results[first.key].info  # type: ignore[union-attr]
    return Trained(model, seconds, int(info["epochs"]), unit, info.get("history", {}))


def _classifier(first: Training, weights: Sequence[Sequence[np.ndarray]]) -> Any:
    """Returns the mean of an algorithm's networks, calibrated if it says so, that decides.

    Args:
        first: the training of its first network.
        weights: the weights of each network.
    """
    algorithm, data = first.algorithm, first.data
    if not first.body.is_network:
        machine = importlib.import_module("csdl_keras.baselines").CSOSR()
        arrays = importlib.import_module("csdl_keras.baselines._csosr_arrays")
        return arrays.restore(machine, json.loads(weights[0][0].tobytes()), weights[0][1:])
    trainings = [dataclasses.replace(first, member=index) for index in range(len(weights))]
    held_out = [one.held_out if algorithm.calibrated else None for one in trainings]
    members = [_member(*them) for them in zip(trainings, weights, held_out, strict=True)]
    model = members[0] if len(members) == 1 else models.ensemble(members)
    if algorithm.output == "cost":
        return model
    if first.folds:
        folds = [examples for examples in held_out if examples is not None]
        model = with_temperature(model, cross_fitted_temperature(members, folds))
    elif held_out[0] is not None:
        model = calibrate(model, held_out[0].x, held_out[0].y)
    if not algorithm.weighs_costs:
        return model
    if data.train.costs is None and data.mean_costs is None:
        return models.bayes_classifier(model, first.matrix)
    # A constant added to a class's costs changes no decision, so it is removed.
    return models.bayes_classifier(model, regret(first.matrix), mean_costs=True)


def _member(
    training: Training, weights: Sequence[np.ndarray], held_out: Examples | None
) -> keras.Model:
    """Returns a network as one whose outputs can be decided from."""
    data, objective = training.data, training.objective
    network = training.build(seed=0)  # Its weights are replaced at once.
    network.set_weights(weights)
    model = objective.classifier(network)
    if data.columns is not None and training.columns is None:
        # Plain rows, whose columns are found by their names.
        inputs = keras.Input((len(data.columns.names),), dtype=float_dtype())
        rows = FrameColumns(data.columns.names, data.columns.categories, name="columns")(inputs)
        model = with_data(keras.Model(inputs, model(rows), name=model.name))
    affine = affine_layer(network) if training.body.augments(data.train.x) else None
    averages = training.algorithm.output == "probability" or objective.calibrates
    if affine is not None and averages:
        mirrored = bool(keras.ops.convert_to_numpy(affine.strengths)[3])
        # An image of one row or column cannot be shifted by a pixel.
        shifted = int(min(data.train.x.shape[1:3]) > 1)
        model = models.view_average(model, pixels=shifted, flip=mirrored)
    if objective.calibrates and held_out is not None:
        # Members differ in probabilities and costs, so each is calibrated by itself.
        model = calibrate(model, held_out.x, held_out.y)
    return model
