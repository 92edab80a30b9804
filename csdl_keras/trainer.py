"""Trains algorithms on one data set, stages that they share once."""

import dataclasses
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras import models
from csdl_keras._checks import check_integer
from csdl_keras.algorithms import Algorithm, get_algorithm
from csdl_keras.costs import check_cost_matrix, check_labels, cost_vectors, zero_one
from csdl_keras.losses import SOSRLoss
from csdl_keras.metrics import AverageCost
from csdl_keras.pretraining import hidden_layers, pretrain
from csdl_keras.settings import Settings
from csdl_keras.trained import Trained


@dataclasses.dataclass(frozen=True)
class _Stage:
    """What a finished stage leaves: weights, and what they took."""

    weights: list[np.ndarray]
    seconds: float
    epochs: int


class Trainer:
    """Trains algorithms on one data set; stages that they share are trained once.

    Cost-blind and Bayes rows share their training, for every cost matrix; rows
    with the same pre-training share that.

    Args:
        x: inputs `(N, ...)`; images `(N, height, width, channels)` for the
            convolutional rows; in [0, 1] for those and for pre-trained rows.
        y: integer labels `(N,)`.
        validation_data: `(x_val, y_val)`: training stops early on the
            validation cost and keeps the best epoch. `None` (default) trains
            all epochs. Cost-blind training looks at the 0/1 cost, the error
            rate, because it must not depend on the cost matrix.
        settings: a `Settings`; `None` (default) is `Settings()`.
        seed: each stage begins with `keras.utils.set_random_seed(seed)`, so
            that results do not depend on the order of stages; `None` (default)
            leaves the global state of random numbers alone.
        callbacks: Keras callbacks for each `fit`.
        verbose: as in `keras.Model.fit`. Defaults to 0.

    Raises:
        ValueError: if the data fails its checks.

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
        validation_data: tuple[Any, Any] | None = None,
        settings: Settings | None = None,
        seed: int | None = None,
        callbacks: Sequence[keras.callbacks.Callback] = (),
        verbose: Any = 0,
    ):
        self.x, self.y = _check_data("x", x, y)
        self.validation_data = None
        if validation_data is not None:
            self.validation_data = _check_data("validation_data", *validation_data)
            if self.validation_data[0].shape[1:] != self.x.shape[1:]:
                raise ValueError(
                    f"Expected validation inputs of shape (N, {str(self.x.shape[1:])[1:]}, as in "
                    f"training; received {self.validation_data[0].shape}."
                )
        self.settings = Settings() if settings is None else settings
        self.seed = None if seed is None else check_integer("seed", seed, low=0)
        self.callbacks = list(callbacks)
        self.verbose = verbose
        self._stages: dict[Hashable, _Stage] = {}

    def train(self, algorithm: str | Algorithm, cost_matrix: Any) -> Trained:
        """Trains one algorithm for one cost matrix.

        Args:
            algorithm: a name of `ALGORITHMS`, or an `Algorithm`.
            cost_matrix: `(K, K)`, `C[true, decision]`; losses see it divided by
                its largest entry.

        Returns:
            A `Trained`, whose model outputs probabilities (blind rows), expected
            costs (Bayes rows) or estimates of `C / max(C)` (SOSR rows).

        Raises:
            ValueError: if an argument fails its check; nothing is trained then.
        """
        row = get_algorithm(algorithm)
        matrix = check_cost_matrix(cost_matrix)
        for labels in (self.y, *(self.validation_data or ())[1:]):
            check_labels(labels, len(matrix))
        if not matrix.any():
            raise ValueError("Expected a `cost_matrix` with an entry above 0; received all zeros.")
        pretrained = None if row.pretraining == "none" else self._pretrained(row, matrix)
        trained = self._trained(row, matrix, pretrained)
        model = self._build(row, len(matrix))
        model.set_weights(trained.weights)
        if row.prediction == "bayes":
            model = models.bayes_classifier(model, matrix)
        seconds = trained.seconds + (pretrained.seconds if pretrained else 0.0)
        return Trained(model, seconds, trained.epochs)

    def _build(self, row: Algorithm, num_classes: int) -> keras.Model:
        if row.body == "mlp":
            return models.mlp(
                self.x.shape[1:], num_classes, self.settings.hidden_units, output=row.output
            )
        mean = 255.0 * self.x.mean(axis=0)
        return models.caffe_cifar10(self.x.shape[1:], num_classes, output=row.output, mean=mean)

    def _stage(self, key: Hashable, run: Callable[[], tuple[list[np.ndarray], int]]) -> _Stage:
        """The stage of that key, run unless it has been."""
        if key not in self._stages:
            if self.seed is not None:
                keras.utils.set_random_seed(self.seed)
            start = time.perf_counter()
            weights, epochs = run()
            self._stages[key] = _Stage(weights, time.perf_counter() - start, epochs)
        return self._stages[key]

    def _pretrained(self, row: Algorithm, matrix: np.ndarray) -> _Stage:
        if row.pretraining == "dae":
            costs, beta = None, 0.0
        else:
            source = matrix if row.pretraining == "cae" else zero_one(len(matrix))
            costs, beta = source / source.max(), self.settings.beta

        epochs = self.settings.pretraining_epochs * self.settings.stretch("mlp", len(self.x))

        def run() -> tuple[list[np.ndarray], int]:
            model = self._build(row, len(matrix))
            pretrain(
                model,
                self.x,
                costs=None if costs is None else cost_vectors(costs, self.y),
                beta=beta,
                corruption=self.settings.corruption,
                epochs=epochs,
                batch_size=self.settings.batch_size,
                optimizer=keras.optimizers.Adam(self.settings.pretraining_learning_rate),
                callbacks=self.callbacks,
                verbose=self.verbose,
            )
            weights = [array for layer in hidden_layers(model) for array in layer.get_weights()]
            return weights, epochs

        return self._stage(_pretraining_key(row, matrix), run)

    def _trained(self, row: Algorithm, matrix: np.ndarray, pretrained: _Stage | None) -> _Stage:
        def run() -> tuple[list[np.ndarray], int]:
            model = self._build(row, len(matrix))
            if pretrained is not None:
                weights = iter(pretrained.weights)
                for layer in hidden_layers(model):
                    layer.set_weights([next(weights) for _ in layer.weights])
            return self._fit(model, row, matrix)

        costs = matrix.tobytes() if row.training == "sosr" else None
        key = ("train", row.body, row.training, _pretraining_key(row, matrix), costs)
        return self._stage(key, run)

    def _fit(
        self, model: keras.Model, row: Algorithm, matrix: np.ndarray
    ) -> tuple[list[np.ndarray], int]:
        settings = self.settings
        stretch = settings.stretch(row.body, len(self.x))
        if row.body == "mlp":
            epochs, batch_size = settings.epochs * stretch, settings.batch_size
            optimizer = keras.optimizers.SGD(settings.learning_rate, momentum=0.9)
        else:
            epochs, batch_size = settings.cnn_epochs * stretch, settings.cnn_batch_size
            steps = epochs * -(-len(self.x) // batch_size)
            rate = keras.optimizers.schedules.CosineDecay(settings.cnn_learning_rate, steps)
            optimizer = keras.optimizers.SGD(rate, momentum=0.9)
        if row.training == "sosr":
            loss = SOSRLoss(matrix / matrix.max())
            metric = AverageCost(matrix)
        else:
            loss = keras.losses.SparseCategoricalCrossentropy()
            metric = AverageCost(zero_one(len(matrix)), output="probability")
        model.compile(optimizer, loss=loss, metrics=[metric])
        callbacks = list(self.callbacks)
        if self.validation_data is not None:
            callbacks.append(
                keras.callbacks.EarlyStopping(
                    "val_average_cost",
                    mode="min",
                    patience=settings.patience * stretch,
                    restore_best_weights=True,
                )
            )
        history = model.fit(
            self.x,
            self.y,
            validation_data=self.validation_data,
            epochs=epochs,
            batch_size=batch_size,
            callbacks=callbacks,
            verbose=self.verbose,
        )
        return model.get_weights(), len(history.epoch)


def _pretraining_key(row: Algorithm, matrix: np.ndarray) -> Hashable:
    """What a pre-training stage depends on, beside data and settings."""
    return (row.pretraining, matrix.tobytes() if row.pretraining == "cae" else None)


def _check_data(name: str, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    inputs, labels = np.asarray(x), check_labels(y)
    if inputs.dtype.kind not in "iuf" or inputs.ndim < 2 or len(inputs) != len(labels):
        raise ValueError(
            f"Expected `{name}` to be real inputs of shape (N, ...) with N = {len(labels)} labels; "
            f"received shape {inputs.shape}, dtype {inputs.dtype}."
        )
    if not np.isfinite(inputs).all():
        raise ValueError(f"Expected `{name}` without NaN and infinity; received some.")
    return inputs.astype("float32", copy=False), labels
