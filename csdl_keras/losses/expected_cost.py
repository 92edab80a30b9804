"""The cost that a model expects of its own decision, as a loss."""

import keras
from keras import ops

from csdl_keras._utils.example_axes import examples_shape
from csdl_keras._utils.kept_values import restoring_values
from csdl_keras._utils.tensors import tensor_or_array
from csdl_keras._utils.types import Tensor
from csdl_keras.outputs.fit_outputs import fit_output
from csdl_keras.outputs.values import check_values, known_values


@keras.saving.register_keras_serializable(package="csdl_keras")
@restoring_values
def expected_cost(y_true: Tensor, expected_costs: Tensor) -> Tensor:
    """Returns the lowest expected cost, that of a decision by argmin.

    `min_k r_k` for each example. It ignores the target, so it trains nothing;
    compiled as a loss, it makes `evaluate` report the cost the model itself
    expects, next to what its decisions cost by `AverageCost`.

    Args:
        y_true: ignored.
        expected_costs: `(batch, ..., D)` expected costs.

    Returns:
        `(batch, ...)`; NaN for an example that holds NaN.

    Raises:
        ValueError: if the outputs have another shape, are probabilities or scores, or do
            not hold numbers.

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
    examples_shape("expected_costs", costs)
    values = known_values(costs) if found is None else None
    if values is not None:
        check_values(values, "cost")
    return ops.min(costs, axis=-1)


expected_cost.output_kind = "cost"  # `csdl_keras.output_kind` reads it.
