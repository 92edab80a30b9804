"""The search space of the fully-connected, pre-trained algorithms."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import keras_tuner
import numpy as np

from csdl_keras._utils.checks import check_choice, check_integer
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import zero_one
from csdl_keras.fitting.cache import StageCache
from csdl_keras.pretraining.pretrain import pretrain
from csdl_keras.training.algorithms import Algorithm
from csdl_keras.training.bodies import MLP
from csdl_keras.training.pretrainings import Pretraining
from csdl_keras.tuning._search_record import FitArguments, FitData
from csdl_keras.tuning.algorithm_hyper_model import AlgorithmHyperModel
from csdl_keras.tuning.space import (
    Range,
    Space,
    check_positive,
    check_share,
    check_space,
    declare,
)

_PRETRAINING_LEARNING_RATE = Range(1e-4, 1e-2, sampling="log")
_LEARNING_RATES = {
    "sgd": Range(0.01, 1.0, sampling="log"),
    "adam": Range(1e-4, 1e-2, sampling="log"),
}


class CSDNNHyperModel(AlgorithmHyperModel):
    """Searches β, depth and training of a pre-trained fully-connected network.

    `build` makes and compiles the network; `fit` pre-trains its hidden layers
    (`csdl_keras.pretrain`) and trains it. Trials are compared by `val_average_cost`,
    the lower the better: the average cost of the decisions that the algorithm makes,
    by Bayes if it says so. With a `seed`, the same values give the same network,
    independently of the search and its earlier trials; each execution of a trial has
    its own seed. A trial that `keras_tuner.Hyperband` promotes continues training and
    is not pre-trained again.

    A *space* is one value, a sequence of values to choose from, or a
    `tuning.Range`.

    Args:
        input_shape: shape of an input without the batch.
        cost_matrix: `(K, K)`, `C[true, decision]`; targets are then integer
            labels. `None` (default), for SOSR only: targets are cost
            vectors `(N, K)`.
        algorithm: the name of a fully-connected algorithm of `ALGORITHMS` that trains
            with NLL or SOSR, or such an `Algorithm`. Defaults to `"csdnn"`. Algorithms
            without pre-training have fewer spaces.
        num_classes: `K`, required without a cost matrix.
        max_cost: the largest cost, by which losses divide costs; `None` (default) is
            that of the matrix, or 1 for cost vectors.
        beta: space of the balance between reconstruction and costs, in [0, 1].
            Defaults to the paper's grid.
        depth: space of the number of hidden layers. Defaults to 1 to 5.
        units: space of the number of units in each hidden layer.
        corruption: space of the probability with which an input is set to 0.
        pretraining_learning_rate: space of the learning rate of Adam in pre-training.
        pretraining_epochs: space of the number of epochs for each layer. Defaults to 10.
        optimizer: space of `"sgd"` and `"adam"` in training.
        learning_rate: space, or a dict with a space for each optimizer.
        momentum: space of the momentum of SGD. Defaults to 0.9.
        cost_scale: space of the largest cost after scaling in training; costs are multiplied
            by it and divided by their largest.
        alpha: space of the sharpness of the SOSR loss of training.
        reconstruction: as in `csdl_keras.pretrain`.
        cache: a `StageCache` through which trials, also of later searches, share
            pre-trained layers; requires a seed. Defaults to `None`.
        data_id: name of the data, required with a cache if they are a dataset.
        seed: seed of weights, corruption and shuffling. Defaults to 0; `None`
            follows `keras.utils.set_random_seed`.
        name: as in `keras_tuner.HyperModel`.
        tunable: as in `keras_tuner.HyperModel`.

    Raises:
        ValueError: if an argument, or a value in a space, is out of range.

    References:
        - Chung, Lin, Yang, IJCAI 2016, section "Experimental Results"
        - [KerasTuner](https://keras.io/keras_tuner/)

    Example:

    >>> import numpy as np
    >>> from csdl_keras import tuning
    >>> hyper_model = tuning.CSDNNHyperModel(
    ...     (64,), 1 - np.eye(10), beta=[0.0, 0.25], depth=tuning.Range(1, 3)
    ... )
    >>> hp = keras_tuner.HyperParameters()
    >>> model = hyper_model.build(hp)
    >>> hp.get("beta"), hp.get("depth"), model.output_shape
    (0.0, 1, (None, 10))
    """

    body = "mlp"
    takes_own_body = True

    def __init__(
        self,
        input_shape: Sequence[int],
        cost_matrix: ArrayLike | None = None,
        algorithm: str | Algorithm = "csdnn",
        num_classes: int | None = None,
        max_cost: float | None = None,
        beta: Space = (0.0, 0.05, 0.1, 0.25, 0.4, 0.75, 1.0),
        depth: Space = (1, 2, 3, 4, 5),
        units: Space = (100, 250, 500),
        corruption: Space = (0.0, 0.1, 0.25, 0.4),
        pretraining_learning_rate: Space = _PRETRAINING_LEARNING_RATE,
        pretraining_epochs: Space = 10,
        optimizer: Space = ("sgd", "adam"),
        learning_rate: Space | Mapping[str, Space] = _LEARNING_RATES,
        momentum: Space = 0.9,
        cost_scale: Space = (1.0, 3.0, 10.0),
        alpha: Space = (1.0, 4.0),
        reconstruction: str = "cross_entropy",
        cache: StageCache | None = None,
        data_id: str | None = None,
        seed: int | None = 0,
        name: str | None = None,
        tunable: bool = True,
    ):
        super().__init__(
            algorithm, input_shape, cost_matrix, num_classes, max_cost, seed, name, tunable
        )
        self.search_training(optimizer, learning_rate, momentum, cost_scale, alpha)
        self.beta = check_space("beta", beta, check_share)
        self.depth = check_space("depth", depth, check_integer)
        self.units = check_space("units", units, check_integer)
        self.corruption = check_space("corruption", corruption, check_share)
        self.pretraining_learning_rate = check_space(
            "pretraining_learning_rate", pretraining_learning_rate, check_positive
        )
        self.pretraining_epochs = check_space(
            "pretraining_epochs", pretraining_epochs, check_integer
        )
        self.reconstruction = check_choice(
            "reconstruction", reconstruction, ("cross_entropy", "squared_error")
        )
        if cache is not None and self.seed is None:
            raise ValueError(
                "Expected a `seed` with a `cache`, since layers found there must equal those that "
                "would be trained; received None."
            )
        self.cache = cache
        self.data_id = data_id

    @property
    def bounded(self) -> bool:
        """True if inputs must be in [0, 1]."""
        return self.algorithm.pretrains and self.reconstruction == "cross_entropy"

    def network(self, hp: keras_tuner.HyperParameters, seed: int | None) -> keras.Model:
        """Builds the untrained network, not compiled."""
        own = self.algorithm.body
        body: Any = MLP() if isinstance(own, str) else own
        if isinstance(body, MLP):
            units = declare(hp, "units", self.units)
            hidden_units = (units,) * declare(hp, "depth", self.depth)
            body = dataclasses.replace(body, hidden_units=hidden_units)
        if isinstance(self.algorithm.pretraining, str) and self.algorithm.pretrains:
            if self.algorithm.pretraining_sees != "inputs":
                declare(hp, "beta", self.beta)
            declare(hp, "corruption", self.corruption)
            declare(hp, "pretraining_learning_rate", self.pretraining_learning_rate)
            declare(hp, "pretraining_epochs", self.pretraining_epochs)
        # No network of these depends on the data, which are not known yet.
        stand_in = np.zeros((1, *self.input_shape), "float32")
        return body.build(stand_in, self.num_classes, self.algorithm.output, seed)

    def pretrain(
        self,
        hp: keras_tuner.HyperParameters,
        model: keras.Model,
        x: FitData,
        y: FitData,
        seed: int | None,
        fit_arguments: FitArguments,
    ) -> None:
        """Pre-trains the hidden layers of `model`, through the cache if there is one."""
        sees, own = self.algorithm.pretraining_sees, self.algorithm.pretraining
        if sees is None:
            return
        if not isinstance(own, str):
            self._run_own(own, model, x, y, seed, fit_arguments)
            return
        beta = 0.0 if sees == "inputs" else hp.get("beta")
        matrix, cost_scale = self.cost_matrix, 1.0 / self.max_cost
        if sees == "errors":
            matrix, cost_scale = zero_one(self.num_classes), 1.0
        pretrain(
            model,
            x,
            costs=y,
            cost_matrix=matrix,
            cost_scale=cost_scale,
            beta=beta,
            corruption=hp.get("corruption"),
            epochs=hp.get("pretraining_epochs"),
            batch_size=fit_arguments.get("batch_size") or 32,
            optimizer=keras.optimizers.Adam(hp.get("pretraining_learning_rate")),
            reconstruction=self.reconstruction,
            steps_per_epoch=fit_arguments.get("steps_per_epoch"),
            seed=seed,
            cache=self.cache,
            data_id=self.data_id,
            verbose=0,
        )

    def _run_own(
        self,
        pretraining: Pretraining,
        model: keras.Model,
        x: FitData,
        y: FitData,
        seed: int | None,
        fit_arguments: FitArguments,
    ) -> None:
        """Runs a pre-training of your own on arrays."""
        matrix = {
            "costs": self.cost_matrix,
            "errors": zero_one(self.num_classes) * self.max_cost,
        }.get(pretraining.looks_at)
        costs = None
        if pretraining.looks_at != "inputs":
            costs = (np.asarray(y) if matrix is None else matrix[np.asarray(y)]) / self.max_cost
        if seed is not None:
            keras.utils.set_random_seed(seed)
        pretraining.run(
            model,
            np.asarray(x),
            costs,
            unlabelled=None,
            epochs=pretraining.epochs,
            batch_size=fit_arguments.get("batch_size") or 32,
            seed=seed,
            callbacks=(),
            verbose=0,
            unfinished=None,
        )
