"""Compares algorithms on one data set and several cost matrices."""

import dataclasses
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.files import save_model
from csdl_keras.costs import randomized_proportional
from csdl_keras.datasets import DataSet
from csdl_keras.experiments.failures import Failures
from csdl_keras.experiments.results import Result, ResultFile
from csdl_keras.prediction.decide import decide
from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.algorithms import ALGORITHMS, get_algorithm
from csdl_keras.training.settings import Settings
from csdl_keras.training.trained import Trained
from csdl_keras.training.trainer import Trainer

#: The rows that `csdl-keras compare` runs by default.
DEFAULT_ALGORITHMS = (
    "ensemble_bayes",
    "calibrated_bayes",
    "cost_model",
    "dnn_blind",
    "dnn_bayes",
    "sdae_bayes",
    "dnn_sosr",
    "sdae_sosr",
    "csdnn",
    "cnn_blind",
    "cnn_bayes",
    "cnn_sosr",
)

#: Seed of the first cost matrix; the others follow.
FIRST_COST_SEED = 1000


@dataclasses.dataclass
class Comparison:
    """Trains algorithms for several cost matrices and keeps results and the best model.

    Args:
        data: the data set.
        algorithms: names of `ALGORITHMS`, or `Algorithm`s.
        num_cost_matrices: matrix `i` is `randomized_proportional(y,
            seed=1000 + i)`, `y` the training plus validation labels.
        folder: existing folder for `results.csv` and `best_model.keras`.
        settings: how networks are trained.
        seed: seed of training.
        callbacks: Keras callbacks for each `fit`.
        announce: called before each row with the algorithm and the matrix's number from 1;
            never where several rows are trained at once.
        jobs: number of processes that train. Defaults to 1.
        failures: is told the rows that fail, and models that cannot be saved; the other
            rows are still trained.
    """

    data: DataSet
    algorithms: Sequence[str | Algorithm]
    num_cost_matrices: int
    folder: pathlib.Path
    settings: Settings
    seed: int = 0
    callbacks: Sequence[keras.callbacks.Callback] = ()
    announce: Callable[[str, int], None] = lambda name, number: None
    jobs: int = 1
    failures: Failures = dataclasses.field(default_factory=Failures)

    #: The row of the model that is kept, `None` as long as there is none.
    best: Result | None = dataclasses.field(init=False, default=None)
    #: Where the model of the lowest validation cost is kept.
    model_path: pathlib.Path = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.model_path = self.folder / "best_model.keras"

    def run(self) -> Iterator[Result]:
        """Trains the rows; each result is on disk before it is yielded.

        Rows come in the order of matrices and algorithms, or with several `jobs`
        as they get ready.
        """
        data = self.data
        trainer = Trainer(
            data.x_train,
            data.y_train,
            validation_data=(data.x_val, data.y_val),
            settings=self.settings,
            seed=self.seed,
            callbacks=self.callbacks,
            jobs=self.jobs,
        )
        matrices = [
            randomized_proportional(data.y_train_val, data.num_classes, seed=FIRST_COST_SEED + i)
            for i in range(self.num_cost_matrices)
        ]
        algorithms = [get_algorithm(one) for one in self.algorithms]
        rows = [(one.name, i) for i in range(len(matrices)) for one in algorithms]
        file = ResultFile(self.folder / "results.csv")
        requests = [(one, matrix) for matrix in matrices for one in algorithms]
        self._announce(rows, 0)
        for number, trained in trainer.train_all(
            requests, on_error=lambda number, error: self._failed(rows, number, error)
        ):
            name, index = rows[number]
            result = None
            with self.failures.step(_part(name, index)):
                result = self._result(name, index, matrices[index], trained)
                file.append(result)
            if result is not None:
                with self.failures.step(f"the model of {_part(name, index)}"):
                    if self.best is None or result.validation_cost < self.best.validation_cost:
                        self._save(trained.model)
                        self.best = result
                yield result
            self._announce(rows, number + 1)

    def _failed(self, rows: Sequence[tuple[str, int]], number: int, error: Exception) -> None:
        self.failures.add(_part(*rows[number]), error)
        self._announce(rows, number + 1)

    def _announce(self, rows: Sequence[tuple[str, int]], number: int) -> None:
        if self.jobs == 1 and number < len(rows):
            name, index = rows[number]
            self.announce(name, index + 1)

    def _result(self, name: str, index: int, matrix: np.ndarray, trained: Trained) -> Result:
        data = self.data
        test = decide(trained.model, data.x_test)
        validation = decide(trained.model, data.x_val)
        return Result(
            dataset=data.name,
            imbalanced=data.imbalanced,
            algorithm=name,
            cost_seed=FIRST_COST_SEED + index,
            average_cost=float(matrix[data.y_test, test].mean()),
            error_rate=float(np.mean(test != data.y_test)),
            validation_cost=float(matrix[data.y_val, validation].mean()),
            train_seconds=round(trained.seconds, 2),
            epochs=trained.epochs,
            train_size=len(data.y_train_val),
            seed=self.seed,
            backend=keras.backend.backend(),
        )

    def _save(self, model: Any) -> None:
        """Saves a model so that the folder holds the old or the new one, never half of one."""
        suffix = ".keras" if isinstance(model, keras.Model) else ".npz"
        before, path = self.model_path, self.model_path.with_suffix(suffix)
        save_model(model, path)
        self.model_path = path
        if before != path:
            before.unlink(missing_ok=True)


def _part(name: str, index: int) -> str:
    return f"{name} for matrix {FIRST_COST_SEED + index}"


def check_algorithms(names: Sequence[str]) -> tuple[str, ...]:
    """Returns the names of the rows; raises a ValueError that lists the right ones."""
    wrong = [name for name in names if name not in ALGORITHMS]
    if wrong or not names:
        raise ValueError(f"Expected algorithms among {', '.join(ALGORITHMS)}; received {wrong}.")
    return tuple(dict.fromkeys(get_algorithm(name).name for name in names))
