"""Random changes of inputs in training: masking noise and shifts of images."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from csdl_keras._utils.checks import check_number
from csdl_keras._utils.types import Shape, Tensor


def batch_uniform(shape: Sequence[Tensor], seed_generator: keras.random.SeedGenerator) -> Tensor:
    """Draws uniform float32 numbers in [0, 1) of a shape, examples first.

    Under `tf.distribute` a replica sees only its part of the batch, while the state of the
    generator is the same in all of them. So each draws numbers for the global batch and takes its
    part.
    """
    replica, replicas = _replica()
    size = shape[0]
    numbers = keras.random.uniform(
        (replicas * size, *shape[1:]), dtype="float32", seed=seed_generator
    )
    return numbers if replicas == 1 else numbers[replica * size : (replica + 1) * size]


def _replica() -> tuple[Any, int]:
    """Returns the index of this replica and the number of replicas."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        context = tf.distribute.get_replica_context()
        if context is not None and context.num_replicas_in_sync > 1:
            return context.replica_id_in_sync_group, context.num_replicas_in_sync
    return 0, 1


@keras.saving.register_keras_serializable(package="csdl_keras")
class MaskingNoise(keras.layers.Layer):
    """Sets each input to 0 with probability `rate` while training.

    Unlike in `keras.layers.Dropout`, the other inputs are not divided by `1 - rate`. The seed, the
    step and the example's place in the batch determine which inputs are zeroed, also where the
    batch is split between several devices.

    Args:
        rate: probability in [0, 1] of zeroing an input.
        seed: seed of the layer's generator; `None` (default) follows Keras' own.
        **kwargs: arguments of `keras.layers.Layer`.

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

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "rate": self.rate, "seed": self.seed}


@keras.saving.register_keras_serializable(package="csdl_keras")
class RandomShift(keras.layers.RandomTranslation):
    """Shifts images at random in `fit`, or with `training=True`, and nowhere else.

    `keras.layers.RandomTranslation` also shifts in `model(x)`, where `training` is not given.

    Args:
        height_factor, width_factor: largest shifts as shares of height and width.
        **kwargs: other arguments of `keras.layers.RandomTranslation`.

    Call arguments:
        data: `(batch, height, width, channels)`.
        training: whether to shift. Defaults to False.

    Example:

    >>> import numpy as np
    >>> images = np.random.default_rng(0).uniform(size=(2, 8, 8, 1)).astype("float32")
    >>> layer = RandomShift(0.2, 0.2, seed=0)
    >>> bool(np.all(keras.ops.convert_to_numpy(layer(images)) == images))
    True
    """

    def __init__(self, *args: object, **kwargs: object):
        super().__init__(*args, **kwargs)
        # Keras sets this to False because TensorFlow's XLA lacks the transform; on JAX the
        # whole model would then run uncompiled, about a hundred times slower.
        self.supports_jit = keras.backend.backend() == "jax"

    def call(self, data: Tensor, training: bool = False) -> Tensor:
        return super().call(data, training=training)
