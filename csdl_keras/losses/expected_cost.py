"""The cost that a model expects of its own decision, as a loss."""

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.tensors import examples_shape, looks_like_probabilities, tensor_or_array
from csdl_keras._utils.types import Tensor


@keras.saving.register_keras_serializable(package="csdl_keras")
def expected_cost(y_true: Tensor, expected_costs: Tensor) -> Tensor:
    """Returns the lowest expected cost, that of a decision by argmin.

    `min_k r_k`, `(batch, ...)`. It trains nothing; compiled as a loss, it makes `evaluate` report
    what the model expects to pay, next to what its decisions cost by `AverageCost`.

    Args:
        y_true: ignored.
        expected_costs: `(batch, ..., D)` expected costs.

    Example:

    >>> import numpy as np
    >>> print(ops.convert_to_numpy(expected_cost(None, np.array([[1.8, 0.8]]))))
    [0.8]
    """
    costs = tensor_or_array("expected_costs", expected_costs)
    examples_shape("expected_costs", costs)
    # Those of a batch may sum to 1, under a matrix whose rows do.
    if isinstance(costs, np.ndarray) and costs.shape[-1] > 2 and looks_like_probabilities(costs):
        raise ValueError(
            "Expected costs, which decide by argmin; received rows that sum to 1, which are "
            "probabilities. Pass the model to bayes_classifier."
        )
    return ops.min(costs, axis=-1)


expected_cost.output_kind = "cost"  # `csdl_keras.output_kind` reads it.
