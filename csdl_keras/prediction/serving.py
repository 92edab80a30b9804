"""Builds models that output decisions, their costs, or both."""

import keras

from csdl_keras._utils.checks import check_bool
from csdl_keras._utils.data_model import with_data
from csdl_keras._utils.structure import inputs_of, output_of
from csdl_keras._utils.tensors import examples_shape
from csdl_keras._utils.types import Tensor
from csdl_keras.layers import BayesDecision, ClassProbabilities, Decision
from csdl_keras.prediction.bayes_classifier import (
    COST_MATRIX,
    check_classifier,
    class_probabilities,
    costs_ending,
    input_of_costs,
    split_inputs,
)
from csdl_keras.prediction.kind import describe_output, output_kind


def serving_model(
    model: keras.Model,
    output: str | None = None,
    from_logits: bool = False,
    cost_matrix_input: bool = False,
) -> keras.Model:
    """Builds a model that outputs both decisions and expected costs, for servers.

    The costs are the outputs of a model of costs; for probabilities they are `1 - p_k`, the
    expected costs if every mistake costs 1. With `cost_matrix_input=True` they are
    `sum_y P(y|x) C[y, k]` for a matrix `C` that is another input.

    Args:
        model: a model that outputs costs `(batch, ..., D)`, probabilities `(batch, ..., K)`, or
            `(batch, ..., 1)`, the probability of class 1. Its layers are shared.
        output: as in `csdl_keras.output_kind`.
        from_logits: whether the output is logits. Defaults to False.
        cost_matrix_input: whether one cost matrix for the whole call is an input, for a classifier
            or a model of expected costs, whose own costs are then ignored. Defaults to False.

    Returns:
        A functional `keras.Model` with the outputs `"decision"`, int32 `(batch,)`, as of
        `csdl_keras.decide`, and `"costs"`, float32 `(batch, D)`. They are -1 and NaN for a row that
        is not a distribution or contains NaN, and for costs that are negative or not finite. A
        single input is named `"inputs"`, several keep their names. If costs are an input, inputs
        are a dict with `"cost_matrix"`: `(K, D)` with `cost_matrix_input=True`, else
        `(batch, K, D)`, or `(1, K, D)` for all. Models with `known_costs` have that input, too.

    Raises:
        ValueError: if outputs are several or of unknown kind, or lack probabilities for a matrix.

    Example:

    >>> import csdl_keras
    >>> classifier = csdl_keras.models.mlp((4,), num_classes=2, hidden_units=(5,))
    >>> served = serving_model(csdl_keras.bayes_classifier(classifier, [[0, 1], [9, 0]]))
    >>> {name: end.shape for name, end in served.output.items()}
    {'decision': (None,), 'costs': (None, 2)}
    """
    inputs_of(model)
    check_bool("cost_matrix_input", cost_matrix_input)
    ending, kind = costs_ending(model), "probability"
    ends, own_costs = split_inputs(model, ending)
    known = getattr(model, "known_costs", None)
    priced = cost_matrix_input or own_costs is not None or known is not None
    if (
        from_logits
        or output == "probability"
        or (ending is None and output_kind(model, output) == kind)
    ):
        check_classifier(model, from_logits)
        values = class_probabilities(model, from_logits)
    elif not priced:
        kind, values = output_kind(model, output), output_of(model)
    elif ending is not None:
        values = ending.probabilities
    else:
        raise ValueError(
            f"cost_matrix_input=True needs class probabilities, but {model.name!r} ends in "
            f"{describe_output(model)[1]}, whose costs do not come from a matrix. Pass a "
            "classifier, or a model that ends in BayesDecision."
        )
    examples_shape("output", values)
    # As one layer, its names cannot clash with new ones, and its inputs can be renamed.
    part = keras.Model(ends, values, name=model.name)

    def new_input(end: Tensor) -> Tensor:
        """Returns an input for any batch size, of another name if it is the only one."""
        name = "inputs" if end is ends else end.name
        return keras.Input(end.shape[1:], dtype=end.dtype, name=name)

    inputs = keras.tree.map_structure(new_input, ends)
    values = part(inputs)
    if priced:
        inputs = {end.name: end for end in keras.tree.flatten(inputs)}
        classes = values.shape[-1]
        decisions = classes if ending is None else model.outputs[0].shape[-1]
        decisions = decisions if known is None else len(known[0])
        shape = (classes, decisions) if cost_matrix_input else (None, classes, decisions)
        inputs[COST_MATRIX] = input_of_costs(shape)
        decision = BayesDecision(num_classes=classes, num_decisions=decisions)
        kind, values = "cost", decision(values, inputs[COST_MATRIX])
    costs = values
    if kind == "probability":
        costs = keras.layers.Rescaling(-1.0, 1.0, dtype=values.dtype)(values)
    outputs = {
        "decision": Decision(kind, name="decision")(values),
        "costs": keras.layers.Activation("linear", dtype="float32", name="costs")(costs),
    }
    return with_data(keras.Model(inputs, outputs, name=f"{model.name}_serving"), model)


def decision_model(model: keras.Model, output: str | None = None) -> keras.Model:
    """Builds a model that outputs the argmin of costs or the argmax of probabilities.

    Args:
        model: a model that outputs costs `(batch, ..., D)` or probabilities
            `(batch, ..., K)` or `(batch, ..., 1)`. Its layers are shared.
        output: as in `csdl_keras.output_kind`.

    Returns:
        A functional `keras.Model` from the same inputs to int32 decisions `(batch, ...)`. They are
        -1 for a row with NaN, or for one that contradicts `output="probability"`.

    Example:

    >>> import csdl_keras
    >>> model = csdl_keras.models.mlp((4,), num_classes=3, hidden_units=(5,))
    >>> decision_model(model).output_shape
    (None,)
    """
    kind = output_kind(model, output)
    inputs, values = inputs_of(model), output_of(model)
    if kind == "probability" and describe_output(model)[0] != "probability":
        values = ClassProbabilities(name="class_probabilities")(values)
    decided = Decision(kind, name="decision")(values)
    return with_data(keras.Model(inputs, decided, name=f"{model.name}_decision"), model)
