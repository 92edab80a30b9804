"""A model whose output is the decided class."""

import keras

from csdl_keras._ops import inputs_of, rows_output_of
from csdl_keras.layers import Decision
from csdl_keras.output_kind import output_kind


def decision_model(model: keras.Model, output: str | None = None) -> keras.Model:
    """Puts the decision into the model: argmin of costs, argmax of probabilities.

    Args:
        model: a model that outputs costs `(batch, D)` or probabilities
            `(batch, K)` or `(batch, 1)`. Its layers are shared.
        output: `"cost"` or `"probability"`; `None` (default) recognises it from
            the last layer, see `csdl_keras.output_kind`.

    Returns:
        A functional `keras.Model`, the same inputs to int32 decisions
        `(batch,)`; the lowest index wins a tie, -1 marks a row with NaN.

    Raises:
        ValueError: if the last layer does not tell and `output` is None, the
            model's inputs are not known, or its output is not one of shape
            `(batch, D)`.

    Example:

    >>> import csdl_keras
    >>> model = csdl_keras.models.mlp((4,), num_classes=3, hidden_units=(5,))
    >>> decision_model(model).output_shape
    (None,)
    """
    kind = output_kind(model, output)
    inputs = inputs_of(model)
    decided = Decision(kind, name="decision")(rows_output_of(model))
    return keras.Model(inputs, decided, name=f"{model.name}_decision")
