"""Compares algorithms on one data set and several cost matrices."""

import dataclasses
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._optional import optional_module
from csdl_keras.algorithms import ALGORITHMS, EXTRA_ALGORITHMS, get_algorithm
from csdl_keras.costs import randomized_proportional
from csdl_keras.datasets import DataSet
from csdl_keras.decide import decide
from csdl_keras.experiments.results import Result, ResultFile
from csdl_keras.settings import Settings
from csdl_keras.trainer import Trainer

#: The rows that `csdl-keras compare` runs by default.
DEFAULT_ALGORITHMS = (
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
        algorithms: names of `ALGORITHMS`.
        num_cost_matrices: matrix `i` is `randomized_proportional(y,
            seed=1000 + i)`, `y` the training plus validation labels.
        folder: existing folder for `results.csv` and `best_model.keras`.
        settings: how networks are trained.
        seed: seed of training.
        callbacks: Keras callbacks for each `fit`.
        announce: called before each row with the algorithm and the matrix's number from 1.
    """

    data: DataSet
    algorithms: Sequence[str]
    num_cost_matrices: int
    folder: pathlib.Path
    settings: Settings
    seed: int = 0
    callbacks: Sequence[keras.callbacks.Callback] = ()
    announce: Callable[[str, int], None] = lambda name, number: None

    #: Where the model of the lowest validation cost is kept.
    model_path: pathlib.Path = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.model_path = self.folder / "best_model.keras"

    def run(self) -> Iterator[Result]:
        """Trains row after row; each result is on disk before it is yielded."""
        data = self.data
        trainer = Trainer(
            data.x_train,
            data.y_train,
            validation_data=(data.x_val, data.y_val),
            settings=self.settings,
            seed=self.seed,
            callbacks=self.callbacks,
        )
        matrices = [
            randomized_proportional(data.y_train_val, data.num_classes, seed=FIRST_COST_SEED + i)
            for i in range(self.num_cost_matrices)
        ]
        file = ResultFile(self.folder / "results.csv")
        lowest = np.inf
        for index, matrix in enumerate(matrices):
            for name in self.algorithms:
                self.announce(name, index + 1)
                trained = trainer.train(name, matrix)
                test = decide(trained.model, data.x_test)
                validation = decide(trained.model, data.x_val)
                result = Result(
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
                if result.validation_cost < lowest:
                    lowest = result.validation_cost
                    self._save(trained.model)
                file.append(result)
                yield result

    def _save(self, model: Any) -> None:
        """Saves a model so that the folder holds the old or the new one, never half of one."""
        before, keras_model = self.model_path, isinstance(model, keras.Model)
        self.model_path = before.with_suffix(".keras" if keras_model else ".joblib")
        unfinished = before.with_name(f"unfinished-{self.model_path.name}")
        if keras_model:
            model.save(unfinished)
        else:
            optional_module("joblib", "compare").dump(model, unfinished)
        unfinished.replace(self.model_path)
        if before != self.model_path:
            before.unlink(missing_ok=True)


def check_algorithms(names: Sequence[str]) -> tuple[str, ...]:
    """Returns the names of the rows; raises a ValueError that lists the right ones."""
    known = (*ALGORITHMS, *EXTRA_ALGORITHMS)
    wrong = [name for name in names if name not in ALGORITHMS and name not in EXTRA_ALGORITHMS]
    if wrong or not names:
        raise ValueError(f"Expected algorithms among {', '.join(known)}; received {wrong}.")
    return tuple(dict.fromkeys(get_algorithm(name).name for name in names))
