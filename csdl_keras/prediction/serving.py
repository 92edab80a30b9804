"""Builds models that output decisions, with or without their costs."""

from typing import Any

import keras
from keras import ops

from csdl_keras._utils.checks import OUTPUTS, check_bool, check_choice
from csdl_keras._utils.data_model import with_data
from csdl_keras._utils.structure import has_structure, inputs_of, output_of, rows_output_of
from csdl_keras._utils.types import Tensor
from csdl_keras.layers import BayesDecision, ClassProbabilities, Decision
from csdl_keras.outputs.kind import describe_output, output_kind
from csdl_keras.prediction.bayes_classifier import check_classifier, class_probabilities

COST_MATRIX = "cost_matrix"


def serving_model(
    model: keras.Model,
    output: str | None = None,
    from_logits: bool = False,
    cost_matrix_input: bool = False,
) -> keras.Model:
    """Builds a model that outputs both decisions and expected costs, for servers.

    The costs are the outputs of a model of costs; for probabilities they are
    `1 - p_k`, the expected costs where every mistake costs 1. For other costs pass
    `bayes_classifier(model, cost_matrix)`. With `cost_matrix_input=True` they are
    `sum_y P(y|x) C[y, k]` for a matrix `C` that is an input as well, so that costs
    can change without another model.

    Args:
        model: a model that outputs costs `(batch, D)`, probabilities
            `(batch, K)`, or `(batch, 1)`, the probability of class 1. Its layers
            are shared.
        output: `"cost"` or `"probability"`; `None` (default) recognises it from
            the last layer, see `csdl_keras.output_kind`.
        from_logits: whether the output is logits, `(batch, K)` or `(batch, 1)`.
            Defaults to False.
        cost_matrix_input: whether the cost matrix is an input. The model must be
            a classifier, or end in `BayesDecision`, whose own matrix is not used.
            Defaults to False.

    Returns:
        A functional `keras.Model` with the outputs `"decision"`, int32
        `(batch,)`, the same as those of `csdl_keras.decide`, and `"costs"`, float32
        `(batch, D)`. The lowest index wins a tie; a row that is not a distribution
        or holds NaN gets NaN and -1. Its inputs are those of `model`. With
        `cost_matrix_input=True` they are a dict by name, where a single input is
        `"inputs"`, with `"cost_matrix"`, `(K, D)` without a batch: call such a
        model, since `predict` would split the matrix into batches.

    Raises:
        ValueError: if the last layer does not tell and `output` is None, the
            model's inputs are not known, it has several outputs, or it has no
            probabilities to multiply a matrix with.

    Example:

    >>> import csdl_keras
    >>> classifier = csdl_keras.models.mlp((4,), num_classes=2, hidden_units=(5,))
    >>> served = serving_model(csdl_keras.bayes_classifier(classifier, [[0, 1], [9, 0]]))
    >>> {name: end.shape for name, end in served.output.items()}
    {'decision': (None,), 'costs': (None, 2)}
    >>> served = serving_model(classifier, cost_matrix_input=True)
    >>> prices = ops.array([[0.0, 1.0], [9.0, 0.0]])
    >>> answer = served({"inputs": ops.ones((3, 4)), "cost_matrix": prices})
    >>> answer["costs"].shape[0]
    3
    """
    ends = inputs_of(model)
    check_bool("cost_matrix_input", cost_matrix_input)
    check_bool("from_logits", from_logits)
    if output is not None:
        check_choice("output", output, OUTPUTS)
    if from_logits and output == "cost":
        raise ValueError("Expected from_logits=True only of a classifier; received output='cost'.")
    kind, num_decisions = "cost", None
    if cost_matrix_input:
        values, num_decisions = _probabilities_to_price(model, output, from_logits)
    elif from_logits or output_kind(model, output) == "probability":
        kind, values = "probability", _class_probabilities(model, from_logits)
    else:
        values = output_of(model)
    if len(values.shape) != 2:
        raise ValueError(f"Expected an output of shape (batch, D); received {tuple(values.shape)}.")
    # As one layer, so that its names cannot clash with new ones, and inputs can be renamed.
    part = keras.Model(ends, values, name=model.name)
    inputs = _new_inputs(ends)
    values = part(inputs)
    if cost_matrix_input:
        inputs = {end.name: end for end in keras.tree.flatten(inputs)}
        if COST_MATRIX in inputs:
            raise ValueError(f"Expected a model without an input {COST_MATRIX!r} of its own.")
        shape = (values.shape[-1], num_decisions)
        inputs[COST_MATRIX] = keras.Input(batch_shape=shape, name=COST_MATRIX)
        costs = values = ops.matmul(values, inputs[COST_MATRIX])
    elif kind == "probability":
        costs = keras.layers.Rescaling(-1.0, 1.0, dtype=values.dtype)(values)
    else:
        costs = values
    outputs = {
        "decision": Decision(kind, name="decision")(values),
        "costs": keras.layers.Activation("linear", dtype="float32", name="costs")(costs),
    }
    return keras.Model(inputs, outputs, name=f"{model.name}_serving")


