"""The stages of recipes on one data set, each of them run once, in one process or several."""

import dataclasses
import functools
import pathlib
from collections.abc import Callable, Generator, Sequence
from typing import Any, ParamSpec

import keras
import numpy as np

from csdl_keras._utils.seeds import member_seed
from csdl_keras._utils.types import Verbose, Weights
from csdl_keras.fitting.divergence import DivergedError
from csdl_keras.fitting.environment import adopt, environment
from csdl_keras.fitting.stage_cache import StageCache, StageResult
from csdl_keras.training.data import TrainingData
from csdl_keras.training.fit_csosr import fit_csosr
from csdl_keras.training.fit_network import FitOptions, fit_network, pretrain_network
from csdl_keras.training.fit_stacked import fit_stacked
from csdl_keras.training.recipe import Recipe
from csdl_keras.training.schedule import Stage, run_stages
from csdl_keras.training.workers import forget_models, workers

P = ParamSpec("P")
Result = tuple[Weights, dict[str, Any]]


def remember_divergence(run: Callable[P, Result]) -> Callable[P, Result]:
    """Makes a stage return a `DivergedError` as the `info` of its result.

    The cache keeps it like any result, so that the stage does not run and diverge again.
    """

    @functools.wraps(run)
    def remembering(*args: P.args, **kwargs: P.kwargs) -> Result:
        try:
            return run(*args, **kwargs)
        except DivergedError as error:
            return [], {"epochs": error.epoch, "diverged": str(error)}

    return remembering


def check_converged(result: StageResult) -> StageResult:
    """Returns the result of a stage; raises the `DivergedError` in which it ended."""
    if "diverged" in result.info:
        raise DivergedError(result.info["diverged"], result.info["epochs"])
    return result


@dataclasses.dataclass(frozen=True)
class Stages:
    """Runs stages of recipes and keeps their results in a cache.

    Args:
        data: training and validation examples.
        seed: seed of each stage, or `None`.
        cache: the cache of finished stages; those of objects without a version stay here.
        callbacks: Keras callbacks for each `fit` in this process.
        verbose: as in `keras.Model.fit`.
        deadline: time at which training ends, as `time.time()` tells it; `None` (default) for
            none.
    """

    data: TrainingData
    seed: int | None
    cache: StageCache
    callbacks: Sequence[keras.callbacks.Callback] = ()
    verbose: Verbose = 0
    deadline: float | None = None
    _unkept: StageCache = dataclasses.field(init=False, default_factory=StageCache)

    def pretrained(self, recipe: Recipe) -> StageResult | None:
        """Returns the result of the recipe's pre-training; `None` without one."""
        description = recipe.describe_pretraining()
        if description is None:
            return None
        return check_converged(self._stage("pretraining", recipe, description, ()))

    def trained(self, recipe: Recipe) -> StageResult:
        """Returns the result of the recipe's training."""
        pretrained = self.pretrained(recipe)
        arrays = pretrained.arrays if pretrained else ()
        return check_converged(self._stage("training", recipe, recipe.describe_training(), arrays))

    def is_trained(self, recipe: Recipe) -> bool:
        """Tells whether the cache has the recipe's training."""
        return recipe.describe_training() in self._cache_of(recipe)

    def run_missing(
        self, recipes: Sequence[Recipe], processes: int
    ) -> Generator[tuple[list[Recipe], Exception | None]]:
        """Runs stages that are not in the cache in several processes, see `run_stages`.

        Yields recipes that share a stage with `None` once they are trained, or with the error
        of a stage that failed; the other stages still run.
        """
        with workers(processes):
            for finished in run_stages(recipes, self._next_stage):
                if finished.error is not None:
                    yield finished.jobs, finished.error
                    continue
                assert finished.stage is not None  # or there would be an error
                if finished.result is not None:
                    self._cache_of(finished.jobs[0]).put(finished.stage.task[4], finished.result)
                if finished.stage.name == "training":
                    yield finished.jobs, None

    def _next_stage(self, recipe: Recipe) -> Stage | None:
        if self.is_trained(recipe):
            return None
        cache = self._cache_of(recipe)
        in_folder = cache.folder is not None
        name, description, arrays = "training", recipe.describe_training(), list[np.ndarray]()
        before = recipe.describe_pretraining()
        if before is not None:
            found = cache.find(before)
            if found is None:
                name, description = "pretraining", before
            else:
                check_converged(found)
                arrays = [] if in_folder else list(found.arrays)
        # A cache in memory stays in this process; one in a folder locks out other trainers.
        cache = cache if in_folder else StageCache()
        alone = dataclasses.replace(self, cache=cache, callbacks=(), verbose=0)
        return Stage(
            key=cache.key(description),
            task=(_run_alone, alone, name, recipe, description, arrays),
            name=name,
            size=0.0 if recipe.body.can_pretrain else 1.0,
        )

    def _cache_of(self, recipe: Recipe) -> StageCache:
        return self.cache if recipe.is_kept else self._unkept

    def _stage(
        self,
        name: str,
        recipe: Recipe,
        description: dict[str, Any],
        pretrained: Sequence[np.ndarray],
    ) -> StageResult:
        cache = self._cache_of(recipe)
        unfinished = cache.unfinished(description)
        if name == "pretraining":
            return cache.get(description, lambda: self._pretrain(recipe, unfinished))
        return cache.get(description, lambda: self._train(recipe, pretrained, unfinished))

    def __sizeof__(self) -> int:
        """Returns about the size of the data; Dask sends large arguments to a worker only once."""
        return super().__sizeof__() + sum(part.x.nbytes for part in self.data.parts)

    def _begin(self, recipe: Recipe, unfinished: pathlib.Path | None) -> FitOptions:
        """Begins a stage from its seed, the only place that sets the global one."""
        if recipe.context["environment"] != environment():
            raise ValueError(
                "Expected the settings of Keras and its backend to stay as they were when training "
                "was asked for; received others. Change them behind the last result."
            )
        seed = member_seed(self.seed, recipe.member)
        if seed is not None:
            keras.utils.set_random_seed(seed)
        return FitOptions(seed, unfinished, self.callbacks, self.verbose, self.deadline)

    @remember_divergence
    def _pretrain(self, recipe: Recipe, unfinished: pathlib.Path | None) -> Result:
        return pretrain_network(recipe, self.data, self._begin(recipe, unfinished))

    @remember_divergence
    def _train(
        self, recipe: Recipe, pretrained: Sequence[np.ndarray], unfinished: pathlib.Path | None
    ) -> Result:
        options = self._begin(recipe, unfinished)
        if not recipe.body.is_network:
            return fit_csosr(recipe, self.data.train)
        if recipe.stacked > 1:
            return fit_stacked(recipe, self.data, options)
        return fit_network(recipe, self.data, pretrained, options)


def _run_alone(
    stages: Stages,
    name: str,
    recipe: Recipe,
    description: dict[str, Any],
    pretrained: Sequence[np.ndarray],
) -> StageResult | None:
    """Runs a stage in a worker process with the settings of the trainer's process.

    Returns the result of the stage, or `None` if it is in the folder of a cache.
    """
    adopt(recipe.context["environment"])
    in_folder = stages.cache.folder is not None
    if in_folder and name == "training":
        before = stages.pretrained(recipe)
        pretrained = before.arrays if before else ()
    result = stages._stage(name, recipe, description, pretrained)
    forget_models()
    return None if in_folder else result
