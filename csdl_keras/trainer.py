"""Trains algorithms on one data set, stages that they share once."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import keras

from csdl_keras._job import Job
from csdl_keras._row_jobs import row_jobs
from csdl_keras._row_training import train_rows, trained_row
from csdl_keras._stages import Stages
from csdl_keras._training_data import check_training_data
from csdl_keras._utils.checks import (
    LARGEST_SEED,
    check_callbacks,
    check_choice,
    check_integer,
    check_verbose,
)
from csdl_keras.algorithms import MOST_MEMBERS, Algorithm, get_algorithm
from csdl_keras.fitting.environment import environment
from csdl_keras.fitting.observers import check_observers
from csdl_keras.fitting.stage_cache import StageCache, StageResult, check_cache
from csdl_keras.settings import Settings, check_settings
from csdl_keras.trained import Trained


class Trainer:
    """Trains algorithms on one data set; stages that they share are trained once.

    Cost-blind and Bayes rows share their training, for every cost matrix; rows
    with the same pre-training share that.

    Args:
        x: inputs `(N, ...)`; images `(N, height, width, channels)` for the
            convolutional rows (gray ones too: `x[..., None]`); in [0, 1] for
            those and for pre-trained rows.
        y: integer labels `(N,)`.
        validation_data: `(x_val, y_val)`, with `costs` also `(x_val, y_val,
            costs_val)`: training stops early on the
            validation cost and keeps the best epoch. `None` (default) trains
            all epochs. Cost-blind training looks at the 0/1 cost, the error
            rate, because it must not depend on the cost matrix.
        settings: a `Settings`; `None` (default) is `Settings()`.
        seed: seed of weights, shuffling and all that layers draw, so that results do
            not depend on the order of stages; each stage begins with
            `keras.utils.set_random_seed(seed)`. `None` (default) leaves the global
            state of random numbers alone.
        callbacks: Keras callbacks for each `fit`. With a `cache` or several `jobs`
            they may only observe: loggers and checkpoints of Keras, and callbacks of
            your own with the attribute `observes_only = True`.
        verbose: as in `keras.Model.fit`. Defaults to 0.
        cache: a `StageCache` in which finished stages are looked up and kept,
            so that they outlive the process and are shared with others; it
            needs a `seed`. Others may train on other data, or under other settings
            of Keras. With a folder, networks that are killed go on from an epoch at
            most two seconds before it, and end where they would have.
            `None` (default) keeps stages in memory.
        jobs: number of processes that train, the members of an ensemble or what
            `train_all` is given; above 1 it needs a `seed`, and `callbacks` see
            nothing of them. They have the settings of Keras and its backend that
            this process has, and end soon after it, however it ends. Defaults to 1,
            this process.
        costs: `(N, D)` cost vectors, where costs differ from example to example
            instead of following from a matrix. Defaults to `None`.
        unlabelled: inputs `(U, ...)` without labels, on which pre-trained rows
            pre-train too; the others do not look at them. Defaults to `None`.

    Raises:
        ValueError: if the data fails its checks, or there is a cache and no seed, or
            a callback that may change what is trained.

    Example:

    >>> import csdl_keras
    >>> data = csdl_keras.datasets.load("digits")
    >>> matrix = csdl_keras.costs.randomized_proportional(data.y_train, seed=0)
    >>> settings = csdl_keras.Settings(hidden_units=(20,)).limit_epochs(2)
    >>> trainer = Trainer(data.x_train, data.y_train, settings=settings, seed=0)
    >>> blind, bayes = (trainer.train(row, matrix) for row in ("dnn_blind", "dnn_bayes"))
    >>> blind.seconds == bayes.seconds
    True
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        validation_data: tuple[Any, ...] | None = None,
        settings: Settings | None = None,
        seed: int | None = None,
        callbacks: Sequence[keras.callbacks.Callback] = (),
        verbose: Any = 0,
        cache: StageCache | None = None,
        jobs: int = 1,
        costs: Any = None,
        unlabelled: Any = None,
    ):
        self.data = check_training_data(x, y, costs, validation_data, unlabelled)
        self.settings = Settings() if settings is None else check_settings(settings)
        self.seed = None
        if seed is not None:
            self.seed = check_integer("seed", seed, low=0, high=LARGEST_SEED)
        self.cache = check_cache(cache, self.seed) or StageCache()
        callbacks, verbose = check_callbacks(callbacks), check_verbose(verbose)
        if cache is not None:
            check_observers(callbacks, "a `cache`")
        self._stages = Stages(self.data, self.seed, self.cache, callbacks, verbose)
        self.jobs = check_integer("jobs", jobs)
        if self.jobs > 1 and self.seed is None:
            raise ValueError(
                f"Expected a `seed` with jobs={self.jobs}, since processes cannot share a state of "
                "random numbers; received None."
            )
        if self.jobs > 1:
            check_observers(callbacks, "several `jobs`")

    def train(
        self,
        algorithm: str | Algorithm,
        cost_matrix: Any = None,
        settings: Settings | None = None,
        ensemble: int | None = None,
    ) -> Trained:
        """Trains one algorithm for one cost matrix.

        Args:
            algorithm: a name of `ALGORITHMS`, or an `Algorithm`.
            cost_matrix: `(K, D)`, `C[true, decision]`; losses see it divided by
                its largest entry. Decisions that are no class, `D > K`, are for
                rows that weigh probabilities or estimate costs consistently.
                `None` (default) takes the examples' own `costs`; Bayes rows
                then decide by the mean costs of each class.
            settings: other choices than the trainer's own; `None` (default) is those.
            ensemble: number of networks, trained from seeds of their own, whose
                outputs are averaged before the decision; `None` (default) is the
                algorithm's own number, 1 for the rows of the paper.

        Returns:
            A `Trained`, whose model outputs probabilities (blind rows, `min` and
            the weighted ones), expected costs (Bayes rows) or estimates of
            `C / max(C)` (SOSR rows); of `csosr`, a fitted `baselines.CSOSR`.

        Raises:
            ValueError: if an argument fails its check; nothing is trained then.
            DivergedError: if training diverges; the trainer and its cache remember that.
        """
        row = get_algorithm(algorithm)
        if ensemble is not None:
            check_integer("ensemble", ensemble, high=MOST_MEMBERS)
            row = dataclasses.replace(row, members=ensemble)
        members = self._members(row, cost_matrix, settings)
        if self.jobs > 1 and sum(not self._stages.is_trained(job) for job in members) > 1:
            with contextlib.closing(self._stages.run_missing(members, self.jobs)) as missing:
                for _, error in missing:
                    if error is not None:
                        raise error
        return trained_row(self._stages, members)

    def train_all(
        self,
        requests: Iterable[tuple[str | Algorithm, Any]],
        settings: Settings | None = None,
        on_error: Callable[[int, Exception], None] | None = None,
    ) -> Iterator[tuple[int, Trained]]:
        """Trains several algorithms, in `jobs` processes.

        Args:
            requests: pairs of an algorithm and a cost matrix, as `train` takes them.
            settings: as in `train`.
            on_error: called with the index and the error of each request whose training
                fails or diverges; the others are still trained then. `None` (default)
                raises the first error.

        Returns:
            An iterator of `(index, trained)`: which of the requests it is, and what
            `train` returns for it, as soon as there is one; in the order of
            requests if `jobs` is 1.

        Raises:
            ValueError: if a request fails its check; nothing is trained then.
            DivergedError: if training diverges and there is no `on_error`.

        Example:

        >>> import csdl_keras
        >>> data = csdl_keras.datasets.load("digits", train_size=150)
        >>> matrix = csdl_keras.costs.zero_one(10)
        >>> settings = csdl_keras.Settings(hidden_units=(20,)).limit_epochs(2)
        >>> trainer = Trainer(data.x_train, data.y_train, settings=settings, seed=0)
        >>> requests = [("dnn_blind", matrix), ("dnn_sosr", matrix)]
        >>> [index for index, trained in trainer.train_all(requests)]
        [0, 1]
        """
        if on_error is not None and not callable(on_error):
            raise ValueError(
                f"Expected `on_error` to be a function or None; received {on_error!r}."
            )
        members = []
        for request in requests:
            if not isinstance(request, (tuple, list)) or len(request) != 2:
                raise ValueError(
                    "Expected `requests` to be pairs of an algorithm and a cost matrix; "
                    f"received {request!r}."
                )
            algorithm, matrix = request
            members.append(self._members(get_algorithm(algorithm), matrix, settings))
        return train_rows(self._stages, members, self.jobs, on_error or _raise)

    def _members(self, row: Algorithm, cost_matrix: Any, settings: Settings | None) -> list[Job]:
        settings = self.settings if settings is None else check_settings(settings)
        return row_jobs(self.data, row, cost_matrix, settings, self._context)

    def stages(
        self,
        algorithm: str | Algorithm,
        cost_matrix: Any = None,
        settings: Settings | None = None,
    ) -> dict[str, dict[str, Any]]:
        """Describes an algorithm's stages, as its cache knows them.

        Args:
            algorithm: as in `train`, and so are the others.
            cost_matrix: `(K, D)`, or `None` (default).
            settings: choices.

        Returns:
            A dict of descriptions, `"pretraining"` (unless it has none) and `"training"`.
        """
        job = self._members(get_algorithm(algorithm), cost_matrix, settings)[0]
        descriptions = {"pretraining": job.pretraining(), "training": job.training()}
        return {name: stage for name, stage in descriptions.items() if stage is not None}

    def run_stage(
        self,
        name: str,
        algorithm: str | Algorithm,
        cost_matrix: Any = None,
        settings: Settings | None = None,
    ) -> StageResult | None:
        """Runs one stage of an algorithm, after those that it needs, unless it is in the cache.

        Args:
            name: `"pretraining"` or `"training"`.
            algorithm: as in `train`, and so are the others.
            cost_matrix: `(K, D)`, or `None` (default).
            settings: choices.

        Returns:
            What the stage leaves; None for pre-training in a row that has none.
        """
        check_choice("name", name, ("pretraining", "training"))
        job = self._members(get_algorithm(algorithm), cost_matrix, settings)[0]
        if name == "pretraining":
            return self._stages.pretrained(job)
        return self._stages.trained(job)

    @property
    def _context(self) -> dict[str, Any]:
        """What every stage depends on beside its choices."""
        data = self.data.fingerprint
        return {"data": data, "seed": self.seed, "environment": environment()}


def _raise(index: int, error: Exception) -> None:
    raise error
