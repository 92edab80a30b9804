"""Trains algorithms from end to end: check, choose, pre-train, fit, calibrate, decide."""

import dataclasses
import functools
import sys
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import keras
import numpy as np

from csdl_keras._utils.arrays import call_of, check_range
from csdl_keras._utils.checks import check_callbacks, check_integer
from csdl_keras._utils.data_model import with_data
from csdl_keras._utils.files import fingerprint
from csdl_keras._utils.seeds import member_seed
from csdl_keras._utils.structure import inputs_of
from csdl_keras._utils.tensors import check_numbered, float_dtype
from csdl_keras._utils.types import ArrayLike, Classifier, Tensor, Verbose
from csdl_keras.costs.checks import check_cost_matrix, check_labels, check_mean_costs
from csdl_keras.costs.conversions import class_means, regret
from csdl_keras.costs.known import CostsLike
from csdl_keras.fitting.cache import (
    StageCache,
    StageResult,
    check_cache,
    describe,
    environment,
    is_kept,
)
from csdl_keras.fitting.fit import RaiseOnDivergence, check_observers, executed_steps, seeded_fit
from csdl_keras.layers.table_encoding import FrameColumns
from csdl_keras.prediction.bayes_classifier import bayes_classifier
from csdl_keras.prediction.calibrate import calibrate, fit_scaling, with_temperature
from csdl_keras.prediction.ensemble import ensemble, view_average
from csdl_keras.prediction.kind import output_kind
from csdl_keras.training.algorithms import Algorithm, get_algorithm
from csdl_keras.training.augmentation import ChooseAugmentation, affine_layer
from csdl_keras.training.callbacks import EpochBar, StopWhenDone
from csdl_keras.training.data import Examples, TrainingData, assign_folds, check_data
from csdl_keras.training.objectives import OBJECTIVES
from csdl_keras.training.own_network import Network, with_network
from csdl_keras.training.parallel import run_tasks, several_jobs
from csdl_keras.training.settings import Settings, check_settings
from csdl_keras_cli.columns import Table, is_frame

#: An algorithm and a cost matrix, and `Settings` if they are not the trainer's.
Request: TypeAlias = tuple[str | Algorithm, ArrayLike | None, *tuple[Settings | None, ...]]
OnError: TypeAlias = Callable[[int, Exception], None]


