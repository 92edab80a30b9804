"""A convolutional network for small images that trains in minutes without a GPU."""

from collections.abc import Sequence

import keras

from csdl_keras._utils.checks import check_number
from csdl_keras._utils.seeds import Seeds
from csdl_keras._utils.tensors import head_dtype
from csdl_keras.layers import RandomAffine, StandardizedConv2D
from csdl_keras.models.heads import check_output_layer, with_output_layer


def convnet(
    input_shape: Sequence[int],
    num_classes: int,
    filters: Sequence[int] = (16, 32, 64, 128),
    shift: float = 0.07,
    dropout: float = 0.4,
    output: str = "probability",
    name: str = "convnet",
    seed: int | None = None,
    value_range: Sequence[float] = (0.0, 1.0),
) -> keras.Model:
    """Builds a convolutional network for small images, without batch normalisation.

    Each entry of `filters` is a block of 3x3 convolutions with standardised kernels and a ReLU, one
    in the first two blocks and two in the others, with 2x2 max pooling between blocks. The mean and
    the maximum over positions, dropout and the output layer follow.

    Args:
        input_shape: `(height, width, channels)` of an image.
        num_classes, name, seed: as in `mlp`.
        filters: number of filters of each block. Defaults to `(16, 32, 64, 128)`.
        shift: largest shift in training, as a share of height and width. Defaults to 0.07.
        dropout: share of features dropped before the output layer. Defaults to 0.4.
        output: `"probability"` (default), `"cost"`, or `"features"` without an output layer.
        value_range: the lowest and the highest value of images. Defaults to `(0, 1)`.

    Returns:
        A functional `keras.Model`, `(batch, *input_shape)` to `(batch, num_classes)`, not compiled.

    Example:

    >>> convnet((28, 28, 1), num_classes=10, filters=(8, 16)).output_shape
    (None, 10)
    """
    check_output_layer(num_classes, output, ("features",))
    low, high = value_range
    check_number("value_range", high, low, exclude_low=True)
    seeds = Seeds(seed)
    inputs = x = keras.Input(input_shape)
    if (low, high) != (0.0, 1.0):
        scale = 1 / (high - low)
        # Sixteen bits cannot represent the values of some images.
        x = keras.layers.Rescaling(scale, -low * scale, dtype=head_dtype(None))(x)
    if shift:
        x = RandomAffine(shift, seed=seeds.next())(x)
    for index, size in enumerate(filters):
        if index and min(x.shape[1:3]) >= 4:
            x = keras.layers.MaxPooling2D(2, data_format="channels_last")(x)
        for _ in range(1 if index < 2 else 2):
            x = StandardizedConv2D(
                size,
                3,
                padding="same",
                activation="relu",
                data_format="channels_last",
                kernel_initializer=seeds.initializer("he_normal"),
            )(x)
    mean = keras.layers.GlobalAveragePooling2D(data_format="channels_last")(x)
    largest = keras.layers.GlobalMaxPooling2D(data_format="channels_last")(x)
    x = keras.layers.Concatenate()([mean, largest])
    if dropout:
        x = keras.layers.Dropout(dropout, seed=seeds.next())(x)
    return with_output_layer(inputs, x, num_classes, output, seeds, name)
