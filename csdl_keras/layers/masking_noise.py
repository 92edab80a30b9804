"""Random numbers of a batch that replicas share."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from csdl_keras._utils.checks import check_number


def batch_uniform(shape: Sequence[Any], seed_generator: keras.random.SeedGenerator) -> Any:
    """Uniform float32 numbers in [0, 1), for each example those that it has in one process.

    Under `tf.distribute` a function sees the examples of its replica alone, while
    the state of the generator is the same everywhere: so each replica draws for the
    global batch and takes its part. Elsewhere the batch is the global one.

    Args:
        shape: of the batch, examples along the first axis; in a replica, of its part.
        seed_generator: which gives the numbers.
    """
    replica, replicas = _replica()
    size = shape[0]
    numbers = keras.random.uniform(
        (replicas * size, *shape[1:]), dtype="float32", seed=seed_generator
    )
    return numbers if replicas == 1 else numbers[replica * size : (replica + 1) * size]


def _replica() -> tuple[Any, int]:
    """The index of this replica, and their number."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        context = tf.distribute.get_replica_context()
        if context is not None and context.num_replicas_in_sync > 1:
            return context.replica_id_in_sync_group, context.num_replicas_in_sync
    return 0, 1


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
