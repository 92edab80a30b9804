"""Feeds batches to `fit` and `predict` so that an epoch ends with its last batch."""

from typing import Any

import keras
import numpy as np


def batches(size: int, *arrays: np.ndarray) -> dict[str, Any]:
    """Returns arguments of `fit` (inputs and targets) or `predict` (inputs): batches in order.

    On TensorFlow they are a dataset without the autotuner of `tf.data`. Epochs of arrays wait
    for it, up to as long as they take, which would hide what is measured.
    """
    if keras.backend.backend() != "tensorflow":
        return {**dict(zip("xy", arrays, strict=False)), "batch_size": size}
    import tensorflow

    data = tensorflow.data.Dataset.from_tensor_slices(arrays).batch(size)
    options = tensorflow.data.Options()
    options.autotune.enabled = False
    return {"x": data.with_options(options)}
