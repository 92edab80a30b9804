"""A model whose output is the decided class."""

import keras

from csdl_keras._ops import inputs_of, rows_output_of
from csdl_keras.layers import ClassProbabilities, Decision
from csdl_keras.output_kind import describe_output, output_kind


def decision_model(model: keras.Model, output: str | None = None) -> keras.Model:
    """Puts the decision into the model: argmin of costs, argmax of probabilities.

    Args:
        model: a model that outputs costs `(batch, D)` or probabilities
            `(batch, K)` or `(batch, 1)`. Its layers are shared.
        output: `"cost"` or `"probability"`; `None` (default) recognises it from
            the last layer, see `csdl_keras.output_kind`.

    Returns:
        A functional `keras.Model`, the same inputs to int32 decisions
        `(batch,)`; the lowest index wins a tie, -1 marks a row with NaN, or that is no
        distribution where `output` alone says that it should be.

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
    inputs, values = inputs_of(model), rows_output_of(model)
    if kind == "probability" and describe_output(model)[0] != "probability":
        values = ClassProbabilities(name="class_probabilities")(values)
    decided = Decision(kind, name="decision")(values)
    return keras.Model(inputs, decided, name=f"{model.name}_decision")
