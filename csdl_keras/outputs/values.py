"""Tells costs from probabilities by their values, where no structure tells them apart."""

import math
import threading
from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.tensors import LOW_PRECISION

#: Largest distance from 1 of the sum of a row of probabilities, by the bits of its type.
TOLERANCE, TOLERANCE_16_BITS = 1e-4, 1e-2


def known_values(tensor: Any) -> np.ndarray | None:
    """The values of an array or tensor, or `None` inside a graph, where there are none yet."""
    if str(getattr(tensor, "device", "")) == "meta":  # PyTorch would invent some.
        return None
    try:
        return np.asarray(ops.convert_to_numpy(tensor))
    except Exception:  # Each backend has its own error for a symbolic tensor.
        return None


def probability_rows(values: np.ndarray) -> np.ndarray:
    """Marks the rows of `(N, D)` that are distributions; of one column, numbers in [0, 1]."""
    tolerance = TOLERANCE_16_BITS if values.dtype.itemsize == 2 else TOLERANCE
    values = values.astype("float64")
    if values.shape[1] == 1:
        return (values[:, 0] >= 0) & (values[:, 0] <= 1)
    with np.errstate(invalid="ignore", over="ignore"):
        total = np.abs(values.sum(axis=1) - 1)
    return (values.min(axis=1) >= 0) & (total <= tolerance)


def check_values(values: np.ndarray, output: str | None) -> None:
    """Raises if outputs are not what they are taken for.

    Rows that are all distributions are probabilities. They are believed to be costs
    if `output="cost"` says so and there are two columns, since expected costs sum to
    1 as well where each of two mistakes costs 1, or a single row.

    Args:
        values: `(N, D)` outputs of a model; rows with NaN tell nothing.
        output: `"cost"`, `"probability"`, or `None` for costs that nobody has named.

    Raises:
        ValueError: if they are probabilities in place of costs, or the reverse.
    """
    values = values[~np.isnan(values.astype("float64")).any(axis=1)]
    if not len(values):
        return
    proper, values = probability_rows(values), values.astype("float64")
    if output == "probability":
        tolerated = proper | _sums_nearly_to_1(values)
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


def _sums_nearly_to_1(values: np.ndarray) -> np.ndarray:
    """Rows that a softmax in 16 bits leaves, whatever type they have by now."""
    if values.shape[1] == 1:
        return np.zeros(len(values), bool)
    return (values.min(axis=1) >= 0) & (np.abs(values.sum(axis=1) - 1) <= TOLERANCE_16_BITS)


def all_probabilities(outputs: Any) -> Any:
    """A bool tensor, true if all rows of a tensor `(batch, D)` are distributions.

    It is for graphs, in which nothing can raise.
    """
    if outputs.shape[-1] == 1:
        return ops.all(ops.logical_and(outputs >= 0.0, outputs <= 1.0))
    dtype = keras.backend.standardize_dtype(outputs.dtype)
    tolerance = TOLERANCE_16_BITS if dtype in LOW_PRECISION else TOLERANCE
    near = ops.abs(ops.sum(outputs, axis=-1) - 1.0) <= tolerance
    return ops.all(ops.logical_and(near, ops.min(outputs, axis=-1) >= 0.0))


def outputs_at_random(model: keras.Model, inputs: Any) -> np.ndarray | None:
    """The outputs of a model for two random inputs, or `None` if it cannot be asked.

    A thread of its own computes them, in which nothing is being traced, so that
    they have values even while `fit` compiles.

    Args:
        model: a built model.
        inputs: tensors or `KerasTensor`s with the shapes and types of its inputs.
    """
    rng = np.random.default_rng(0)

    def values(tensor: Any) -> np.ndarray:
        shape = (2, *(size or 1 for size in tuple(tensor.shape)[1:]))
        dtype = keras.backend.standardize_dtype(tensor.dtype)
        if "float" not in dtype:
            return np.zeros(shape, dtype)
        return rng.uniform(size=shape).astype("float32" if dtype in LOW_PRECISION else dtype)

    found: list[np.ndarray | None] = []

    def ask() -> None:
        try:
            outputs = model(keras.tree.map_structure(values, inputs), training=False)
            found.append(known_values(outputs))
        except Exception:  # A model may refuse such inputs in any way.
            found.append(None)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join()
    rows = found[0]
    usable = rows is not None and rows.ndim == 2 and not math.isnan(float(rows.sum()))
    return rows if usable else None
