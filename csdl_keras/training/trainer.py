"""Trains algorithms on one data set, stages that they share once."""

import dataclasses
import functools
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import keras

from csdl_keras._utils.checks import (
    LARGEST_SEED,
    check_callbacks,
    check_choice,
    check_integer,
    check_type,
    check_verbose,
)
from csdl_keras._utils.types import ArrayLike, Verbose
from csdl_keras.costs.known import CostsLike
from csdl_keras.fitting.callbacks import check_observers
from csdl_keras.fitting.environment import environment
from csdl_keras.fitting.stage_cache import StageCache, StageResult, check_cache
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.algorithms import get_algorithm, with_options
from csdl_keras.training.budget import recipes_in_time
from csdl_keras.training.own_network import Network, with_network
from csdl_keras.training.raw_data import check_fits, check_raw_data
from csdl_keras.training.recipe import Recipe
from csdl_keras.training.recipes import recipes, with_members
from csdl_keras.training.settings import Settings, check_settings
from csdl_keras.training.stages import Stages
from csdl_keras.training.trained import Trained, train_several
from csdl_keras.training.workers import check_sendable

Request: TypeAlias = tuple[str | Algorithm, ArrayLike | None, *tuple[Settings, ...]]


class Trainer:
    """Trains algorithms on one data set; stages that they share are trained once.

    Cost-blind and Bayes algorithms share their training for all cost matrices.

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
            last one. `None` (default): see `csdl_keras.train`.
        settings: a `Settings`; `None` (default) is `Settings()`.
        seed: seed of weights, shuffling and all that layers draw, so that results do not
            depend on the order of stages; each stage begins with
            `keras.utils.set_random_seed(seed)`. `None` (default) follows the global state.
        callbacks: Keras callbacks for each `fit`. With a `cache` or several `jobs` they may
            only observe: Keras' loggers and checkpoints, and your own callbacks that have
            the attribute `observes_only = True`.
        verbose: as in `keras.Model.fit`. Defaults to 0.
        cache: a `StageCache` in which finished stages are looked up and kept, shared with
            any other training; it needs a `seed`, and keeps what depends on objects of your
            own by their `version` alone. With a folder, a killed training goes on
            from an epoch at most 30 seconds, and an epoch, before it was killed, and ends where
            it would have. `None` (default) keeps stages in memory.
        jobs: number of processes that train the members of an ensemble, or the requests of
            `train_all`; above 1 it needs a `seed`, and `callbacks` are not called in them.
            The processes have this one's settings of Keras and its backend, and end soon
            after it. Defaults to 1, this process.
        costs: cost vectors `(N, D)` of the examples; or where costs are known when deciding,
            `(N, K, D)` or `costs.AffineCosts`, for algorithms that train on labels alone and
            then decide by the mean matrix, or in `decide` by others. Defaults to `None`.
        unlabelled: inputs `(U, ...)` that pre-training sees too, or `None` (default).
        network: a network of your own, see `csdl_keras.train`, or `None` (default).

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
        settings: Settings | None = None,
        seed: int | None = None,
        callbacks: Sequence[keras.callbacks.Callback] = (),
        verbose: Verbose = 0,
        cache: StageCache | None = None,
        jobs: int = 1,
        costs: CostsLike | None = None,
        unlabelled: ArrayLike | None = None,
        network: Network | None = None,
    ):
        self.data = check_raw_data(x, y, costs, validation_data, unlabelled)
        self.network = network
        self.settings = Settings() if settings is None else check_settings(settings)
        self.seed = None if seed is None else check_integer("seed", seed, 0, LARGEST_SEED)
        self.cache = check_cache(cache, self.seed) or StageCache()
        callbacks, verbose = check_callbacks(callbacks), check_verbose(verbose)
        if cache is not None:
            check_observers(callbacks, "a `cache`")
        self._fit_arguments = callbacks, verbose
        self.jobs = check_integer("jobs", jobs)
        if self.jobs > 1 and self.seed is None:
            # Processes cannot share a state of random numbers.
            raise ValueError(f"Expected a `seed` with jobs={self.jobs}; received None.")
        if self.jobs > 1:
            check_observers(callbacks, "several `jobs`")

    @property
    def _stages(self) -> Stages:
        """The stages of one call, which alone knows those of objects without a version."""
        return Stages(self.data, self.seed, self.cache, *self._fit_arguments)

    def train(
        self,
        algorithm: str | Algorithm,
        cost_matrix: ArrayLike | None = None,
        settings: Settings | None = None,
        ensemble: int | None = None,
        effort: str | None = None,
        minutes: float | None = None,
    ) -> Trained:
        """Trains one algorithm for one cost matrix.

        Args:
            algorithm: a name of `ALGORITHMS`, or an `Algorithm`.
            cost_matrix: `(K, D)`, `C[true, decision]`; decisions that are no class, `D > K`,
                are for algorithms that weigh probabilities or estimate costs consistently.
                `None` (default) takes the examples' own `costs`, by whose means Bayes
                algorithms then decide.
            settings: choices that replace the trainer's own; `None` (default) keeps those.
            ensemble: number of networks of different seeds whose outputs are averaged; `None`
                (default) is the algorithm's own, or what the effort says.
            effort, minutes: how long training may take, see `csdl_keras.train`.

        Returns:
            A `Trained`. Its model outputs probabilities (cost-blind algorithms, `min` and the
            weighted ones) or expected costs, in the unit of the costs (Bayes) or divided by
            `Trained.unit` (algorithms that train on costs); for `csosr` it is a fitted
            `baselines.CSOSR`.

        Raises:
            ValueError: if an argument fails its check; nothing is trained then.
            DivergedError: if training diverges; the trainer and its cache remember that.
        """
        algorithm, stages = with_options(algorithm, ensemble, effort), self._stages
        if minutes is None:
            members = self._members(algorithm, settings, cost_matrix)
        else:
            # Without `effort`, the highest one that fits.
            wanted = dataclasses.replace(algorithm, effort=effort)
            make = functools.partial(self._members, cost_matrix=cost_matrix)
            own = settings or self.settings
            members, end = recipes_in_time(make, wanted, own, self.data, minutes)
            stages = dataclasses.replace(stages, deadline=end)
        untrained = sum(not stages.is_trained(recipe) for recipe in members)
        jobs = self.jobs if untrained > 1 else 1
        ((_, trained),) = train_several(stages, [members], jobs, _raise)
        return trained

    def train_all(
        self,
        requests: Iterable[Request],
        settings: Settings | None = None,
        on_error: Callable[[int, Exception], None] | None = None,
    ) -> Iterator[tuple[int, Trained]]:
        """Trains several algorithms, in `jobs` processes.

        Args:
            requests: pairs of an algorithm and a cost matrix as in `train`, or with their own
                `Settings` as a third.
            settings: as in `train`.
            on_error: called with the index and the error of each request whose training fails
                or diverges; the others go on. `None` (default) raises the first error.

        Returns:
            An iterator of `(index, trained)`: the index of a request and what `train`
            returns for it, as soon as it is trained; in the order of requests if `jobs` is 1.

        Raises:
            ValueError: if a request fails its check; nothing is trained then.
            DivergedError: if training diverges and there is no `on_error`.
        """
        if on_error is not None:
            check_type("on_error", on_error, Callable, "a function or None")
        members = []
        for request in requests:
            if not isinstance(request, (tuple, list)) or len(request) not in (2, 3):
                what = "pairs of an algorithm and a cost matrix"
                raise ValueError(f"Expected `requests` to be {what}; received {request!r}.")
            algorithm, matrix, *own = request
            members.append(self._members(algorithm, own[0] if own else settings, matrix))
        return train_several(self._stages, members, self.jobs, on_error or _raise)

    def _members(
        self, algorithm: str | Algorithm, settings: Settings | None, cost_matrix: ArrayLike | None
    ) -> list[Recipe]:
        settings = self.settings if settings is None else check_settings(settings)
        algorithm = with_members(get_algorithm(algorithm), settings, self.data.train.x.shape)
        algorithm = with_network(algorithm, self.network, settings, self.data)
        if self.jobs > 1:
            check_sendable(algorithm)
        check_fits(self.data, algorithm, cost_matrix)
        data = self.data.fingerprint
        context = {"data": data, "seed": self.seed, "environment": environment()}
        made = recipes(self.data, algorithm, cost_matrix, settings, context)
        if made[0].is_kept:
            return made
        # Another object of this name is no other request's.
        context = {**context, "request": uuid.uuid4().hex}
        return [dataclasses.replace(recipe, context=context) for recipe in made]

    def stages(
        self,
        algorithm: str | Algorithm,
        cost_matrix: ArrayLike | None = None,
        settings: Settings | None = None,
    ) -> dict[str, dict[str, Any]]:
        """Describes an algorithm's stages, as its cache knows them.

        Returns a dict of descriptions, `"pretraining"` (unless it has none) and `"training"`; the
        arguments are those of `train`.
        """
        return self._members(algorithm, settings, cost_matrix)[0].stages

    def run_stage(
        self,
        name: str,
        algorithm: str | Algorithm,
        cost_matrix: ArrayLike | None = None,
        settings: Settings | None = None,
    ) -> StageResult | None:
        """Runs one stage of an algorithm, after those that it needs, unless it is in the cache.

        Returns its result, or `None` for the pre-training of an algorithm without one. `name` is
        `"pretraining"` or `"training"`, the other arguments are those of `train`.
        """
        check_choice("name", name, ("pretraining", "training"))
        first = self._members(algorithm, settings, cost_matrix)[0]
        runs = {"pretraining": self._stages.pretrained, "training": self._stages.trained}
        return runs[name](first)


def _raise(index: int, error: Exception) -> None:
    raise error