def train(
    x: Any,
    y: ArrayLike | str | None = None,
    cost_matrix: ArrayLike | None = None,
    algorithm: str | Algorithm = "calibrated_bayes",
    *,
    costs: CostsLike | None = None,
    validation_data: tuple[CostsLike, ...] | ArrayLike | Literal[False] | None = None,
    network: Network | None = None,
    effort: str | None = None,
    epochs: int | None = None,
    settings: Settings | None = None,
    seed: int | None = None,
    verbose: Verbose = "auto",
) -> Classifier:
    """Trains a classifier whose decisions cost little.

    The default algorithm, `"calibrated_bayes"`, trains a network on the labels, calibrates its
    class probabilities on held-out examples, and decides for the lowest expected cost.
    `"ensemble_bayes"` averages several such networks. Others train on the costs themselves, such
    as `"cost_model"` and the paper's `"csdnn"`.

    Args:
        x: inputs `(N, ...)`: images `(N, height, width, channels)`, rows, or a pandas or Polars
            data frame; the default network supports categories, dates and missing values. For data
            that do not fit into memory, pass a `tf.data.Dataset`, a `keras.utils.PyDataset` or a
            PyTorch `DataLoader` of batches `(inputs, labels)`, or a Parquet file (its path, or a
            `csdl_keras.datasets.Parquet`). They are copied to a temporary file.
        y: labels `(N,)`: integers, which are row numbers of the cost matrix, or strings or
            booleans, whose sorted order (`numpy.unique`) is that of the rows. With the path of a
            Parquet file, the name of their column; `None` (default) if `x` contains labels.
        cost_matrix: `(K, D)`, `C[true, decision]`, or `None` (default) with `costs`. A data frame
            with rows and columns named after the labels may be in any order.
        algorithm: a name in `ALGORITHMS`, or an `Algorithm`. Defaults to `"calibrated_bayes"`.
        costs: costs of each example, instead of a cost matrix: vectors `(N, D)`, or if they
            are known when deciding, `(N, K, D)` or `csdl_keras.costs.AffineCosts`.
        validation_data: `(x_val, y_val)`, with `costs` also `(x_val, y_val, costs_val)`, used to
            select the best epoch and to calibrate; or a mask `(N,)` or indices of the examples of
            `x` to hold out for that. `None` (default) holds out 15 % of each class, or for each
            network of `"ensemble_bayes"` a different fold. `False` trains on all examples, without
            early stopping or calibration.
        network: an uncompiled `keras.Model`, or a function `build(input_shape, num_classes)` that
            returns one, to train instead of the algorithm's own network, unless the algorithm
            pre-trains. It ends in a softmax, a sigmoid unit, logits (`Dense(K)`), a `CostOutput`,
            or features, to which an output layer is added. Members of an ensemble train copies
            with new weights; frozen layers keep theirs.
        effort: how long to train: `"quick"`, `"balanced"` or `"best"`, see `training.EFFORTS`;
            `None` (default) is `"balanced"` for `"ensemble_bayes"` and `"quick"` for others.
        epochs: maximum number of epochs of training, and of pre-training; `None` (default): as in
            `settings`.
        settings: a `Settings`; `None` (default) is `Settings()`.
        seed: seed of everything random; `None` (default) follows `keras.utils.set_random_seed`.
        verbose: `"auto"` (default) shows a bar of epochs for each network in a terminal or
            notebook; 0, 1 and 2 are as in `keras.Model.fit`.

    Returns:
        A `keras.Model`, or for `"csosr"` a `csdl_keras.baselines.CSOSR`; `csdl_keras.decide`
        accepts both. Outputs that are costs are divided by `model.unit`; `model.history` is the
        `History` of the first network; `model.classes` are the labels unless they are integers.

    Raises:
        ValueError: before training, if an argument fails its check.
        DivergedError: if training diverges, with the epoch and the likely causes.

    Example:

    >>> import csdl_keras
    >>> data = csdl_keras.datasets.load("digits")
    >>> matrix = csdl_keras.costs.randomized_proportional(data.y_train, seed=0)
    >>> model = csdl_keras.train(data.x_train, data.y_train, matrix, epochs=1, seed=0)
    >>> csdl_keras.decide(model, data.x_test).shape
    (540,)
    """
    trainer = Trainer(
        x,
        y,
        None if validation_data is False else validation_data,
        costs=costs,
        network=network,
        settings=settings,
        seed=seed,
        verbose=verbose,
    )
    if epochs is not None:
        trainer.settings = trainer.settings.limit_epochs(epochs)
    algorithm, data = get_algorithm(algorithm, effort), trainer.data
    is_network = algorithm.body_kind.is_network
    if validation_data is False and is_network and not algorithm.calibrated:
        warnings.warn(
            f"{algorithm.name!r} trains for all epochs and keeps the last one, since there are no "
            "validation examples.",
            stacklevel=2,
        )
    has_folds = trainer.settings.with_members(algorithm, data.train.x.shape).cross_fits
    if validation_data is None and is_network and not has_folds:
        drawn = np.random.randint(2**31 - 1) if seed is None else seed
        trainer.data = data.split(np.random.RandomState(drawn))
    ((_, trained),) = trainer._start([(algorithm, cost_matrix)])
    if isinstance(trained.model, keras.Model):
        history = keras.callbacks.History()
        history.history, history.epoch = trained.history, list(range(trained.epochs))
        trained.model.history = history
    return trained.model


@dataclasses.dataclass(frozen=True)
class Trained:
    """A trained classifier.

    Args:
        model: the trained model, as returned by `csdl_keras.train`.
        seconds: seconds of pre-training and training, including those of shared trainings.
        epochs: epochs of training, without those of pre-training.
        unit: the cost that an output of 1 stands for, if the model outputs costs. Defaults to 1.
        history: losses and metrics of each epoch of the first network. Losses are in units of
            `unit`, average costs in yours.
    """

    model: Any
    seconds: float
    epochs: int
    unit: float = 1.0
    history: dict[str, list[float]] = dataclasses.field(default_factory=dict)


