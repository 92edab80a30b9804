"""Cells of the grid: an algorithm for a cost matrix of a data set, its run and its outcome."""

import contextlib
import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras import datasets
from csdl_keras.costs import randomized_proportional
from csdl_keras.datasets import DataSet
from csdl_keras.fitting.cache import StageCache
from csdl_keras.fitting.fit import DivergedError
from csdl_keras.paper.failures import Failures
from csdl_keras.paper.results import collapsed, data_label
from csdl_keras.prediction.decide import decide
from csdl_keras.training.algorithms import Algorithm
from csdl_keras.training.parallel import forget_models
from csdl_keras.training.settings import Settings
from csdl_keras.training.train import Trainer
from csdl_keras_cli.optional import optional_module

#: The settings in keys of cells. Later settings are in a key only if they differ from their
#: defaults, so that existing results keep their keys.
_KEYED = """
batch_size beta clipnorm corruption effort epochs filters gamma_factor hard_hinge hidden_units
label_smoothing learning_rate min_steps momentum optimizer optimizer_name patience penalty
pretraining_epochs pretraining_learning_rate tied_weights variant
""".split()


@dataclasses.dataclass(frozen=True)
class DataSource:
    """A data set or its imbalanced variant, and the size of its training set."""

    name: str
    imbalanced: bool = False
    train_size: int | None = None
    seed: int = 0
    drop_rate: float = 0.7
    grayscale: bool = False

    @property
    def label(self) -> str:
        return data_label(self.name, self.imbalanced)

    def load(self) -> DataSet:
        return _load(self)


@functools.lru_cache(maxsize=2)  # It keeps all examples, and a part of them.
def _load(source: DataSource) -> DataSet:
    if source.train_size is not None:
        whole = _load(dataclasses.replace(source, train_size=None))
        size = min(source.train_size, len(whole.y_train_val))
        return datasets.subset(whole, size, seed=source.seed)
    data = datasets.load(source.name, grayscale=source.grayscale)
    if source.imbalanced:
        data = datasets.imbalance(data, seed=source.seed, fraction=source.drop_rate)
    return data


@dataclasses.dataclass(frozen=True)
class Cell:
    """An algorithm for one `randomized_proportional` cost matrix of a data set."""

    source: DataSource
    algorithm: Algorithm
    cost_seed: int
    settings: Settings
    cost_scale: float = 10.0
    seed: int = 0

    @property
    def name(self) -> str:
        return f"{self.source.label} {self.algorithm.name} for matrix {self.cost_seed}"

    @property
    def place(self) -> dict[str, Any]:
        return {
            "dataset": self.source.name,
            "imbalanced": self.source.imbalanced,
            "algorithm": self.algorithm.name,
            "cost_seed": self.cost_seed,
        }

    @property
    def matrix(self) -> np.ndarray:
        labels = dataclasses.replace(self.source, train_size=None).load().y_train_val
        return randomized_proportional(labels, scale=self.cost_scale, seed=self.cost_seed)

    @functools.cached_property
    def key(self) -> str:
        """A digest of the whole request, which identifies a cell in folders since version 0.2."""
        policy = keras.config.dtype_policy().name
        choices, plain = (it.columns(self.algorithm) for it in (self.settings, Settings()))
        asked = {
            **dataclasses.asdict(self.source),
            "costs_of_all": True,
            **({} if policy == "float32" else {"dtype_policy": policy}),
            "algorithm": [self.algorithm.name],
            "costs": [self.cost_seed, self.cost_scale],
            "training_seed": self.seed,
            "choices": {
                name: value
                for name, value in choices.items()
                if name in _KEYED or value != plain[name]
            },
            "version": 7,
        }
        text = json.dumps(asked, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A cell with its decisions on `"val"` and `"test"` examples, unless training diverged."""

    cell: Cell
    decisions: dict[str, np.ndarray]
    epochs: int
    train_seconds: float
    history: dict[str, list[float]] = dataclasses.field(default_factory=dict)

    def _labels(self, part: str) -> np.ndarray:
        return getattr(self.cell.source.load(), f"y_{part}")

    def costs(self, part: str) -> np.ndarray:
        """Returns the cost of each decision; infinite if the training diverged."""
        labels = self._labels(part)
        if part not in self.decisions:
            return np.full(len(labels), np.inf)
        return self.cell.matrix[labels, self.decisions[part]]

    def error(self, part: str) -> float:
        """Returns the error rate; 1 if the training diverged."""
        return float(np.mean(self.decisions.get(part, -1) != self._labels(part)))

    def collapsed(self, part: str) -> bool:
        """Returns whether decisions are no better than one decision for all examples."""
        decisions, blind = self.decisions.get(part), self.cell.algorithm.series == "blind"
        labels, matrix = self._labels(part), self.cell.matrix
        return decisions is not None and collapsed(decisions, labels, matrix, blind)

    @property
    def criterion(self) -> tuple[str, float]:
        """The name and value of the validation cost, or error for cost-blind algorithms."""
        name = "error" if self.cell.algorithm.series == "blind" else "cost"
        by_error = name == "error" and self.decisions
        return name, self.error("val") if by_error else float(self.costs("val").mean())


def run_cells(cells: Iterable[Cell], cache: StageCache, failures: Failures) -> Iterator[Outcome]:
    """Yields outcomes as soon as they are trained; shared stages are trained once."""
    groups: dict[tuple[DataSource, int], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.source, cell.seed), []).append(cell)
    for own in groups.values():
        yield from _run_alike(own, cache, failures)


def _run_alike(own: Sequence[Cell], cache: StageCache, failures: Failures) -> Iterator[Outcome]:
    """Runs cells with the same data and training seed; diverged ones come last."""
    data, diverged = own[0].source.load(), list[Outcome]()

    def on_error(index: int, error: Exception) -> None:
        if isinstance(error, DivergedError):
            diverged.append(Outcome(own[index], {}, error.epoch, 0.0))
        else:
            failures.add(own[index].name, error)

    validation = data.x_val, data.y_val
    trainer = Trainer(data.x_train, data.y_train, validation, seed=own[0].seed, cache=cache)
    requests = [(cell.algorithm, cell.matrix, cell.settings) for cell in own]
    for index, it in trainer.train_all(requests, on_error):
        with failures.step(own[index].name):
            decisions = {"val": decide(it.model, data.x_val)}
            decisions["test"] = decide(it.model, data.x_test)
            yield Outcome(own[index], decisions, it.epochs, round(it.seconds, 2), it.history)
        forget_models()
    yield from diverged


@contextlib.contextmanager
def processes(jobs: int = 1, scheduler: str | None = None) -> Iterator[None]:
    """Runs trainings inside the `with` in several processes, or on a Dask cluster."""
    import joblib  # This import is slow.

    with contextlib.ExitStack() as stack:
        if scheduler is None:
            stack.enter_context(joblib.parallel_config(n_jobs=jobs))
        else:
            distributed = optional_module("distributed", "dask")
            stack.enter_context(distributed.Client(scheduler, timeout="20s"))
            stack.enter_context(joblib.parallel_config("dask", wait_for_workers_timeout=60))
        yield
