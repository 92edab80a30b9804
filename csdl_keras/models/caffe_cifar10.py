"""Caffe's two networks for CIFAR-10."""

from collections.abc import Sequence

import keras

from csdl_keras._utils.arrays import number_array
from csdl_keras._utils.checks import check_choice, check_number
from csdl_keras._utils.seeds import Seeds
from csdl_keras._utils.types import ArrayLike
from csdl_keras.layers import CaffePooling2D, WithinChannelLRN
from csdl_keras.models.heads import check_output_layer, output_layer


def caffe_cifar10(
    input_shape: Sequence[int] = (32, 32, 3),
    num_classes: int = 10,
    variant: str = "quick",
    output: str = "probability",
    mean: ArrayLike = 0.0,
    weight_decay: float = 0.004,
    seed: int | None = None,
) -> keras.Model:
    """Builds Caffe's `cifar10_quick` or `cifar10_full` network.

    It has three 5x5 convolutions of 32, 32 and 64 filters, each with 3x3 pooling of stride 2
    (`CaffePooling2D`). `cifar10_quick` ends with a linear layer of 64 units; in `cifar10_full`,
    `WithinChannelLRN` follows the first two. The first layer rescales inputs in [0, 1] to Caffe's
    range, `255 x - mean`. Caffe trains with SGD: rate 0.001, momentum 0.9, batches of 100.

    Args:
        input_shape: `(height, width, channels)`. Defaults to CIFAR-10's.
        num_classes, output, seed: as in `mlp`. There are 10 classes by default.
        variant: `"quick"` (default) or `"full"`.
        mean: mean to subtract, in [0, 255]: a number, one per channel, or an image. Defaults to 0.
        weight_decay: Caffe's decay `w`, the penalty `w/2 |W|^2`. Defaults to 0.004.

    Returns:
        A functional `keras.Model`, `(batch, *input_shape)` to `(batch, num_classes)`, not compiled.

    References:
        - [Caffe, `examples/cifar10`](https://github.com/BVLC/caffe/tree/master/examples/cifar10)

    Example:

    >>> caffe_cifar10().count_params(), caffe_cifar10(variant="full").count_params()
    (145578, 89578)
    """
    check_output_layer(num_classes, output)
    full = check_choice("variant", variant, ("quick", "full")) == "full"
    decay = check_number("weight_decay", weight_decay, low=0) / 2
    offset = -number_array("mean", mean, str(input_shape)).astype("float32")
    seeds = Seeds(seed)

    def arguments(deviation: float, kernel_decay: float = decay, bias_decay: float = decay) -> dict:
        normal = keras.initializers.RandomNormal(stddev=deviation)
        return {
            "kernel_initializer": seeds.initializer(normal),
            "kernel_regularizer": keras.regularizers.L2(kernel_decay),
            "bias_regularizer": keras.regularizers.L2(bias_decay) if bias_decay else None,
        }

    def convolution(index: int, filters: int, deviation: float) -> keras.layers.Layer:
        return keras.layers.Conv2D(
            filters,
            5,
            padding="same",
            data_format="channels_last",
            name=f"conv{index}",
            **arguments(deviation),
        )

    layers = [
        keras.layers.Rescaling(
            255.0, offset=offset if offset.ndim else float(offset), name="to_caffe_range"
        ),
        convolution(1, 32, 1e-4),
        CaffePooling2D("max", name="pool1"),
        keras.layers.ReLU(name="relu1"),
        WithinChannelLRN(name="norm1") if full else None,
        convolution(2, 32, 0.01),
        keras.layers.ReLU(name="relu2"),
        CaffePooling2D("average", name="pool2"),
        WithinChannelLRN(name="norm2") if full else None,
        convolution(3, 64, 0.01),
        keras.layers.ReLU(name="relu3"),
        CaffePooling2D("average", name="pool3"),
        keras.layers.Flatten(name="flatten"),
        None if full else keras.layers.Dense(64, name="ip1", **arguments(0.1)),
    ]
    # In the prototxt of the full network, this layer has decay_mult 250 for weights, 0 for biases.
    last = arguments(0.01, 250 * decay, 0.0) if full else arguments(0.1)
    layers.append(output_layer(num_classes, output, **last))
    inputs = x = keras.Input(input_shape)
    for layer in layers:
        x = x if layer is None else layer(x)
    return keras.Model(inputs, x, name=f"caffe_cifar10_{variant}")
