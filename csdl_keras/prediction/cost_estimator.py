"""Turns models of the logarithms or logits of costs into models of costs."""

import keras

from csdl_keras._utils.data_model import with_data
from csdl_keras._utils.structure import inputs_of, rows_output_of
from csdl_keras.layers import InverseLink


def cost_estimator(model: keras.Model, link: str = "log", cost_scale: float = 1.0) -> keras.Model:
    """Turns a model that outputs logarithms or logits of costs into one that outputs costs.

    Decisions stay the same. Costs themselves are needed for the mean of an ensemble, to compare
    with the cost of abstaining, and to read.

    Args:
        model: a model trained with `PoissonCostLoss` (link `"log"`) or
            `LogisticCostLoss` (link `"logit"`). Its layers are shared.
        link: `"log"` (default) or `"logit"`.
        cost_scale: `cost_scale` of that loss. Defaults to 1.

    Returns:
        A functional `keras.Model`, the same inputs to `(batch, ..., D)` costs.

    Example:

    >>> import csdl_keras
    >>> network = csdl_keras.models.mlp((4,), 3, (5,), output="cost")
    >>> network.compile("sgd", csdl_keras.losses.PoissonCostLoss(cost_scale=0.1))
    >>> csdl_keras.output_kind(cost_estimator(network, "log", cost_scale=0.1))
    'cost'
    """
    inputs = inputs_of(model)
    costs = InverseLink(link, cost_scale, name="costs")(rows_output_of(model))
    return with_data(keras.Model(inputs, costs, name=f"{model.name}_costs"), model)
