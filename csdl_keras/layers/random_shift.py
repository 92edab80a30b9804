"""Random shifts of images during training."""

from typing import Any

import keras

from csdl_keras._utils.types import Tensor


@keras.saving.register_keras_serializable(package="csdl_keras")
class RandomShift(keras.layers.RandomTranslation):
    """Shifts images at random while training.

    `keras.layers.RandomTranslation` also shifts in `model(x)`, where `training` is
    not given, and passes `training=True` on to the layers above it, so that the
    model would decide from shifted images and change the statistics of batch
    normalisation. This layer shifts only in `fit` or with `training=True`.

    Args:
        height_factor: largest shift as a share of the height.
        width_factor: largest shift as a share of the width.
        **kwargs: other arguments of `keras.layers.RandomTranslation`.

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
        # Keras sets this to False because TensorFlow's XLA lacks the transform; on JAX the
        # whole model would then run uncompiled, about a hundred times slower.
        self.supports_jit = keras.backend.backend() == "jax"

    def call(self, data: Tensor, training: bool = False) -> Tensor:
        return super().call(data, training=training)
