"""Averages the outputs of several models, or of one model over several views of an image."""

from collections.abc import Sequence

import keras

from csdl_keras._utils.data_model import with_data
from csdl_keras._utils.structure import inputs_of, output_of
from csdl_keras._utils.tensors import head_dtype
from csdl_keras.layers import BayesDecision, ExpectedCost, ImageViews, ViewMean
from csdl_keras.prediction.bayes_classifier import (
    adjusted_to,
    bayes_classifier,
    costs_ending,
    probability_model,
)
from csdl_keras.prediction.kind import output_kind


def ensemble(members: Sequence[keras.Model], output: str | None = None) -> keras.Model:
    """Averages the outputs of several models in one model.

    The output is `1/M sum_m p_m(x)`, the mean of probabilities or of estimated costs. Members with
    the same cost matrix become a `BayesModel` of their mean probabilities.

    Args:
        members: at least one model, all with one input of the same shape and one
            output of the same shape and kind. Their layers are shared, not copied.
        output: as in `csdl_keras.output_kind`.

    Returns:
        A functional `keras.Model`.

    Raises:
        ValueError: if there is no member, members share layers, or they differ in shape, kind,
            classes, columns, cost matrix, unit, or the class frequencies of their adjustment.

    References:
        - [Lakshminarayanan, Pritzel, Blundell: Simple and scalable predictive uncertainty
          estimation using deep ensembles, NIPS 2017](https://arxiv.org/abs/1612.01474)

    Example:

    >>> import csdl_keras
    >>> members = [csdl_keras.models.mlp((4,), 3, (5,), seed=seed) for seed in range(3)]
    >>> csdl_keras.output_kind(ensemble(members))
    'probability'
    """
    members = list(members)
    if not members:
        raise ValueError("`members` is empty. Pass at least one model.")
    owners: dict[int, int] = {}
    for index, member in enumerate(members):
        output_of(member)
        for layer in member.layers:
            if layer.weights and owners.setdefault(id(layer), index) != index:
                raise ValueError(
                    f"Two members share the layer {layer.name!r}, and Keras cannot load such a "
                    "model from a file. Give each member layers of its own."
                )
    shapes = [(one.inputs[0].shape, one.outputs[0].shape) for one in members]
    _check_alike("the shapes of input and output", shapes)
    _check_alike("the kind of output", [output_kind(one, output) for one in members])
    rules = [_rule_of(member) for member in members]
    _check_alike("their cost matrix", rules)
    if rules[0] is not None:
        matrix, mean_costs = rules[0]
        mean = ensemble([probability_model(member) for member in members])
        return bayes_classifier(mean, matrix, mean_costs=mean_costs)
    priors = [[one.tolist() for one in adjusted_to(it.outputs[0])] for it in members]
    _check_alike("the class frequencies to which they are adjusted", priors)
    first = members[0].inputs[0]
    inputs = keras.Input(batch_shape=first.shape, dtype=first.dtype, name="ensemble_inputs")
    outputs = [
        keras.Model(member.inputs[0], member.outputs[0], name=f"member_{i}")(inputs)
        for i, member in enumerate(members)
    ]
    mean = outputs[0]
    if len(outputs) > 1:
        mean = keras.layers.Average(name="mean", dtype=head_dtype(None))(outputs)
    return with_data(keras.Model(inputs, mean, name="ensemble"), *members)


def _rule_of(model: keras.Model) -> tuple[list[list[float]], bool] | None:
    """Returns the cost matrix by which a model decides, and whether it contains means."""
    ending = costs_ending(model)
    if ending is None or not isinstance(ending.layer, BayesDecision) or ending.costs is not None:
        return None
    return ending.layer.get_weights()[0].tolist(), ending.layer.mean_costs


def _check_alike(what: str, found: list) -> None:
    """Raises unless the findings of all members are equal."""
    if any(one != found[0] for one in found):
        raise ValueError(f"The members differ in {what}: {found}.")


def view_average(model: keras.Model, pixels: int = 1, flip: bool = False) -> keras.Model:
    """Averages a model's outputs over shifted, and mirrored, copies of each image.

    The output is `1/V sum_v f(t_v(x))` over the image, four copies shifted by some pixels and, with
    `flip`, these five mirrored left to right. In a model from `ExpectedCostModel.cost_model`, the
    means are those of class probabilities and of logarithms of costs.

    Args:
        model: a classifier of images `(height, width, channels)` that outputs probabilities, or
            such a model of expected costs. Its layers are shared.
        pixels: number of pixels of each shift; 0 means no shift. Defaults to 1.
        flip: whether images are mirrored too. Defaults to False.

    Returns:
        A functional `keras.Model` with the same inputs and outputs.

    Example:

    >>> import csdl_keras
    >>> classifier = csdl_keras.models.convnet((8, 8, 1), 3, filters=(4, 8))
    >>> view_average(classifier).output_shape
    (None, 3)
    """
    inputs_of(model)
    ending = costs_ending(model)
    first = model.inputs[0]
    inputs = keras.Input(batch_shape=first.shape, dtype=first.dtype, name="images")
    views = ImageViews(pixels, flip)
    mean = ViewMean(views.views, dtype="float32")
    if ending is not None and isinstance(ending.layer, ExpectedCost):
        parts = keras.Model(model.inputs, [ending.probabilities, ending.costs])(views(inputs))
        outputs = ending.layer(mean(parts[0]), log_costs=mean(parts[1]))
    elif output_kind(model) == "probability":
        outputs = mean(model(views(inputs)))
    else:
        raise ValueError(
            f"{model.name!r} outputs costs. Average the views of a classifier first, then pass it "
            "to bayes_classifier."
        )
    return with_data(keras.Model(inputs, outputs, name=f"{model.name}_views"), model)
