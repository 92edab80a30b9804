"""The search space of the convolutional algorithms."""

from collections.abc import Mapping, Sequence

import keras
import keras_tuner

from csdl_keras import models
from csdl_keras._utils.checks import check_choice
from csdl_keras._utils.types import ArrayLike
from csdl_keras.training.algorithms import Algorithm
from csdl_keras.tuning.algorithm_hyper_model import AlgorithmHyperModel
from csdl_keras.tuning.space import Range, Space, check_space, declare

_LEARNING_RATE = Range(1e-4, 3e-3, sampling="log")


class CNNHyperModel(AlgorithmHyperModel):
    """Searches the training of Caffe's convolutional network by a cost-sensitive algorithm.

    Trials are compared by `val_average_cost`, the lower the better; `CSDNNHyperModel`
    says more about it and about *spaces*.

    Args:
        input_shape: `(height, width, channels)` of images in [0, 1].
        cost_matrix: `(K, K)`, `C[true, decision]`; targets are then integer
            labels. `None` (default), for `cnn_sosr` only: targets are cost
            vectors `(N, K)`.
        algorithm: `"cnn_blind"`, `"cnn_bayes"` (default), `"cnn_sosr"`, or such
            an `Algorithm`.
        num_classes: `K`, required without a cost matrix.
        max_cost: the largest cost; `None` (default) is that of the matrix, or 1.
        variant: space of `"quick"` (default) and `"full"`, see `models.caffe_cifar10`.
        mean: as in `models.caffe_cifar10`. Defaults to 0.
        optimizer: space of `"sgd"` (default) and `"adam"`.
        learning_rate: space, or a dict with a space for each optimizer.
        momentum: space of the momentum of SGD. Defaults to 0.9.
        cost_scale: space of the largest cost after scaling; costs are multiplied by it and
            divided by their largest.
        alpha: space of the sharpness of the SOSR loss.
        seed: seed of weights and shuffling. Defaults to 0; `None` follows
            `keras.utils.set_random_seed`.
        name: as in `keras_tuner.HyperModel`.
        tunable: as in `keras_tuner.HyperModel`.

    Raises:
        ValueError: if an argument, or a value in a space, is out of range.

    Example:

    >>> import numpy as np
    >>> hyper_model = CNNHyperModel((16, 16, 1), 1 - np.eye(3), variant=["quick", "full"])
    >>> hp = keras_tuner.HyperParameters()
    >>> hyper_model.build(hp).name, hp.get("optimizer")
    ('caffe_cifar10_quick', 'sgd')
    """

    body = "cnn"

    def __init__(
        self,
        input_shape: Sequence[int],
        cost_matrix: ArrayLike | None = None,
        algorithm: str | Algorithm = "cnn_bayes",
        num_classes: int | None = None,
        max_cost: float | None = None,
        variant: Space = "quick",
        mean: ArrayLike = 0.0,
        optimizer: Space = "sgd",
        learning_rate: Space | Mapping[str, Space] = _LEARNING_RATE,
        momentum: Space = 0.9,
        cost_scale: Space = (1.0, 3.0, 10.0),
        alpha: Space = (1.0, 4.0),
        seed: int | None = 0,
        name: str | None = None,
        tunable: bool = True,
    ):
        super().__init__(
            algorithm, input_shape, cost_matrix, num_classes, max_cost, seed, name, tunable
        )
        self.search_training(optimizer, learning_rate, momentum, cost_scale, alpha)
        self.variant = check_space(
            "variant", variant, lambda n, v: check_choice(n, v, ("quick", "full"))
        )
        self.mean = mean

    def network(self, hp: keras_tuner.HyperParameters, seed: int | None) -> keras.Model:
        """Builds the untrained network, not compiled."""
        return models.caffe_cifar10(
            self.input_shape,
            self.num_classes,
            variant=declare(hp, "variant", self.variant),
            output=self.algorithm.output,
            mean=self.mean,
            seed=seed,
        )
