"""Random shifts of images, in training only."""

from typing import Any

import keras

from csdl_keras._utils.types import Tensor


@keras.saving.register_keras_serializable(package="csdl_keras")
class RandomShift(keras.layers.RandomTranslation):
    """`keras.layers.RandomTranslation` that a plain call of the model leaves out.

    Keras' own layer shifts whenever `training` is not given, and then has the
    layers above it train as well, so that `model(x)` would decide from shifted
    images and change the statistics of batch normalisation. This one shifts in
    `fit` alone, or where `training=True` is said.

    Args:
        height_factor: as in `keras.layers.RandomTranslation`: the largest shift, as a
            share of the height.
        width_factor: the same of the width.
        **kwargs: its other arguments.

    Call arguments:
        data: `(batch, height, width, channels)`.
        training: whether to shift. Defaults to False.

    Returns:
        Images of the same shape.

    Example:

    >>> import numpy as np
    >>> images = np.random.default_rng(0).uniform(size=(2, 8, 8, 1)).astype("float32")
    >>> layer = RandomShift(0.2, 0.2, seed=0)
    >>> bool(np.all(keras.ops.convert_to_numpy(layer(images)) == images))
    True
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        # Keras says False for TensorFlow's sake, whose XLA lacks the transform; on JAX the
        # whole model would run uncompiled, some hundred times slower.
        self.supports_jit = keras.backend.backend() == "jax"

    def call(self, data: Tensor, training: bool = False) -> Tensor:
        return super().call(data, training=training)
