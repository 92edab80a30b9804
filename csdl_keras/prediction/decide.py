"""Decisions of a trained model."""

from typing import Any

import keras
import numpy as np

from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.checks import OUTPUTS, check_choice
from csdl_keras._utils.structure import check_inputs
from csdl_keras.outputs.kind import output_kind
from csdl_keras.outputs.values import check_values


def decisions(outputs: Any, kind: str) -> np.ndarray:
    """The decisions that `(N, D)` outputs of the kind `"cost"` or `"probability"` stand for."""
    check_choice("kind", kind, OUTPUTS)
    outputs = as_array("outputs", outputs, "(N, D)")
    if outputs.ndim != 2 or 0 in outputs.shape:
        raise ValueError(f"Expected outputs of shape (N, D); received shape {outputs.shape}.")
    if outputs.dtype.kind not in "iuf":
        raise ValueError(f"Expected outputs to be real numbers; received dtype {outputs.dtype}.")
    wrong = int(np.isnan(outputs).any(axis=1).sum())
    if wrong:
        raise ValueError(
            f"Expected outputs without NaN; received NaN in {wrong} of {len(outputs)} rows. "
            "Did training diverge, or does the input hold NaN?"
        )
    if kind == "cost":
        return np.argmin(outputs, axis=1)
    if outputs.shape[1] == 1:
        return (outputs[:, 0] > 0.5).astype(np.int64)
    return np.argmax(outputs, axis=1)


def decide(
    model: Any,
    x: Any,
    output: str | None = None,
    batch_size: int | None = None,
    verbose: Any = 0,
) -> np.ndarray:
    """Decides for each example: the class whose estimated cost is lowest.

    Argmin of costs, argmax of probabilities, the lowest index among equals: the
    same answer as `csdl_keras.prediction.serving(model)` gives. Which of the
    two is recognised from the model's last layer, see `csdl_keras.output_kind`.

    Args:
        model: a `keras.Model` that outputs costs `(batch, D)`, probabilities
            `(batch, K)`, or `(batch, 1)`, the probability of class 1; or a
            fitted `csdl_keras.baselines.CSOSR`, for which inputs are flattened.
        x: inputs, whatever `model.predict` takes; also nested lists, and data frames
            of pandas and Polars.
        output: `"cost"` or `"probability"` for a model whose structure does not
            tell; `None` (default) recognises it. It is checked against structure and
            outputs: rows that sum to 1 are probabilities, and logits neither.
        batch_size: as in `keras.Model.predict`.
        verbose: as in `keras.Model.predict`. Defaults to 0.

    Returns:
        An int64 array of decisions, shape `(N,)`.

    Raises:
        ValueError: if the model's structure does not tell and `output` is None, or
            the model outputs something else or was trained for that; if arrays are no
            numbers, hold no example or have another shape than the model's input; or
            if an output is NaN.

    Example:

    >>> import numpy as np
    >>> import csdl_keras
    >>> model = csdl_keras.models.mlp((4,), num_classes=3, hidden_units=(5,), output="cost")
    >>> decide(model, np.zeros((2, 4))).shape
    (2,)
    """
    x = check_inputs(model, x)
    if not isinstance(model, keras.Model):
        return decisions(model.predict_costs(np.reshape(x, (len(x), -1))), "cost")
    kind = output_kind(model, output)
    outputs = model.predict(x, batch_size=batch_size, verbose=verbose)
    decided = decisions(outputs, kind)
    if output is not None:
        check_values(outputs, kind)
    return decided
