"""Masking noise, the corruption of denoising auto-encoders."""

from typing import Any

import keras
from keras import ops

from csdl_keras._checks import check_number
from csdl_keras._replicas import batch_uniform


@keras.saving.register_keras_serializable(package="csdl_keras")
class MaskingNoise(keras.layers.Layer):
    """Sets each input to 0 with probability `rate` while training.

    Unlike `keras.layers.Dropout`, the inputs that survive keep their value; they
    are not divided by `1 - rate`. Inactive at inference. Which inputs are zeroed
    follows from the seed, the step and the example's place in the batch, on
    one device and on several between which the batch is split.

    Args:
        rate: probability in [0, 1] of zeroing an input.
        seed: integer seed of the layer's generator. `None` (default) draws one,
            which `keras.utils.set_random_seed` makes reproducible.
        **kwargs: arguments of `keras.layers.Layer`, such as `name` and `dtype`.

    Call arguments:
        inputs: float tensor of any shape.
        training: whether to corrupt; Keras passes it inside `fit`.

    Returns:
        A tensor of the shape and dtype of the inputs.

    Raises:
        ValueError: if `rate` is not a number in [0, 1].

    References:
        - [Vincent et al.: Stacked Denoising Autoencoders, JMLR 2010,
          section 3.3](https://jmlr.org/papers/v11/vincent10a.html)

    Example:

    >>> import numpy as np
    >>> noisy = MaskingNoise(0.5, seed=0)(np.ones((1, 1000)), training=True)
    >>> sorted(set(np.unique(keras.ops.convert_to_numpy(noisy)).tolist()))
    [0.0, 1.0]
    """

    def __init__(self, rate: float, seed: int | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.rate = check_number("rate", rate, 0, 1)
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        self.built = True

    def call(self, inputs: Any, training: bool = False) -> Any:
        if not training or self.rate == 0.0:
            return inputs
        # Drawn in float32 whatever the policy: 16 bits would round the rate.
        uniform = batch_uniform(ops.shape(inputs), self.seed_generator)
        return ops.where(uniform >= self.rate, inputs, ops.zeros_like(inputs))

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "rate": self.rate, "seed": self.seed}