class Trainer:
    """Trains algorithms on one data set; stages that they share are trained only once.

    Cost-blind and Bayes algorithms share their training for all cost matrices. Training follows
    joblib's configuration: `joblib.parallel_config(n_jobs=2)` trains in two processes,
    `joblib.parallel_config("dask")` on a Dask cluster. Both need a `seed`, and your own objects
    must be picklable. Worker processes do not call `callbacks`, and share pre-trainings only
    through the folder of a `cache`.

    Args:
        x, y, costs, network, settings: as in `csdl_keras.train`. Images for the paper's
            convolutional network, and inputs of pre-training, must be in [0, 1].
        validation_data: as in `csdl_keras.train`, but `None` (default) holds out nothing. The
            paper's networks keep the epoch of the lowest validation cost, or of the fewest errors
            if they are cost-blind. The default algorithms are calibrated on these examples, and
            on tables keep the epoch of the lowest loss.
        unlabelled: additional inputs `(U, ...)` for pre-training, or `None` (default).
        seed: seed of everything random. Each training sets it again, so that the order of
            requests does not matter. `None` (default) follows the global state.
        cache: a `StageCache` for finished trainings; it needs a `seed`. With a folder, an
            interrupted training continues from its last epoch, or from one at most 30 seconds
            earlier. `None` (default) keeps trainings in memory.
        callbacks: Keras callbacks for each `fit`. With a `cache` or several processes they may
            only observe: Keras' loggers and checkpoints, and your own callbacks with the
            attribute `observes_only = True`.
        verbose: as in `csdl_keras.train`. Defaults to 0.

    Raises:
        ValueError: if an argument fails its check.

    Example:

    >>> import csdl_keras
    >>> data = csdl_keras.datasets.load("digits")
    >>> matrix = csdl_keras.costs.randomized_proportional(data.y_train, seed=0)
    >>> settings = csdl_keras.Settings().replace({"mlp.hidden_units": (20,)}).limit_epochs(2)
    >>> trainer = csdl_keras.Trainer(data.x_train, data.y_train, settings=settings, seed=0)
    >>> blind, bayes = (trainer.train(name, matrix) for name in ("dnn_blind", "dnn_bayes"))
    >>> blind.seconds == bayes.seconds
    True
    """

    def __init__(
        self,
        x: Any,
        y: ArrayLike | str | None = None,
        validation_data: tuple[CostsLike, ...] | ArrayLike | None = None,
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
        self.seed = None if seed is None else check_integer("seed", seed, 0, 2**32 - 1)  # NumPy
        self.cache = check_cache(cache, self.seed) or StageCache()
        self.callbacks, self.verbose = check_callbacks(callbacks), verbose
        if cache is not None:
            check_observers(self.callbacks, "a `cache`")

    def __repr__(self) -> str:
        (train, *validation), data = self.data.parts, self.data
        return call_of(
            self,
            x=train.x,
            y=train.y,
            validation_data=(validation[0].x, validation[0].y) if validation else None,
            costs=train.costs if train.known is None else train.known,
            unlabelled=data.unlabelled,
            network=self.network,
            settings=None if self.settings == Settings() else self.settings,
            seed=self.seed,
        )

    def train(
        self,
        algorithm: str | Algorithm = "calibrated_bayes",
        cost_matrix: ArrayLike | None = None,
        settings: Settings | None = None,
        effort: str | None = None,
    ) -> Trained:
        """Trains one algorithm for one cost matrix.

        Args:
            algorithm, cost_matrix, effort: as in `csdl_keras.train`.
            settings: a `Settings` to use instead of the trainer's, or `None` (default).

        Returns:
            A `Trained`.
        """
        request = get_algorithm(algorithm, effort), cost_matrix, settings
        ((_, trained),) = self._start([request])
        return trained

    def train_all(
        self, requests: Iterable[Request], on_error: OnError | None = None
    ) -> Iterator[tuple[int, Trained]]:
        """Trains several algorithms, in parallel if joblib is so configured.

        Args:
            requests: tuples of an algorithm and a cost matrix, or of these and a `Settings`. All
                are checked before the first is trained.
            on_error: called with the index and the error of each request whose training fails,
                while the others continue. `None` (default) raises the first error.

        Returns:
            An iterator of `(index, trained)`, each as soon as it is trained.
        """
        return self._start(requests, on_error)

    def planned_epochs(
        self, algorithm: str | Algorithm, cost_matrix: ArrayLike | None = None
    ) -> int:
        """Returns the maximum number of epochs of an algorithm, including pre-training.

        Early stopping may need fewer; a cached training needs none. Arguments are as in `train`.
        """
        planned = 0
        for one in self._plan(algorithm, cost_matrix):
            if one.body.is_network:
                planned += one.body.epochs_on(one.data.train.x.shape)
            if one.pretraining is not None:
                planned += one.pretraining_epochs * len(one.pretraining.layers(one.network))
        return planned

    def key(
        self,
        algorithm: str | Algorithm,
        cost_matrix: ArrayLike | None = None,
        settings: Settings | None = None,
    ) -> str:
        """Returns a digest of everything that an algorithm's networks depend on.

        If one of your own objects has no `version`, each call returns a new one. Arguments are as
        in `train`.
        """
        return StageCache.key([one.key for one in self._plan(algorithm, cost_matrix, settings)])

    def _start(
        self, requests: Iterable[Request], on_error: OnError | None = None
    ) -> Iterator[tuple[int, Trained]]:
        """Checks all requests, and returns an iterator that trains them."""
        planned = []
        for request in requests:
            planned.append(self._plan(*request))
            first = planned[-1][0]
            algorithm, shape = first.algorithm, first.data.train.x.shape
            if algorithm.calibrated and first.held_out is None:
                warnings.warn(
                    f"{algorithm.name!r} calibrates probabilities on `validation_data`; there is "
                    "none, so they are not calibrated.",
                    stacklevel=3,
                )
            if len(shape) == 3 and (algorithm.body == "auto" or first.body.takes_images):
                warnings.warn(
                    f"x of shape (N, {shape[1]}, {shape[2]}) is treated as a table of "
                    f"{shape[1] * shape[2]} features; for images pass x[..., None].",
                    stacklevel=3,
                )
        if several_jobs():
            check_observers(self.callbacks, "several processes")
            if self.seed is None:  # Processes cannot share a random state.
                raise ValueError("Training in several processes needs a `seed`; received None.")
        return self._run(dict(enumerate(planned)), on_error)

    def _plan(
        self,
        algorithm: str | Algorithm,
        cost_matrix: ArrayLike | None,
        settings: Settings | None = None,
    ) -> "list[Training]":
        """Returns the training of each network of an algorithm, if that fits data and costs."""
        settings = self.settings if settings is None else check_settings(settings)
        data = self.data
        algorithm = settings.with_members(get_algorithm(algorithm), data.train.x.shape)
        members = algorithm.members or 1
        algorithm = with_network(algorithm, self.network, settings)
        matrix, body = _check_costs(data, algorithm, cost_matrix), algorithm.body_kind
        if data.classes is not None and not body.is_network:
            raise ValueError(
                f"{algorithm.name!r} needs integer labels; received {data.classes.tolist()}. Pass "
                "numpy.unique(y, return_inverse=True)[1]."
            )
        if data.columns is not None and not body.takes_frames:
            missing = any(np.isnan(part.x).any() for part in data.parts)
            if missing or data.columns.categorical:
                raise ValueError(
                    f"{algorithm.name!r} does not support data frames with categories, dates or "
                    "missing values. Use one that does, such as 'calibrated_bayes'."
                )
        if body.takes_images:
            for part in data.parts:
                check_range("images for a convolutional network", part.x, 0, 1)
        folds = None
        if data.validation is None and algorithm.cross_fits:
            # With 2 folds, networks would learn from only half of the examples.
            number = max(members, 5)
            folds = assign_folds(data.train.y, number, self.seed)
            if np.bincount(folds[folds >= 0], minlength=number).min() < 2:
                folds = None  # There are too few examples.
        shared = algorithm, matrix, settings, data, self.seed, folds
        return [Training(*shared, member) for member in range(members)]

    def _run(
        self, waiting: "dict[int, list[Training]]", on_error: OnError | None
    ) -> Iterator[tuple[int, Trained]]:
        """Yields each request as soon as all its networks are trained."""
        size = len(waiting) if several_jobs() else 1
        while waiting:
            group = {index: waiting.pop(index) for index in list(waiting)[:size]}
            networks = [one for members in group.values() for one in members]
            results: dict[str, _Results | Exception] = {}
            for key, result in self._results(networks):
                results[key] = result
                for index, members in list(group.items()):
                    found = [results[one.key] for one in members if one.key in results]
                    failed = any(isinstance(one, Exception) for one in found)
                    if not failed and len(found) < len(members):
                        continue
                    del group[index]
                    try:
                        trained = _trained(members, found)
                    except Exception as raised:
                        if on_error is None:
                            raise
                        on_error(index, raised)
                    else:
                        yield index, trained

    def _results(self, networks: "list[Training]") -> "Iterator[tuple[str, _Results | Exception]]":
        """Yields results from the cache, and then trains the others."""
        missing: dict[str, tuple[Training, StageCache]] = {}
        for network in networks:
            cache = self.cache if is_kept(network.descriptions) else StageCache()
            kept = [it for one in network.descriptions if (it := cache.find(one)) is not None]
            if len(kept) == len(network.descriptions):
                yield network.key, kept
            else:
                missing[network.key] = network, cache
        # Other processes have neither the callbacks nor the memory of this one.
        elsewhere = several_jobs()
        watched: Any = ((), 0) if elsewhere else (self.callbacks, self.verbose)
        tasks = {
            key: functools.partial(_train_network, *them, *watched) for key, them in missing.items()
        }
        for key, result in run_tasks(tasks, networks[0].environment):
            network, cache = missing[key]
            if elsewhere and cache.folder is None and not isinstance(result, Exception):
                for description, one in zip(network.descriptions, result, strict=True):
                    cache.put(description, one)
            yield key, result


def _check_costs(
    data: TrainingData, algorithm: Algorithm, cost_matrix: ArrayLike | None
) -> np.ndarray:
    """Returns the cost matrix, or the mean costs of examples that have their own, checked."""
    own, known, classes = data.train.costs, data.mean_costs, data.classes
    if (cost_matrix is None) == (own is None and known is None):
        received = "neither" if cost_matrix is None else "both"
        raise ValueError(f"Pass either a `cost_matrix` or `costs`; received {received}.")
    if own is not None:
        matrix = check_mean_costs(class_means(data.train.y, own))
    elif known is not None:
        matrix = known
        if not algorithm.shares_training:
            raise ValueError(
                f"{algorithm.name!r} trains on costs, so it does not support costs of shape (N, K, "
                "D). Use an algorithm such as 'calibrated_bayes', or pass the vectors "
                "`csdl_keras.costs.cost_vectors(costs, y)`."
            )
    else:
        assert cost_matrix is not None  # as checked above
        if classes is None and is_frame(cost_matrix):
            classes = np.arange(len(np.asarray(cost_matrix)))
        matrix = check_cost_matrix(cost_matrix, square=False, classes=classes)
    if data.classes is not None and own is None and len(matrix) != len(data.classes):
        raise ValueError(
            f"Costs must have a row for each of the labels {data.classes.tolist()}; received "
            f"{len(matrix)} rows."
        )
    for part in data.parts:
        check_labels(part.y, len(matrix))
    check_numbered("classes", len(matrix), keras.config.floatx())
    if not matrix.any():
        raise ValueError("All costs are 0, so all decisions are equal. Pass some costs above 0.")
    (num_classes, decisions), objective = matrix.shape, algorithm.objective
    received = f"received {num_classes} classes and {decisions} decisions"
    prices_others = objective.other_decisions and algorithm.pretraining_sees != "costs"
    if decisions > num_classes and not prices_others:
        raise ValueError(
            f"{algorithm.name!r} does not support decisions other than classes; {received}. Use "
            "'calibrated_bayes', 'cost_model' or an `Objective` with `other_decisions`."
        )
    if decisions < num_classes and algorithm.prediction == "argmax":
        raise ValueError(f"{algorithm.name!r} can only decide for classes; {received}.")
    if own is not None and objective.weighted and np.diagonal(regret(matrix)).any():
        raise ValueError(
            f"{algorithm.name!r} needs costs for which right decisions are cheapest on average; "
            f"received mean costs {matrix.round(4).tolist()}."
        )
    return matrix


class Training:
    """The training of one network of an algorithm, validated on its fold if there are `folds`."""

    def __init__(
        self,
        algorithm: Algorithm,
        matrix: np.ndarray,
        settings: Settings,
        data: TrainingData,
        seed: int | None,
        folds: np.ndarray | None,
        member: int,
    ):
        self.algorithm, self.matrix, self.data, self.folds = algorithm, matrix, data, folds
        self.member, self.seed = member, member_seed(seed, member)
        self.environment, shape = environment(), data.train.x.shape
        self.body: Any = settings.body_of(algorithm)
        hinge = algorithm.objective.hinge if settings.hard_hinge else None
        self.objective = algorithm.objective if hinge is None else OBJECTIVES[hinge]
        self.pretraining = settings.pretraining_of(algorithm)
        self.columns = data.columns if self.body.takes_frames else None
        own = [float(part.costs.max()) for part in data.parts if part.costs is not None]
        self.unit = self.objective.unit_of(matrix, max(own, default=None))
        self.augments = self.body.is_network and self.body.augments(shape)
        # Labels are smoothed only if a calibration follows, which undoes the effect.
        calibrates = algorithm.calibrated and (data.validation is not None or folds is not None)
        likelihood = self.objective.loss is keras.losses.SparseCategoricalCrossentropy
        smooths = calibrates and self.objective.blind and likelihood
        self.smoothing = getattr(self.body, "label_smoothing", 0.0) if smooths else 0.0

    @functools.cached_property
    def network(self) -> keras.Model:
        x = self.data.train.in_memory().x
        rows: Any = x if self.columns is None else Table(x, self.columns)
        return self.objective.build(self.body, rows, self.matrix, self.unit, self.seed)

    @property
    def learned(self) -> Examples:
        train = self.data.train
        return train if self.folds is None else train.at(self.folds != self.member)

    @property
    def held_out(self) -> Examples | None:
        data = self.data
        held_out = (
            data.validation if self.folds is None else data.train.at(self.folds == self.member)
        )
        return None if held_out is None else held_out.in_memory()

    @property
    def pretraining_epochs(self) -> int:
        """Epochs of pre-training for each layer."""
        assert self.pretraining is not None
        unlabelled = 0 if self.data.unlabelled is None else len(self.data.unlabelled)
        return self.pretraining.epochs * self.body.stretch(len(self.data.train.x) + unlabelled)

    @functools.cached_property
    def descriptions(self) -> list[dict[str, Any]]:
        """Everything that its pre-training, if any, and its training depend on, for their keys."""
        digests, pretraining = self.data.fingerprints, self.pretraining
        common = {
            "environment": self.environment,
            "data": digests["data"],
            "classes": len(self.matrix),
            "columns": describe(self.columns),
            "seed": self.seed,
            "folds": describe(self.folds),
            "member": self.member,
        }
        costs = [digests["costs"], fingerprint(self.matrix / self.unit)]
        found: list[dict[str, Any]] = []
        if pretraining is not None:
            of_training = self.body.of_training
            network = {it: one for it, one in vars(self.body).items() if it not in of_training}
            stage = {
                "stage": "pretraining",
                "pretraining": describe(pretraining),
                "body": describe([type(self.body), network]),
                "costs": costs if pretraining.looks_at == "costs" else None,
                "epochs": self.pretraining_epochs,
                "unlabelled": digests["unlabelled"],
            }
            found.append(common | stage)
        stage = {
            "stage": "training",
            "body": describe(self.body),
            "objective": describe(self.objective),
            "costs": None if self.objective.blind else costs,
            "pretraining": found[:],
            "smoothing": self.smoothing,
        }
        found.append(common | stage)
        if not is_kept(stage):  # Each request gets a new key.
            found = [{**one, "request": uuid.uuid4().hex} for one in found]
        return found

    @functools.cached_property
    def key(self) -> str:
        return StageCache.key(self.descriptions[-1])


_Results: TypeAlias = list[StageResult]
_Computed: TypeAlias = tuple[list[np.ndarray], dict[str, Any]]


def _train_network(
    network: Training,
    cache: StageCache,
    callbacks: Sequence[keras.callbacks.Callback],
    verbose: Verbose,
) -> _Results:
    """Pre-trains and trains a network, unless the cache has the results."""
    results: _Results = []
    shown = verbose == "auto" and (sys.stdout.isatty() or "ipykernel" in sys.modules)
    for description in network.descriptions:
        stage, bars = description["stage"], []
        if shown:
            members = network.algorithm.members or 1
            place = f" of network {network.member + 1} of {members}" * (members > 1)
            bars = [EpochBar(f"{network.algorithm.title}, {stage}{place}")]
        arguments = {
            "seed": network.seed,
            "unfinished": cache.unfinished(description),
            "callbacks": [*callbacks, *bars],
            "verbose": 0 if verbose == "auto" else verbose,
        }
        if network.seed is not None:
            keras.utils.set_random_seed(network.seed)
        if stage == "pretraining":
            compute = functools.partial(_pretrain, network, arguments)
        else:
            compute = functools.partial(_fit, network, arguments, [one.arrays for one in results])
        results.append(cache.get(description, compute))
    return results


def _pretrain(training: Training, arguments: dict[str, Any]) -> _Computed:
    """Pre-trains a network; returns the weights of the pre-trained layers and a record."""
    pretraining, examples, costs = training.pretraining, training.learned, None
    assert pretraining is not None
    if pretraining.looks_at == "errors":
        costs = 1.0 - np.eye(len(training.matrix))[examples.y]
    elif pretraining.looks_at == "costs":
        vectors = training.matrix[examples.y] if examples.costs is None else examples.costs
        costs = vectors / training.unit
    what = f"{training.algorithm.name!r} (pre-training)"
    pretraining.run(
        training.network,
        np.asarray(examples.x),
        costs,
        unlabelled=training.data.unlabelled,
        epochs=training.pretraining_epochs,
        batch_size=training.body.batch_size,
        **{**arguments, "callbacks": [*arguments["callbacks"], RaiseOnDivergence(what)]},
    )
    weights = [
        array for layer in pretraining.layers(training.network) for array in layer.get_weights()
    ]
    return weights, {"epochs": training.pretraining_epochs}


def _fit(
    training: Training, arguments: dict[str, Any], pretrained: list[Sequence[np.ndarray]]
) -> _Computed:
    """Trains a network from `pretrained` layers, if any; returns its weights and a record."""
    if not training.body.is_network:
        return _fit_csosr(training)
    arguments["what"] = repr(training.algorithm.name)
    model, body, objective = training.network, training.body, training.objective
    train, validation = training.learned, training.held_out
    costs, shape = (training.matrix, training.unit), train.x.shape
    epochs, monitor, passes = body.epochs_on(shape), body.monitor(shape), body.passes_on(shape)
    if passes > 1:
        train = train.at(np.tile(np.arange(len(train.y)), passes))
    output_kind(objective.classifier(model), objective.output)  # It raises on a wrong kind.
    if training.pretraining is not None:
        weights = iter(pretrained[0])
        for layer in training.pretraining.layers(model):
            layer.set_weights([next(weights) for _ in layer.weights])
    compiled = objective.compile_arguments(train, *costs)
    if training.smoothing:
        compiled["loss"] = functools.partial(_smoothed_crossentropy, share=training.smoothing)
    watched, callbacks = arguments["callbacks"] or arguments["verbose"], arguments["callbacks"][:]
    optimizer = body.optimizer(shape, on_costs=objective.on_costs)
    together = executed_steps(len(train.x), body.batch_on(shape))
    model.compile(optimizer, **compiled, steps_per_execution=together)
    if training.augments and affine_layer(model) is not None:
        looked_at = training.learned.in_memory() if validation is None else validation
        callbacks.append(ChooseAugmentation(looked_at.x, looked_at.y, round(epochs / 6)))
    stopping = []
    if validation is not None and monitor is not None:
        stopping.append(StopWhenDone(monitor, body.patience_on(shape)))
    if validation is not None and (monitor is not None or watched):
        arguments["validation_data"] = (validation.x, objective.targets(validation, *costs))
    history = seeded_fit(
        model,
        train.x,
        objective.targets(train, *costs),
        **{**arguments, "callbacks": callbacks},
        stateful=stopping,
        sample_weight=objective.sample_weight(train, training.matrix),
        epochs=epochs,
        batch_size=body.batch_on(shape),
    )
    values = {name: list(map(float, them)) for name, them in history.history.items()}
    return model.get_weights(), {"epochs": len(history.epoch), "history": values}


def _smoothed_crossentropy(labels: Tensor, probabilities: Tensor, share: float) -> Tensor:
    """Returns the cross-entropy of integer labels with label smoothing."""
    labels = keras.ops.cast(keras.ops.reshape(labels, (-1,)), "int32")
    rows = keras.ops.one_hot(labels, probabilities.shape[-1], dtype=probabilities.dtype)
    return keras.losses.categorical_crossentropy(rows, probabilities, label_smoothing=share)


def _fit_csosr(training: Training) -> _Computed:
    """Fits `CSOSR` on flattened inputs and scaled costs; returns it in a record."""
    from csdl_keras.baselines.csosr import CSOSR  # It imports scikit-learn.

    body, data, unit = training.body, training.data.train, training.unit
    rows = np.asarray(data.x).reshape(len(data.x), -1)
    spread = rows.shape[1] * rows.var(dtype="float64") or 1.0  # It is 1 if all rows are equal.
    machine = CSOSR(
        penalty=body.penalty,
        gamma=float(body.gamma_factor / spread),
        cost_matrix=training.matrix / unit if data.costs is None else None,
        binary_costs=True,  # They were checked before they were scaled.
    )
    machine.fit(rows, data.y if data.costs is None else data.costs / unit)
    return [], {"epochs": int(machine.n_iter_), "machine": machine.to_record()}


def _trained(members: Sequence[Training], found: Sequence[_Results | Exception]) -> Trained:
    """Returns the classifier of an algorithm's networks, or raises the error of one of them."""
    for one in found:
        if isinstance(one, Exception):
            raise one
    results = [one for one in found if isinstance(one, list)]
    first, arrays = members[0], [one[-1].arrays for one in results]
    info, seconds = results[0][-1].info, sum(it.seconds for one in results for it in one)
    unit = first.unit if first.algorithm.output == "cost" else 1.0
    if first.body.is_network:
        model = with_data(_classifier(members, arrays), classes=first.data.classes, unit=unit)
    else:
        from csdl_keras.baselines.csosr import CSOSR

        model = CSOSR.from_record(info["machine"])
    return Trained(model, seconds, int(info["epochs"]), unit, info.get("history", {}))


def _classifier(
    members: Sequence[Training], weights: Sequence[Sequence[np.ndarray]]
) -> keras.Model:
    """Returns the model that decides: an algorithm's networks, averaged and calibrated."""
    first, algorithm = members[0], members[0].algorithm
    models, held_out = [], []
    for training, arrays in zip(members, weights, strict=True):
        training.network.set_weights(arrays)
        held_out.append(training.held_out if algorithm.calibrated else None)
        models.append(_member(training, held_out[-1]))
    model = models[0] if len(models) == 1 else ensemble(models)
    if algorithm.output == "cost":
        return model
    if algorithm.calibrated and first.folds is not None:
        # All networks share one temperature, fitted to the folds that they did not learn from.
        pairs = zip(models, held_out, strict=True)
        found = [(one.predict(it.x, verbose=0), it.y) for one, it in pairs if it is not None]
        rows, labels = map(np.concatenate, zip(*found, strict=True))
        matrix, _ = fit_scaling(rows, labels, "temperature")
        model = with_temperature(model, 1.0 / matrix[0, 0])
    elif held_out[0] is not None:
        model = calibrate(model, held_out[0].x, held_out[0].y)
    if not algorithm.weighs_costs:
        return model
    if first.data.train.costs is None and first.data.mean_costs is None:
        return bayes_classifier(model, first.matrix)
    # A constant in the costs of a class does not change decisions, so it is removed.
    return bayes_classifier(model, regret(first.matrix), mean_costs=True)


def _member(training: Training, held_out: Examples | None) -> keras.Model:
    """Returns a trained network as a model for `csdl_keras.decide`."""
    data, objective, network = training.data, training.objective, training.network
    model = objective.classifier(network)
    if model is network:  # The new model of the same layers is not compiled.
        model = keras.Model(inputs_of(network), network.outputs[0], name=network.name)
        model = with_data(model, network)
    if data.columns is not None and training.columns is None:
        # The columns of data frames are found by their names.
        inputs = keras.Input((data.columns.width,), dtype=float_dtype())
        rows = FrameColumns(data.columns.names, data.columns.categories, name="columns")(inputs)
        model = with_data(keras.Model(inputs, model(rows), name=model.name))
    affine = affine_layer(network) if training.augments else None
    if affine is not None and (training.algorithm.output == "probability" or objective.calibrates):
        mirrored = bool(keras.ops.convert_to_numpy(affine.strengths)[3])
        # An image of one row or column cannot be shifted by a pixel.
        shifted = int(min(data.train.x.shape[1:3]) > 1)
        model = view_average(model, pixels=shifted, flip=mirrored)
    if objective.calibrates and held_out is not None:
        # Members differ in probabilities and costs, so each is calibrated separately.
        model = calibrate(model, held_out.x, held_out.y)
    return model
