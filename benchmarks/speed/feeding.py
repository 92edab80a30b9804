"""Feeds batches to `fit` and `predict` such that an epoch ends with its last batch."""

from typing import Any

import numpy as np
from csdl_keras.fitting._tensorflow_batches import in_order


def batches(size: int, *arrays: np.ndarray) -> dict[str, Any]:
    """Returns arguments of `fit` (inputs and targets) or `predict` (inputs): batches in order.

    On TensorFlow they are a dataset without the autotuner of `tf.data`. Epochs of arrays wait
    for it, up to as long as they take, which would hide what is measured.
    """
    data = in_order(arrays, size)
    if data is arrays:
        return {**dict(zip("xy", arrays, strict=False)), "batch_size": size}
    return {"x": data}
