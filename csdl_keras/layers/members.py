"""Members of an ensemble that share all layers but one."""

from typing import Any

import keras
from keras import ops

from csdl_keras._utils.checks import LARGEST_SIZE, check_integer
from csdl_keras._utils.types import Shape, Tensor
from csdl_keras.layers.noise import batch_uniform


@keras.saving.register_keras_serializable(package="csdl_keras")
class MemberScaling(keras.layers.Layer):
    """Scales and shifts the inputs by each member's own numbers: `x * r_m + b_m`.

    Followed by shared layers and `MemberMean`, it makes an ensemble of `M` networks that differ in
    `r` and `b` alone: in training an example passes through one member, drawn at random, otherwise
    through all. The `r` start as random signs, the `b` as 0.

    Args:
        members: number of members, `M`.
        seed: seed of the signs and of the draws; `None` (default) follows Keras' own.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: `(batch, ...)`.
        training: whether to draw a member for each example.

    Returns:
        `(batch, M, ...)`; in training `(batch, 1, ...)`.

    References:
        - [Gorishniy, Kotelnikov, Babenko: TabM: Advancing tabular deep learning with
          parameter-efficient ensembling, ICLR 2025](https://arxiv.org/abs/2410.24210) (TabM-mini)
        - [Durasov et al.: Masksembles for uncertainty estimation, CVPR
          2021](https://arxiv.org/abs/2012.08334) (a member for each example)

    Example:

    >>> import numpy as np
    >>> layer = MemberScaling(8, seed=0)
    >>> [tuple(layer(np.ones((5, 3)), training=training).shape) for training in (False, True)]
    [(5, 8, 3), (5, 1, 3)]
    """

    def __init__(self, members: int, seed: int | None = None, **kwargs: object):
        super().__init__(**kwargs)
        self.members = check_integer("members", members, high=LARGEST_SIZE)
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)

    def build(self, input_shape: Shape) -> None:
        shape = (self.members, *input_shape[1:])
        self.scale = self.add_weight(shape=shape, initializer=self._signs, name="scale")
        self.bias = self.add_weight(shape=shape, initializer="zeros", name="bias")
        self.built = True

    def _signs(self, shape: Shape, dtype: Any = None) -> Tensor:
        uniform = keras.random.uniform(shape, -1.0, 1.0, dtype=dtype, seed=self.seed)
        return ops.where(uniform < 0.0, -ops.ones_like(uniform), ops.ones_like(uniform))

    def call(self, inputs: Tensor, training: bool = False) -> Tensor:
        scale, bias = ops.convert_to_tensor(self.scale), ops.convert_to_tensor(self.bias)
        if training:
            uniform = batch_uniform((ops.shape(inputs)[0],), self.seed_generator)
            member = ops.cast(uniform * self.members, "int32")
            chosen = ops.one_hot(member, self.members, dtype=scale.dtype)
            scale, bias = (ops.tensordot(chosen, it, 1)[:, None] for it in (scale, bias))
        return ops.expand_dims(inputs, 1) * scale + bias

    def compute_output_shape(self, input_shape: Shape) -> tuple:
        return (input_shape[0], self.members, *input_shape[1:])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "members": self.members, "seed": self.seed}


@keras.saving.register_keras_serializable(package="csdl_keras")
class MemberMean(keras.layers.Layer):
    """The mean over the members that `MemberScaling` makes: `1/M sum_m x_m`.

    Call arguments:
        inputs: `(batch, M, ...)`.

    Example:

    >>> tuple(MemberMean()(ops.ones((5, 8, 3))).shape)
    (5, 3)
    """

    def call(self, inputs: Tensor) -> Tensor:
        return ops.mean(inputs, axis=1)

    def compute_output_shape(self, input_shape: Shape) -> tuple:
        return (input_shape[0], *input_shape[2:])
