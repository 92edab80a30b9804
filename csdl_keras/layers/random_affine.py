"""Random shifts, rotations, zooms and flips of images in training."""

import math
from typing import Any

import keras
from keras import ops

from csdl_keras._utils.checks import check_bool, check_number
from csdl_keras._utils.types import Shape, Tensor
from csdl_keras.layers.noise import batch_uniform


@keras.saving.register_keras_serializable(package="csdl_keras")
class RandomAffine(keras.layers.Layer):
    """Shifts, rotates, zooms and flips images at random while training, all in one step.

    Each image is sampled once, bilinearly, at the places that its own random map gives. Pixels
    beyond an edge are those of the edge. The strengths are weights, so that training can raise them
    where classes survive that.

    Args:
        shift: largest shift as a share of height and width, at most 0.5. Defaults to 0.
        rotation: largest angle in degrees, at most 180. Defaults to 0.
        zoom: largest magnification minus 1, at most 1; the smallest is the inverse of the
            largest. Defaults to 0.
        horizontal_flip, vertical_flip: whether half of the images are mirrored left to right,
            upside down. Default to False.
        seed: seed of the draws; `None` (default) follows Keras' own.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: images `(batch, height, width, channels)`.
        training: whether to change them. Defaults to False.

    Example:

    >>> images = keras.random.uniform((2, 8, 8, 1), seed=0)
    >>> layer = RandomAffine(shift=0.1, rotation=10, seed=0)
    >>> bool(ops.all(layer(images) == images)), tuple(layer(images, training=True).shape)
    (True, (2, 8, 8, 1))
    """

    def __init__(
        self,
        shift: float = 0.0,
        rotation: float = 0.0,
        zoom: float = 0.0,
        horizontal_flip: bool = False,
        vertical_flip: bool = False,
        seed: int | None = None,
        **kwargs: object,
    ):
        super().__init__(**kwargs)
        self.shift = check_number("shift", shift, 0, 0.5)
        self.rotation = check_number("rotation", rotation, 0, 180)
        self.zoom = check_number("zoom", zoom, 0, 1)
        self.horizontal_flip = check_bool("horizontal_flip", horizontal_flip)
        self.vertical_flip = check_bool("vertical_flip", vertical_flip)
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)

    def build(self, input_shape: Shape) -> None:
        if len(input_shape) != 4 or None in input_shape[1:]:
            raise ValueError(
                "Expected images (batch, height, width, channels) of a known size; received the "
                f"shape {tuple(input_shape)}."
            )
        values = [self.shift, self.rotation, self.zoom, self.horizontal_flip, self.vertical_flip]
        self.strengths = self.add_weight(
            shape=(5,),
            initializer=lambda shape, dtype: ops.convert_to_tensor(values, dtype=dtype),
            trainable=False,
            autocast=False,
            dtype="float32",
            name="strengths",
        )
        self.built = True

    def call(self, inputs: Tensor, training: bool = False) -> Tensor:
        inputs = ops.cast(inputs, self.compute_dtype)  # Integers could not be interpolated.
        if not training:
            return inputs
        strengths = ops.convert_to_tensor(self.strengths)
        shift, rotation, zoom, left_right, upside_down = (strengths[i] for i in range(5))
        drawn = batch_uniform((ops.shape(inputs)[0], 6), self.seed_generator)
        signed = 2.0 * drawn - 1.0
        return transform(
            inputs,
            rotation=signed[:, 0] * rotation,
            magnification=ops.exp(signed[:, 1] * ops.log(1.0 + zoom)),
            rows=signed[:, 2] * shift,
            columns=signed[:, 3] * shift,
            left_right=drawn[:, 4] < 0.5 * left_right,
            upside_down=drawn[:, 5] < 0.5 * upside_down,
        )

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "shift": self.shift,
            "rotation": self.rotation,
            "zoom": self.zoom,
            "horizontal_flip": self.horizontal_flip,
            "vertical_flip": self.vertical_flip,
            "seed": self.seed,
        }


def transform(
    images: Tensor,
    rotation: Tensor | float = 0.0,
    magnification: Tensor | float = 1.0,
    rows: Tensor | float = 0.0,
    columns: Tensor | float = 0.0,
    left_right: Tensor | bool = False,
    upside_down: Tensor | bool = False,
) -> Tensor:
    """Rotates, magnifies, shifts and flips images `(batch, height, width, channels)`.

    Each argument is `(batch,)` or one for all: angles in degrees, factors, shifts as shares of
    height and width, and whether to mirror. Images are sampled bilinearly; integers become float32.
    """
    if not keras.backend.is_float_dtype(keras.backend.standardize_dtype(images.dtype)):
        images = ops.cast(images, "float32")
    height, width, channels = images.shape[1:]
    per_image = [ops.shape(images)[0], 1]

    def column(value: Any) -> Tensor:
        value = ops.cast(ops.convert_to_tensor(value), "float32")
        return ops.broadcast_to(ops.reshape(value, (-1, 1)), per_image)

    angle = column(rotation) * (math.pi / 180)
    cosine, sine = (it(angle) / column(magnification) for it in (ops.cos, ops.sin))
    # Places relative to the center, as columns and rows; one row of the arrays for each image.
    places = ops.arange(height * width, dtype="int32")
    across = ops.cast(places % width, "float32")[None] - (width - 1) / 2
    down = ops.cast(places // width, "float32")[None] - (height - 1) / 2
    across = across * (1.0 - 2.0 * column(left_right))
    down = down * (1.0 - 2.0 * column(upside_down))
    x = cosine * across - sine * down + (width - 1) / 2 + column(columns) * width
    y = sine * across + cosine * down + (height - 1) / 2 + column(rows) * height
    x, y = ops.clip(x, 0.0, width - 1.0), ops.clip(y, 0.0, height - 1.0)
    left, top = ops.floor(x), ops.floor(y)
    images_before = ops.expand_dims(ops.arange(per_image[0], dtype="int32") * height * width, 1)
    pixels = ops.reshape(images, (-1, channels))

    def sampled(row: Tensor, column: Tensor) -> Tensor:
        row, column = ops.minimum(row, height - 1.0), ops.minimum(column, width - 1.0)
        return ops.take(pixels, images_before + ops.cast(row * width + column, "int32"), axis=0)

    right_share, below_share = (
        ops.cast((a - b)[..., None], images.dtype) for a, b in ((x, left), (y, top))
    )
    above = sampled(top, left) * (1 - right_share) + sampled(top, left + 1) * right_share
    below = sampled(top + 1, left) * (1 - right_share) + sampled(top + 1, left + 1) * right_share
    mixed = above * (1 - below_share) + below * below_share
    return ops.reshape(mixed, (-1, height, width, channels))
