"""Shifted and mirrored copies of images, and the mean of what a model says of them."""

from typing import Any

import keras
from keras import ops

from csdl_keras._utils.checks import check_bool, check_integer
from csdl_keras._utils.types import Shape, Tensor


@keras.saving.register_keras_serializable(package="csdl_keras")
class ImageViews(keras.layers.Layer):
    """Appends copies of images to the batch: shifted by some pixels, and mirrored.

    After the images themselves follow all of them shifted down, up, to the right and to the left,
    with pixels beyond an edge as those of the edge, and with `flip` these five mirrored. `ViewMean`
    averages what a model says of them.

    Args:
        pixels: pixels of the shifts; 0 is no shift. Defaults to 1.
        flip: whether to mirror left to right. Defaults to False.
        **kwargs: arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: images `(batch, height, width, channels)`.

    Returns:
        `(views * batch, height, width, channels)`; see the attribute `views`.

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

    def build(self, input_shape: Shape) -> None:
        sides = [side for side in input_shape[1:3] if side is not None and side > self.pixels]
        if len(input_shape) != 4 or len(sides) < 2:
            raise ValueError(
                "Expected images (batch, height, width, channels) of known sizes above "
                f"{self.pixels} pixels; received the shape {tuple(input_shape)}."
            )
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        views = [inputs]
        if self.pixels:
            for axis in (1, 2):
                views += [_shifted(inputs, axis, self.pixels), _shifted(inputs, axis, -self.pixels)]
        if self.flip:
            views += [ops.flip(view, axis=2) for view in views]
        return ops.concatenate(views, axis=0) if len(views) > 1 else inputs

    def compute_output_shape(self, input_shape: Shape) -> tuple:
        batch = input_shape[0]
        return (None if batch is None else self.views * batch, *input_shape[1:])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "pixels": self.pixels, "flip": self.flip}


def _shifted(images: Tensor, axis: int, pixels: int) -> Tensor:
    """Returns images shifted along an axis, with the edge repeated."""
    size, number = images.shape[axis], abs(pixels)
    edge = 0 if pixels > 0 else size - 1
    kept = (0, size - number) if pixels > 0 else (number, size)

    def part(first: int, last: int) -> Tensor:
        return images[:, first:last] if axis == 1 else images[:, :, first:last]

    filling = [part(edge, edge + 1)] * number
    kept_part = [part(*kept)]
    return ops.concatenate(filling + kept_part if pixels > 0 else kept_part + filling, axis=axis)


@keras.saving.register_keras_serializable(package="csdl_keras")
class ViewMean(keras.layers.Layer):
    """The mean over the views that `ImageViews` makes.

    Args:
        views: number of views.
        **kwargs: arguments of `keras.layers.Layer`.

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

    def compute_output_shape(self, input_shape: Shape) -> tuple:
        batch = input_shape[0]
        return (None if batch is None else batch // self.views, *input_shape[1:])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "views": self.views}
