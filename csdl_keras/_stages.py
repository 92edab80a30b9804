"""The stages of jobs on one data set, each of them run once, in one process or several."""

import dataclasses
import pathlib
from collections.abc import Generator, Sequence
from typing import Any

import keras

from csdl_keras._divergence import check_converged, remember_divergence
from csdl_keras._fit import Weights, fit_network, pretrain_network
from csdl_keras._fit_stacked import fit_stacked
from csdl_keras._job import Job
from csdl_keras._machine import fit_machine
from csdl_keras._training_data import TrainingData
from csdl_keras._utils.seeds import member_seed
from csdl_keras._workers import run_tasks, workers
from csdl_keras.fitting.divergence import DivergedError
from csdl_keras.fitting.environment import adopt, environment
from csdl_keras.fitting.stage_cache import StageCache, StageResult


@dataclasses.dataclass(frozen=True)
class Stages:
    """Runs stages of jobs, and keeps what they leave in a cache.

    Args:
        data: what to train and to validate on.
        seed: from which each stage begins, or `None`.
        cache: where finished stages are found.
        callbacks: Keras callbacks for each `fit` in this process.
        verbose: as in `keras.Model.fit`.
    """

    data: TrainingData
    seed: int | None
    cache: StageCache
    callbacks: Sequence[keras.callbacks.Callback] = ()
    verbose: Any = 0

    def pretrained(self, job: Job) -> StageResult | None:
        """What the job's pre-training leaves; `None` if it has none."""
        description = job.pretraining()
        if description is None:
            return None
        return check_converged(self._pretrained(job, description))

    def trained(self, job: Job) -> StageResult:
        """What the job's training leaves."""
        pretrained = self.pretrained(job)
        return check_converged(self._trained(job, pretrained.arrays if pretrained else ()))

    def _pretrained(self, job: Job, description: dict[str, Any]) -> StageResult:
        unfinished = self.cache.unfinished(description)
        return self.cache.get(description, lambda: self._pretrain(job, unfinished))

    def _trained(self, job: Job, pretrained: Sequence[Any]) -> StageResult:
        description = job.training()
        unfinished = self.cache.unfinished(description)
        return self.cache.get(description, lambda: self._train(job, pretrained, unfinished))

    def is_trained(self, job: Job) -> bool:
        """Whether the cache has the job's training."""
        return job.training() in self.cache

    def run_missing(
        self, jobs: Sequence[Job], processes: int
    ) -> Generator[tuple[list[Job], Exception | None]]:
        """Runs what jobs lack in processes of their own.

        Stages that need no other go first, all at once; then those that begin
        where a pre-training ended.

        Returns:
            An iterator of jobs that share a stage, and `None` once they are trained
            or the error with which that stage failed; the other stages still run then.
        """
        waves: list[dict[tuple[str, str], list[Job]]] = [{}, {}]
        for job in jobs:
            if self.is_trained(job):
                continue
            before, training = job.pretraining(), job.training()
            if before is not None and before not in self.cache:
                waves[0].setdefault(("pretraining", self.cache.key(before)), []).append(job)
            wave = waves[0 if before is None else 1]
            wave.setdefault(("training", self.cache.key(training)), []).append(job)
        failed: set[str] = set()
        with workers(processes):
            for wave in waves:
                # The longest first, so that none of them is left to run alone at the end.
                order = sorted(wave, key=lambda work: wave[work][0].row.body == "mlp")
                # A cache in memory stays here; one in a folder keeps other trainers waiting there.
                cache = StageCache() if self.cache.folder is None else self.cache
                alone = dataclasses.replace(self, cache=cache, callbacks=(), verbose=0)
                tasks = {}
                for stage, key in order:
                    sharing = wave[stage, key]
                    if self._before(sharing[0]) in failed:
                        continue
                    try:
                        work = self._work(stage, sharing[0])
                    except DivergedError as error:  # in its pre-training
                        yield sharing, error
                        continue
                    tasks[stage, key] = (_run_alone, alone, *work)
                for (stage, key), result, _ in run_tasks(tasks):
                    sharing = wave[stage, key]
                    if isinstance(result, Exception):
                        failed.add(key)
                        yield sharing, result
                    elif stage == "training":
                        self.cache.put(sharing[0].training(), result)
                        yield sharing, None
                    else:
                        self.cache.put(sharing[0].pretraining() or {}, result)

    def _before(self, job: Job) -> str | None:
        before = job.pretraining()
        return None if before is None else self.cache.key(before)

    def _work(self, stage: str, job: Job) -> tuple[str, Job, Weights]:
        """A stage with the weights that it begins from."""
        found = self.pretrained(job) if stage == "training" else None
        return stage, job, list(found.arrays) if found else []

    def _begin(self, job: Job) -> int | None:
        if job.context["environment"] != environment():
            raise ValueError(
                "Expected the settings of Keras and its backend to stay as they were when training "
                "was asked for; received others. Change them behind the last result."
            )
        seed = member_seed(self.seed, job.member)
        if seed is not None:
            keras.utils.set_random_seed(seed)
        return seed

    @remember_divergence
    def _pretrain(
        self, job: Job, unfinished: pathlib.Path | None
    ) -> tuple[Weights, dict[str, Any]]:
        seed = self._begin(job)
        return pretrain_network(job, self.data, seed, unfinished, self.callbacks, self.verbose)

    @remember_divergence
    def _train(
        self, job: Job, pretrained: Sequence[Any], unfinished: pathlib.Path | None
    ) -> tuple[Weights, dict[str, Any]]:
        seed = self._begin(job)
        common = (seed, unfinished, self.callbacks, self.verbose)
        if job.row.body == "svm":
            return fit_machine(job, self.data.train)
        if job.stacked > 1:
            return fit_stacked(job, self.data, *common)
        return fit_network(job, self.data, pretrained, *common)


def _run_alone(stages: Stages, stage: str, job: Job, pretrained: Weights) -> StageResult:
    """A stage in a process of its own, which computes as that of the trainer does."""
    adopt(job.context["environment"])
    if stage == "pretraining":
        result = stages._pretrained(job, job.pretraining() or {})
    else:
        result = stages._trained(job, pretrained)
    keras.utils.clear_session()  # or Keras would hold on to every model of the process
    return result
