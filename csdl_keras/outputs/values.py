"""Distinguishes costs from probabilities by their values if the structure does not show it."""

import functools
import math
import threading

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.tensors import LOW_PRECISION, TOLERANCE_16_BITS, probability_rows
from csdl_keras._utils.types import Tensor


def known_values(tensor: Tensor) -> np.ndarray | None:
    """Returns the values of an array or tensor, or `None` inside a graph, which has none yet."""
    if str(getattr(tensor, "device", "")) == "meta":  # PyTorch would return arbitrary values.
        return None
    try:
        return np.asarray(ops.convert_to_numpy(tensor))
    except Exception:  # Each backend raises its own error for symbolic tensors.
        return None


def check_values(values: np.ndarray, output: str | None) -> None:
    """Raises if the values of outputs are probabilities instead of costs, or the reverse.

    If all rows sum to 1, the outputs count as probabilities. With `output="cost"`, a single row
    and rows of two columns may be costs, since expected costs sum to 1 as well if each of two
    mistakes costs 1.

    Args:
        values: outputs of a model, `(N, ..., D)`; rows with NaN are ignored.
        output: `"cost"`, `"probability"`, or `None` for costs that no argument has named.
    """
    values = values.reshape(-1, values.shape[-1])
    values = values[~np.isnan(values.astype("float64")).any(axis=1)]
    if not len(values):
        return
    proper, values = probability_rows(values), values.astype("float64")
    if output == "probability":
        # A softmax in 16 bits is less exact, and its outputs may have been converted since.
        tolerated = probability_rows(values, TOLERANCE_16_BITS)
        if not tolerated.all():
            wrong = values[~tolerated]
            raise ValueError(
                "Expected probabilities, rows of numbers in [0, 1] that sum to 1 (or one column "
                f"of them); received {np.round(wrong[0], 4).tolist()}, and {len(wrong)} of "
                f"{len(values)} rows like it. Costs are output='cost'; logits are neither: end "
                "the model in a softmax, or pass it to bayes_classifier with from_logits=True."
            )
        return
    believed = output == "cost" and (values.shape[1] <= 2 or len(values) == 1)
    if proper.all() and not believed:
        what = "numbers in [0, 1]" if values.shape[1] == 1 else "rows that sum to 1"
        raise ValueError(
            f"Expected costs, which decide by argmin; received {what}, such as "
            f"{np.round(values[0], 4).tolist()}, which are probabilities. Pass "
            f"output='probability'{'' if output else ', or output=' + repr('cost')} "
            "if they are that, or end the model in CostOutput or BayesDecision."
        )


def outputs_at_random(model: keras.Model, inputs: Tensor | list | dict) -> np.ndarray | None:
    """Returns the outputs of a model for two random inputs, or `None` if it cannot compute them.

    A new thread computes them, in which nothing is being traced, so that they have values even
    while `fit` compiles.

    Args:
        model: a built model.
        inputs: tensors or `KerasTensor`s with the shapes and types of its inputs.
    """
    rng = np.random.default_rng(0)

    def values(unknown: int, tensor: Tensor) -> np.ndarray:
        shape = (2, *(size or unknown for size in tuple(tensor.shape)[1:]))
        dtype = keras.backend.standardize_dtype(tensor.dtype)
        if "float" not in dtype:
            return np.zeros(shape, dtype)
        return rng.uniform(size=shape).astype("float32" if dtype in LOW_PRECISION else dtype)

    found: list[np.ndarray | None] = []

    def ask() -> None:
        for unknown in (1, 32):  # Networks that pool cannot take a single pixel.
            try:
                arrays = keras.tree.map_structure(functools.partial(values, unknown), inputs)
                outputs = model(arrays, training=False)
                found.append(known_values(outputs))
                return
            except Exception:  # A model may raise any error for such inputs.
                continue
        found.append(None)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join()
    rows = found[0]
    usable = rows is not None and rows.ndim >= 2 and not math.isnan(float(rows.sum()))
    return rows if usable else None