def _new_inputs(ends: Tensor) -> Tensor:
    """Returns new inputs like a model's, of any batch size; a single one is named `inputs`."""
    if isinstance(ends, dict):
        return {name: _new_input(end, name) for name, end in ends.items()}
    if isinstance(ends, (list, tuple)):
        return [_new_input(end, end._keras_history.operation.name) for end in ends]
    return _new_input(ends, "inputs")


def _new_input(end: Tensor, name: str) -> Tensor:
    # Runtimes take NumPy arrays, and NumPy has no bfloat16.
    dtype = "float32" if end.dtype == "bfloat16" else end.dtype
    return keras.Input(end.shape[1:], dtype=dtype, name=name)


def _class_probabilities(model: keras.Model, from_logits: bool) -> Tensor:
    check_classifier(model, from_logits)
    return class_probabilities(model, from_logits)


def _probabilities_to_price(
    model: keras.Model, output: str | None, from_logits: bool
) -> tuple[Tensor, int]:
    """Returns the probabilities to multiply a cost matrix with, and its number of columns."""
    if from_logits or output == "probability":
        found = None
    else:
        found = _before_bayes_decision(output_of(model))
    if found is not None:
        return found
    if not from_logits and output_kind(model, output) == "cost":
        raise ValueError(
            "Expected a model with class probabilities inside for cost_matrix_input=True: a "
            f"classifier, or one that ends in BayesDecision; received {model.name!r}, which ends "
            f"in {describe_output(model)[1]}, whose costs do not come from a matrix."
        )
    probabilities = _class_probabilities(model, from_logits)
    return probabilities, probabilities.shape[-1]


def _before_bayes_decision(tensor: Tensor) -> tuple[Tensor, int] | None:
    """Returns a `BayesDecision`'s input and number of decisions, if a tensor is its output.

    The layer may be inside nested models.
    """
    history = tensor._keras_history
    layer: Any = history.operation
    node = layer._inbound_nodes[history.node_index]
    if isinstance(layer, BayesDecision):
        return node.input_tensors[0], layer.num_decisions
    found = _before_bayes_decision(output_of(layer)) if has_structure(layer) else None
    if found is None:
        return None
    part = keras.Model(inputs_of(layer), found[0])
    return part(*node.arguments.args, **node.arguments.kwargs), found[1]


def decision_model(model: keras.Model, output: str | None = None) -> keras.Model:
    """Builds a model that outputs the argmin of costs or the argmax of probabilities.

    Args:
        model: a model that outputs costs `(batch, D)` or probabilities
            `(batch, K)` or `(batch, 1)`. Its layers are shared.
        output: `"cost"` or `"probability"`; `None` (default) recognises it from
            the last layer, see `csdl_keras.output_kind`.

    Returns:
        A functional `keras.Model`, the same inputs to int32 decisions `(batch,)`. The
        lowest index wins a tie. The decision is -1 for a row with NaN, and where
        `output` alone says that rows are distributions, for one that is not.

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
    return with_data(keras.Model(inputs, decided, name=f"{model.name}_decision"), model)
