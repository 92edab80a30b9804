"""Images of one channel."""

import dataclasses

import numpy as np

from csdl_keras.datasets.data_set import DataSet, check_data_set


def grayscale(data: DataSet) -> DataSet:
    """Turns RGB images to gray ones, `0.299 R + 0.587 G + 0.114 B`.

    The weights are those of luma in ITU-R BT.601. The experiments of the paper
    ran on gray SVHN and CIFAR-10 (1,024 inputs) in the authors' code.

    Args:
        data: a data set with 3 channels, or with 1, which is returned as it is.

    Returns:
        A `DataSet` whose images are `(N, height, width, 1)` in [0, 1].

    Raises:
        ValueError: if images have neither 1 nor 3 channels.

    References:
        - ITU-R Recommendation BT.601-7, section 2.5.1

    Example:

    >>> import csdl_keras
    >>> data = csdl_keras.datasets.load("digits")
    >>> red = np.pad(data.x_train, [(0, 0)] * 3 + [(0, 2)])
    >>> round(float(grayscale(dataclasses.replace(data, x_train=red)).x_train.max()), 3)
    0.299
    """
    channels = check_data_set("data", data).input_shape[-1]
    if channels == 1:
        return data
    if channels != 3:
        raise ValueError(
            f"Expected images of 1 or 3 channels; received {data.name!r}, whose images have "
            f"the shape {data.input_shape}."
        )
    return dataclasses.replace(
        data, x_train=luma(data.x_train), x_val=luma(data.x_val), x_test=luma(data.x_test)
    )


def luma(images: np.ndarray) -> np.ndarray:
    """Luma of RGB images: `(..., 3)` to `(..., 1)`, float32, the range is kept."""
    if images.shape[-1] == 1:
        return images.astype("float32", copy=False)
    # Written out, because a matrix product rounds differently from machine to machine.
    gray = np.float32(0.299) * images[..., 0]
    gray += np.float32(0.587) * images[..., 1]
    gray += np.float32(0.114) * images[..., 2]
    # The weights sum to one, but rounded sums may lie above it by a bit.
    return np.minimum(gray, images.max(axis=-1))[..., None]
