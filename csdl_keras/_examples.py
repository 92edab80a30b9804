"""Examples that networks are trained on, checked."""

import dataclasses
from typing import Any

import numpy as np

from csdl_keras._utils.arrays import as_array
from csdl_keras.costs import check_cost_vectors, check_labels


@dataclasses.dataclass(frozen=True)
class Examples:
    """Inputs, labels, and where each example has costs of its own, those.

    Args:
        x: float32 inputs `(N, ...)`.
        y: int64 labels `(N,)`.
        costs: float64 cost vectors `(N, D)`, or `None`.
    """

    x: np.ndarray
    y: np.ndarray
    costs: np.ndarray | None = None

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """What there is of the three."""
        return (self.x, self.y) if self.costs is None else (self.x, self.y, self.costs)


def check_examples(name: str, x: Any, y: Any, costs: Any = None) -> Examples:
    """Copies of the examples, if they pass their checks.

    What is trained on and known by its contents must not change with the arrays of a caller.

    Args:
        name: what messages call the inputs.
        x: inputs `(N, ...)`.
        y: labels `(N,)`.
        costs: cost vectors `(N, D)`, or `None` (default).
    """
    labels = check_labels(y).copy()
    inputs = check_inputs(name, x, len(labels))
    vectors = None if costs is None else np.ascontiguousarray(check_cost_vectors(costs))
    if vectors is not None and len(vectors) != len(labels):
        raise ValueError(
            f"Expected a cost vector for each of {len(labels)} labels; received {len(vectors)}."
        )
    return Examples(inputs, labels, vectors)


def check_inputs(name: str, x: Any, size: int | None = None) -> np.ndarray:
    """A copy of inputs in float32, if they pass their checks and are as many as the labels."""
    inputs = as_array(name, x, "(N, ...)")
    fits = inputs.ndim >= 2 and size in (None, len(inputs)) and 0 not in inputs.shape[1:]
    if inputs.dtype.kind not in "iuf" or not fits:
        number = "" if size is None else f" with N = {size} labels"
        raise ValueError(
            f"Expected `{name}` to be real inputs of shape (N, ...){number}; "
            f"received shape {inputs.shape}, dtype {inputs.dtype}."
        )
    with np.errstate(over="ignore"):  # what float32 does not hold becomes infinite
        inputs = inputs.astype("float32", order="C")
    if not np.isfinite(inputs).all():
        raise ValueError(
            f"Expected `{name}` without NaN and infinity, also as float32; received some."
        )
    return inputs
