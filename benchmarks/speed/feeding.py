"""What `fit` and `predict` are given, so that an epoch ends when its last batch does."""

from typing import Any

import numpy as np

from csdl_keras.fitting._tensorflow_batches import in_order


def batches(size: int, *arrays: np.ndarray) -> dict[str, Any]:
    """Arguments of `fit` (inputs and targets) or `predict` (inputs): batches in order.

    On TensorFlow a dataset without the tuner of `tf.data`, for which epochs of arrays wait:
    a wait of up to their own length would drown what is measured.
    """
    data = in_order(arrays, size)
    if data is arrays:
        return {**dict(zip("xy", arrays, strict=False)), "batch_size": size}
    return {"x": data}
