"""The cost-sensitive auto-encoder."""

from typing import Any

import keras
from keras import ops

from csdl_keras._utils.checks import check_bool, check_integer
from csdl_keras._utils.seeds import Seeds
from csdl_keras._utils.tensors import at_least_float32, head_dtype
from csdl_keras._utils.types import Shape, Tensor
from csdl_keras.layers.estimated_costs import CostOutput
from csdl_keras.layers.noise import MaskingNoise


@keras.saving.register_keras_serializable(package="csdl_keras")
class CAE(keras.Model):
    """Cost-sensitive auto-encoder: reconstructs its input and the input's cost vector.

    It computes `h = s(W x~ + b)` from the corrupted input `x~`, decodes `x` from `h`, and estimates
    the costs by a linear regression on `h`. Pass its loss, `(1 - beta) L_CE + beta L_SOSR`, to
    `compile`; with `beta = 0` it is a denoising auto-encoder.

    Args:
        encoder: number of units of a new logistic layer, or a `Dense` layer, which is shared.
        num_decisions: length of the cost vectors.
        corruption: probability in [0, 1] of zeroing an input while training. Defaults to 0.
        tied: whether the decoder uses the transposed weights of the encoder. Defaults to False.
        seed: seed of the corruption and new weights; `None` (default) follows Keras' global seed.
        **kwargs: arguments of `keras.Model`, such as `name`.

    Call arguments:
        inputs: `(batch, features)`, in [0, 1] for the cross-entropy.
        training: whether to corrupt.

    Returns:
        A dict of `"reconstruction"`, `(batch, features)` **logits**, and `"cost"`, the estimates.

    References:
        - Chung, Lin, Yang, IJCAI 2016, equation (9)

    Example:

    >>> import numpy as np
    >>> import csdl_keras
    >>> cae, x = CAE(5, num_decisions=3), np.zeros((2, 4))
    >>> loss = csdl_keras.ReconstructionLoss(from_logits=True), csdl_keras.SOSRLoss()
    >>> names = ("reconstruction", "cost")
    >>> cae.compile("sgd", dict(zip(names, loss)), loss_weights=dict(zip(names, (0.75, 0.25))))
    >>> _ = cae.fit(x, {"reconstruction": x, "cost": np.array([[0, 1, 2], [2, 0, 1]])}, verbose=0)
    >>> tuple(cae.encode(x).shape)
    (2, 5)
    """

    def __init__(
        self,
        encoder: int | keras.layers.Dense,
        num_decisions: int,
        corruption: float = 0.0,
        tied: bool = False,
        seed: int | None = None,
        **kwargs: object,
    ):
        super().__init__(**kwargs)
        seeds = Seeds(seed)
        if isinstance(encoder, keras.layers.Dense):
            self.encoder = encoder
        else:
            self.encoder = keras.layers.Dense(
                check_integer("encoder", encoder),
                activation="sigmoid",
                kernel_initializer=seeds.initializer("glorot_uniform"),
                name="encoder",
            )
        self.num_decisions = check_integer("num_decisions", num_decisions)
        self.corruption = corruption
        self.tied = check_bool("tied", tied)
        self.seed = seed
        self.noise = MaskingNoise(corruption, seed=seed, name="noise")
        self.regressor = CostOutput(
            self.num_decisions, kernel_initializer=seeds.initializer("glorot_uniform"), name="cost"
        )
        self._decoder_initializer = seeds.initializer("glorot_uniform")

    def build(self, input_shape: Shape) -> None:
        features = input_shape[-1]
        self.noise.build(input_shape)
        if not self.encoder.built:
            self.encoder.build(input_shape)
        code_shape = (input_shape[0], self.encoder.units)
        self.regressor.build(code_shape)
        if self.tied:
            self.decoder_bias = self.add_weight(
                shape=(features,), initializer="zeros", autocast=False, name="decoder_bias"
            )
        else:
            self.decoder = keras.layers.Dense(
                features,
                kernel_initializer=self._decoder_initializer,
                dtype=head_dtype(None),
                name="decoder",
            )
            self.decoder.build(code_shape)

    @property
    def decoder_variables(self) -> list[keras.Variable]:
        """The variables that only the reconstruction uses."""
        return [self.decoder_bias] if self.tied else self.decoder.variables

    def encode(self, inputs: Tensor) -> Tensor:
        """Computes the code `s(W x + b)` of `(batch, features)` inputs without corruption."""
        return self.encoder(inputs)

    def call(self, inputs: Tensor, training: bool = False) -> dict[str, Tensor]:
        code = self.encoder(self.noise(inputs, training=training))
        if self.tied:
            kernel = ops.cast(self.encoder.kernel, code.dtype)
            logits = at_least_float32(ops.matmul(code, ops.transpose(kernel)))
            logits = logits + ops.cast(self.decoder_bias, logits.dtype)
        else:
            logits = self.decoder(code)
        return {"reconstruction": logits, "cost": self.regressor(code)}

    def get_config(self) -> dict[str, Any]:
        names = ("num_decisions", "corruption", "tied", "seed")
        own = {name: getattr(self, name) for name in names}
        encoder = keras.saving.serialize_keras_object(self.encoder)
        return {**super().get_config(), "encoder": encoder, **own}

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> "CAE":
        encoder = keras.saving.deserialize_keras_object(config["encoder"], custom_objects)
        return cls(**{**config, "encoder": encoder})
