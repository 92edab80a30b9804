"""What a model expects its decision to cost."""

from typing import Any

import keras
from keras import ops

from csdl_keras._utils.tensors import tensor_or_array
from csdl_keras.outputs.fit_outputs import fit_output
from csdl_keras.outputs.values import check_values, known_values


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
    found = fit_output(expected_costs)
    if found is not None and found.kind in ("probability", "distribution", "score"):
        raise ValueError(
            f"Expected outputs that are expected costs; received those of {found.words}: they are "
            "probabilities or scores of classes. Pass the model to bayes_classifier."
        )
    costs = tensor_or_array("expected_costs", expected_costs)
    if len(costs.shape) != 2:
        raise ValueError(
            f"Expected `expected_costs` of shape (batch, D); received {tuple(costs.shape)}."
        )
    values = known_values(costs) if found is None else None
    if values is not None:
        check_values(values, "cost")
    return ops.min(costs, axis=-1)


expected_cost.output_kind = "cost"  # It is read by `csdl_keras.output_kind`.
