"""Layers that are random in training: masked inputs, shifted images, members of an ensemble."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from csdl_keras._utils.checks import check_integer, check_number
from csdl_keras._utils.types import Shape, Tensor
from csdl_keras.layers.base import PlainLayer


def batch_uniform(shape: Sequence[Tensor], seed_generator: keras.random.SeedGenerator) -> Tensor:
    """Draws uniform float32 numbers in [0, 1); `shape` begins with the batch."""
    # Replicas of `tf.distribute` have equal generators, so each uses its part of a global batch.
    replicas, size = 1, shape[0]
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        context = tf.distribute.get_replica_context()
        replicas = 1 if context is None else context.num_replicas_in_sync
    numbers = keras.random.uniform(
        (replicas * size, *shape[1:]), dtype="float32", seed=seed_generator
    )
    if replicas == 1:
        return numbers
    replica = context.replica_id_in_sync_group
    return numbers[replica * size : (replica + 1) * size]


@keras.saving.register_keras_serializable(package="csdl_keras")
class MaskingNoise(PlainLayer):
    """Sets each input to 0 with probability `rate` while training.

    Unlike in `keras.layers.Dropout`, the other inputs are not divided by `1 - rate`. The seed, the
    step and the example's place in the batch determine which inputs are zeroed.

    Args:
        rate: probability in [0, 1] of zeroing an input.
        seed: seed of the layer's generator; `None` (default) follows Keras' global seed.

    Call arguments:
        inputs: float tensor of any shape.
        training: whether to corrupt.

    References:
        - [Vincent et al.: Stacked Denoising Autoencoders, JMLR 2010,
          section 3.3](https://jmlr.org/papers/v11/vincent10a.html)

    Example:

    >>> import numpy as np
    >>> noisy = MaskingNoise(0.5, seed=0)(np.ones((1, 1000)), training=True)
    >>> sorted(set(np.unique(keras.ops.convert_to_numpy(noisy)).tolist()))
    [0.0, 1.0]
    """

    def __init__(self, rate: float, seed: int | None = None, **kwargs: object):
        super().__init__(**kwargs)
        self.rate = check_number("rate", rate, 0, 1)
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)
        self.supports_masking = True

    def call(self, inputs: Tensor, training: bool = False) -> Tensor:
        if not training or self.rate == 0.0:
            return inputs
        # The numbers are float32 under every policy, since 16 bits would round the rate.
        uniform = batch_uniform(ops.shape(inputs), self.seed_generator)
        return ops.where(uniform >= self.rate, inputs, ops.zeros_like(inputs))


@keras.saving.register_keras_serializable(package="csdl_keras")
class RandomShift(keras.layers.RandomTranslation):
    """Shifts images at random, but only in `fit` or with `training=True`.

    Arguments are those of `keras.layers.RandomTranslation`, which also shifts in `model(x)`.

    Example:

    >>> import numpy as np
    >>> images = np.random.default_rng(0).uniform(size=(2, 8, 8, 1)).astype("float32")
    >>> layer = RandomShift(0.2, 0.2, seed=0)
    >>> bool(np.all(keras.ops.convert_to_numpy(layer(images)) == images))
    True
    """

    def __init__(self, *args: object, **kwargs: object):
        super().__init__(*args, **kwargs)
        # Keras sets this to False because TensorFlow's XLA lacks the transform. On JAX, the whole
        # model would then run uncompiled.
        self.supports_jit = keras.backend.backend() == "jax"

    def call(self, data: Tensor, training: bool = False) -> Tensor:
        return super().call(data, training=training)


@keras.saving.register_keras_serializable(package="csdl_keras")
class MemberScaling(PlainLayer):
    """Scales and shifts the inputs by each member's own numbers: `x * r_m + b_m`.

    Followed by shared layers and `MemberMean`, it makes an ensemble of `M` networks that differ
    only in `r` and `b`. In training, each example passes through one random member, otherwise
    through all. The `r` start as random signs, the `b` as 0.

    Args:
        members: number of members, `M`.
        seed: seed of the signs and of the draws; `None` (default) follows Keras' global seed.

    Call arguments:
        inputs: `(batch, ...)`.
        training: whether to draw a member for each example.

    Returns:
        `(batch, M, ...)`; in training `(batch, 1, ...)`.

    References:
        - [Gorishniy, Kotelnikov, Babenko: TabM: Advancing tabular deep learning with
          parameter-efficient ensembling, ICLR 2025](https://arxiv.org/abs/2410.24210) (TabM-mini)

    Example:

    >>> layer = MemberScaling(8, seed=0)
    >>> [tuple(layer(ops.ones((5, 3)), training=training).shape) for training in (False, True)]
    [(5, 8, 3), (5, 1, 3)]
    """

    def __init__(self, members: int, seed: int | None = None, **kwargs: object):
        super().__init__(**kwargs)
        self.members = check_integer("members", members)
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)

    def build(self, input_shape: Shape) -> None:
        shape = (self.members, *input_shape[1:])
        self.scale = self.add_weight(shape=shape, initializer=self._signs, name="scale")
        self.bias = self.add_weight(shape=shape, initializer="zeros", name="bias")

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


@keras.saving.register_keras_serializable(package="csdl_keras")
class MemberMean(PlainLayer):
    """Averages over the members that `MemberScaling` makes: `1/M sum_m x_m`.

    Call arguments:
        inputs: `(batch, M, ...)`.

    Example:

    >>> tuple(MemberMean()(ops.ones((5, 8, 3))).shape)
    (5, 3)
    """

    def call(self, inputs: Tensor) -> Tensor:
        return ops.mean(inputs, axis=1)
