"""The search space of the convolutional algorithms."""

from collections.abc import Sequence
from typing import Any

import keras
import keras_tuner

from csdl_keras import models
from csdl_keras._utils.checks import check_choice
from csdl_keras._utils.types import ArrayLike
from csdl_keras.training.algorithms import Algorithm
from csdl_keras.tuning.hyper_model import AlgorithmHyperModel
from csdl_keras.tuning.space import Range, check_positive


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
        variant: space of `"quick"` (default) and `"full"`, see `models.caffe_cifar10`.
        mean: as in `models.caffe_cifar10`. Defaults to 0.
        optimizer: space of `"sgd"` (default) and `"adam"`.
        **kwargs: `num_classes`, `max_cost`, `learning_rate`, `momentum`, `cost_scale`, `alpha`
            and `seed`, as in `CSDNNHyperModel`.

    Example:

    >>> import numpy as np
    >>> hyper_model = CNNHyperModel((16, 16, 1), 1 - np.eye(3), variant=["quick", "full"])
    >>> hp = keras_tuner.HyperParameters()
    >>> hyper_model.build(hp).name, hp.get("optimizer")
    ('caffe_cifar10_quick', 'sgd')
    """

    body = "cnn"
    choices = AlgorithmHyperModel.choices | {
        "variant": ("quick", lambda name, value: check_choice(name, value, ("quick", "full"))),
        "optimizer": ("sgd", AlgorithmHyperModel.choices["optimizer"][1]),
        "learning_rate": (Range(1e-4, 3e-3, sampling="log"), check_positive),
    }

    def __init__(
        self,
        input_shape: Sequence[int],
        cost_matrix: ArrayLike | None = None,
        algorithm: str | Algorithm = "cnn_bayes",
        *,
        mean: ArrayLike = 0.0,
        **kwargs: Any,
    ):
        super().__init__(input_shape, cost_matrix, algorithm, **kwargs)
        self.mean = mean

    def network(self, hp: keras_tuner.HyperParameters, seed: int | None) -> keras.Model:
        """Builds the untrained network, not compiled."""
        return models.caffe_cifar10(
            self.input_shape,
            self.num_classes,
            variant=self.value(hp, "variant"),
            output=self.algorithm.output,
            mean=self.mean,
            seed=seed,
        )
