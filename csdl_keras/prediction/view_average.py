"""Averages what a model says of an image and of shifted copies of it."""

import keras

from csdl_keras._utils.data_model import with_data
from csdl_keras._utils.structure import inputs_of
from csdl_keras.layers import ExpectedCost, ImageViews, ViewMean
from csdl_keras.prediction.kind import output_kind
from csdl_keras.prediction.probability_model import costs_ending


def view_average(model: keras.Model, pixels: int = 1, flip: bool = False) -> keras.Model:
    """Averages a model's outputs over shifted, and mirrored, copies of each image.

    `1/V sum_v f(t_v(x))` over the image itself, four copies shifted by some pixels, and with
    `flip` these five mirrored left to right. Their mean makes fewer mistakes and is better
    calibrated, at `V` times the arithmetic. It is part of the model: saved and exported with it.
    In a model of expected costs from `ExpectedCostModel.cost_model` the class probabilities and
    the logarithms of the costs of each class are averaged.

    Args:
        model: a classifier of images `(height, width, channels)` that outputs probabilities, or
            such a model of expected costs. Its layers are shared.
        pixels: pixels of the shifts; 0 is no shift. Defaults to 1.
        flip: whether images are mirrored too. Defaults to False.

    Returns:
        A functional `keras.Model` of the same inputs and outputs.

    Raises:
        ValueError: if an argument is out of range, or the model takes no images of a known size
            or outputs neither.

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
            f"Expected a model of probabilities; received {model.name!r}, which outputs costs. "
            "Average the views of a classifier first, then pass it to bayes_classifier."
        )
    return with_data(keras.Model(inputs, outputs, name=f"{model.name}_views"), model)
