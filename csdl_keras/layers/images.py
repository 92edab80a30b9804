"""Layers for images: random changes in training, views, and a convolution."""

import itertools
import math
from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.checks import check_bool, check_integer, check_number
from csdl_keras._utils.types import Shape, Tensor
from csdl_keras.layers.base import ImageLayer, PlainLayer
from csdl_keras.layers.noise import batch_uniform


@keras.saving.register_keras_serializable(package="csdl_keras")
class RandomAffine(ImageLayer):
    """Shifts, rotates, zooms and flips images at random while training, all in one step.

    Each image is sampled once, bilinearly. Pixels beyond an edge repeat the edge. The strengths are
    weights, which training can raise as long as classes stay recognisable.

    Args:
        shift: largest shift as a share of height and width, at most 0.5. Defaults to 0.
        rotation: largest angle in degrees, at most 180. Defaults to 0.
        zoom: largest magnification minus 1, at most 1; the smallest is its inverse. Defaults to 0.
        horizontal_flip, vertical_flip: whether half of the images are mirrored. Default to False.
        seed: seed of the draws; `None` (default) follows Keras' global seed.

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
        super().build(input_shape)
        values = [self.shift, self.rotation, self.zoom, self.horizontal_flip, self.vertical_flip]
        self.strengths = self.add_weight(
            shape=(5,),
            initializer=lambda shape, dtype: ops.convert_to_tensor(values, dtype=dtype),
            trainable=False,
            autocast=False,
            dtype="float32",
            name="strengths",
        )

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


def transform(
    images: Tensor,
    rotation: Tensor | float = 0.0,
    magnification: Tensor | float = 1.0,
    rows: Tensor | float = 0.0,
    columns: Tensor | float = 0.0,
    left_right: Tensor | bool = False,
    upside_down: Tensor | bool = False,
) -> Tensor:
    """Transforms images; arguments are `(batch,)` or scalars; shifts are shares of the size."""
    if not keras.backend.is_float_dtype(keras.backend.standardize_dtype(images.dtype)):
        images = ops.cast(images, "float32")
    height, width, channels = images.shape[1:]
    per_image = [ops.shape(images)[0], 1]

    def column(value: Any) -> Tensor:
        value = ops.cast(ops.convert_to_tensor(value), "float32")
        return ops.broadcast_to(ops.reshape(value, (-1, 1)), per_image)

    angle = column(rotation) * (math.pi / 180)
    cosine, sine = (it(angle) / column(magnification) for it in (ops.cos, ops.sin))
    # Places are relative to the center; the arrays have a row for each image.
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


@keras.saving.register_keras_serializable(package="csdl_keras")
class ImageViews(ImageLayer):
    """Appends copies of images to the batch that are shifted by some pixels, and mirrored.

    The images are followed by copies shifted down, up, to the right and to the left and, with
    `flip`, by mirrored copies of these five. `ViewMean` averages the outputs of a model for them.

    Args:
        pixels: number of pixels of each shift; 0 means no shift. Defaults to 1.
        flip: whether to mirror left to right. Defaults to False.

    Call arguments:
        inputs: images `(batch, height, width, channels)`, which become `views` times as many.

    Example:

    >>> layer = ImageViews(flip=True)
    >>> layer.views, tuple(layer(ops.ones((3, 8, 8, 1))).shape)
    (10, (30, 8, 8, 1))
    """

    def __init__(self, pixels: int = 1, flip: bool = False, **kwargs: object):
        super().__init__(**kwargs)
        self.pixels = check_integer("pixels", pixels, low=0)
        self.flip = check_bool("flip", flip)

    @property
    def views(self) -> int:
        """The number of views of each image."""
        return (5 if self.pixels else 1) * (2 if self.flip else 1)

    def call(self, inputs: Tensor) -> Tensor:
        views = [inputs]
        for axis, pixels in itertools.product((1, 2), (self.pixels, -self.pixels)):
            if pixels:  # Pixels beyond an edge repeat the edge.
                places = np.arange(inputs.shape[axis], dtype="int32") - pixels
                views.append(ops.take(inputs, places.clip(0, len(places) - 1), axis))
        if self.flip:
            views += [ops.flip(view, axis=2) for view in views]
        return ops.concatenate(views, axis=0) if len(views) > 1 else inputs


@keras.saving.register_keras_serializable(package="csdl_keras")
class ViewMean(PlainLayer):
    """Averages over the views that `ImageViews` makes.

    Args:
        views: number of views.

    Call arguments:
        inputs: `(views * batch, ...)`.

    Example:

    >>> ops.convert_to_numpy(ViewMean(2)(ops.array([[1.0], [2.0], [3.0], [4.0]]))).tolist()
    [[2.0], [3.0]]
    """

    #: A mean of probabilities is a probability, one of costs a cost.
    keeps_output_kind = True

    def __init__(self, views: int, **kwargs: object):
        super().__init__(**kwargs)
        self.views = check_integer("views", views)

    def call(self, inputs: Tensor) -> Tensor:
        return ops.mean(ops.reshape(inputs, (self.views, -1, *inputs.shape[1:])), axis=0)

    def compute_output_spec(self, inputs: Tensor) -> keras.KerasTensor:
        batch = None if inputs.shape[0] is None else inputs.shape[0] // self.views
        return keras.KerasTensor((batch, *inputs.shape[1:]), self.compute_dtype)


# Reciprocal of the standard deviation of max(0, z) for normal z, so that outputs have variance 1.
_RELU_GAIN = math.sqrt(2 / (1 - 1 / math.pi))


@keras.saving.register_keras_serializable(package="csdl_keras")
class StandardizedConv2D(keras.layers.Conv2D):
    """A 2D convolution with scaled weight standardisation.

    The `n` weights `w_o` of each output channel `o` are replaced by
    `g_o (w_o - mean(w_o)) / (std(w_o) sqrt(n))`, where `g_o` is trained, so that the variance of
    activations stays about the same in all layers. Arguments are those of `keras.layers.Conv2D`.

    References:
        - [Brock, De, Smith: Characterizing signal propagation to close the performance gap in
          unnormalized ResNets, ICLR 2021](https://arxiv.org/abs/2101.08692)

    Example:

    >>> tuple(StandardizedConv2D(4, 3, activation="relu")(ops.ones((2, 8, 8, 1))).shape)
    (2, 6, 6, 4)
    """

    def build(self, input_shape: Shape) -> None:
        relu = self.activation is keras.activations.relu
        initial = keras.initializers.Constant(_RELU_GAIN if relu else 1.0)
        # The gain precedes the kernel, since a layer with LoRA accepts no weights after it.
        self.gain = self.add_weight((self.filters,), initial, name="gain")
        super().build(input_shape)

    def convolution_op(self, inputs: Tensor, kernel: Tensor) -> Any:
        weights = ops.cast(kernel, "float32")  # 16 bits would round the variance.
        axes = list(range(len(weights.shape) - 1))
        size = math.prod(weights.shape[:-1])
        weights = weights - ops.mean(weights, axes, keepdims=True)
        variance = ops.mean(ops.square(weights), axes, keepdims=True)
        gain = ops.cast(self.gain, "float32")
        weights = weights * ops.rsqrt(size * variance + keras.config.epsilon()) * gain
        return super().convolution_op(inputs, ops.cast(weights, inputs.dtype))

    def save_own_variables(self, store: Any) -> None:
        super().save_own_variables(store)  # This saves the kernel and the bias.
        if self.built:
            store["gain"] = self.gain

    def load_own_variables(self, store: Any) -> None:
        super().load_own_variables(store)
        if self.built:
            self.gain.assign(store["gain"])
