"""The search space of the fully-connected, pre-trained algorithms."""

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
from csdl_keras.tuning.hyper_model import AlgorithmHyperModel, FitData
from csdl_keras.tuning.space import Range, check_positive, check_share


class CSDNNHyperModel(AlgorithmHyperModel):
    """Searches β, depth and training of a pre-trained fully-connected network.

    `build` makes and compiles the network; `fit` pre-trains its hidden layers
    (`csdl_keras.pretrain`) and trains it. Trials are compared by `val_average_cost`, the
    lower the better: the average cost of the decisions that the algorithm makes, by Bayes
    if it says so. With a `seed`, the same values give the same network; each execution of a
    trial has its own seed.

    A *space* is one value, a sequence of values to choose from, or a `tuning.Range`.

    Args:
        input_shape: shape of an input without the batch.
        cost_matrix: `(K, K)`, `C[true, decision]`; targets are then integer labels. `None`
            (default), for SOSR only: targets are cost vectors `(N, K)`.
        algorithm: the name of a fully-connected algorithm of `ALGORITHMS` that trains
            with NLL or SOSR, or such an `Algorithm`. Defaults to `"csdnn"`.
        reconstruction: as in `csdl_keras.pretrain`.
        cache: a `StageCache` through which trials, also of later searches, share
            pre-trained layers; requires a seed. Defaults to `None`.
        data_id: name of the data, required with a cache if they are a dataset.
        num_classes: `K`, required without a cost matrix.
        max_cost: the largest cost, by which losses divide costs; `None` (default) is
            that of the matrix, or 1 for cost vectors.
        seed: seed of weights, corruption and shuffling. Defaults to 0; `None`
            follows `keras.utils.set_random_seed`.
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
        cost_scale: space of the largest cost after scaling in training.
        alpha: space of the sharpness of the SOSR loss of training.
        name, tunable: as in `keras_tuner.HyperModel`.

    References:
        - Chung, Lin, Yang, IJCAI 2016, section "Experimental Results"

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
    choices = AlgorithmHyperModel.choices | {
        "beta": ((0.0, 0.05, 0.1, 0.25, 0.4, 0.75, 1.0), check_share),
        "depth": ((1, 2, 3, 4, 5), check_integer),
        "units": ((100, 250, 500), check_integer),
        "corruption": ((0.0, 0.1, 0.25, 0.4), check_share),
        "pretraining_learning_rate": (Range(1e-4, 1e-2, sampling="log"), check_positive),
        "pretraining_epochs": (10, check_integer),
    }

    def __init__(
        self,
        input_shape: Sequence[int],
        cost_matrix: ArrayLike | None = None,
        algorithm: str | Algorithm = "csdnn",
        *,
        reconstruction: str = "cross_entropy",
        cache: StageCache | None = None,
        data_id: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(input_shape, cost_matrix, algorithm, **kwargs)
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

    def network(self, hp: keras_tuner.HyperParameters, seed: int | None) -> keras.Model:
        """Builds the untrained network, not compiled."""
        units = (self.value(hp, "units"),) * self.value(hp, "depth")
        sees = self.algorithm.pretraining_sees
        if sees is not None:
            names = ["corruption", "pretraining_learning_rate", "pretraining_epochs"]
            for name in names if sees == "inputs" else ["beta", *names]:
                self.value(hp, name)
        # No network of these depends on the data, which are not known yet.
        stand_in = np.zeros((1, *self.input_shape), "float32")
        body = MLP(hidden_units=units)
        return body.build(stand_in, self.num_classes, self.algorithm.output, seed)

    def pretrain(
        self,
        hp: keras_tuner.HyperParameters,
        model: keras.Model,
        x: FitData,
        y: FitData,
        seed: int | None,
        fit_arguments: Mapping[str, Any],
    ) -> None:
        """Pre-trains the hidden layers of `model`, through the cache if there is one."""
        sees = self.algorithm.pretraining_sees
        if sees is None:
            return
        on_errors = sees == "errors"
        pretrain(
            model,
            x,
            costs=y,
            cost_matrix=zero_one(self.num_classes) if on_errors else self.cost_matrix,
            cost_scale=1.0 if on_errors else 1.0 / self.max_cost,
            beta=0.0 if sees == "inputs" else hp.get("beta"),
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
