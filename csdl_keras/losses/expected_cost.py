"""What a model expects its decision to cost."""

from typing import Any

import keras
from keras import ops

from csdl_keras._tensor_checks import tensor_or_array


@keras.saving.register_keras_serializable(package="csdl_keras")
def expected_cost(y_true: Any, expected_costs: Any) -> Any:
    """The lowest of the expected costs, what a decision by argmin is expected to cost.

    `min_k r_k` for each example. It does not look at the target, so it trains
    nothing; as the loss of a compiled model, `evaluate` tells with it what the
    model believes, beside what `AverageCost` says its decisions cost.

    Args:
        y_true: ignored.
        expected_costs: `(batch, D)` expected costs.

    Returns:
        `(batch,)`; NaN for an example with NaN.

    Raises:
        ValueError: if the shape is another, or an array holds no numbers.

    Example:

    >>> import numpy as np
    >>> print(ops.convert_to_numpy(expected_cost(None, np.array([[1.8, 0.8]]))))
    [0.8]
    """
    costs = tensor_or_array("expected_costs", expected_costs)
    if len(costs.shape) != 2:
        raise ValueError(
            f"Expected `expected_costs` of shape (batch, D); received {tuple(costs.shape)}."
        )
    return ops.min(costs, axis=-1)
