"""Finds the class probabilities inside models that output expected costs."""

import weakref
from typing import Any, NamedTuple

import keras
import numpy as np

from csdl_keras._utils.data_model import with_data
from csdl_keras._utils.keras_graph import inner_output, layer_of, sources_of
from csdl_keras._utils.structure import has_structure, inputs_of
from csdl_keras._utils.types import Classifier, Tensor
from csdl_keras.layers import (
    BayesDecision,
    ClassProbabilities,
    ExpectedCost,
    PriorAdjustment,
    TemperatureScaling,
    ViewMean,
)
from csdl_keras.prediction.kind import output_kind

# A part that is asked for again predicts without being compiled again.
_PARTS: weakref.WeakKeyDictionary[keras.Model, keras.Model] = weakref.WeakKeyDictionary()
#: Layers behind which probabilities are still those under the same class frequencies.
_KEEPING_PRIORS = (ClassProbabilities, TemperatureScaling, ViewMean, keras.layers.Average)


class CostsEnding(NamedTuple):
    """The end of a model that turns class probabilities into expected costs."""

    #: The last layer; `None` for a mean of several models.
    layer: BayesDecision | ExpectedCost | None
    probabilities: Tensor
    #: What the layer is given as its second input; `None` if it has a matrix.
    costs: Tensor | None

    def costs_of(self, probabilities: Tensor) -> Tensor:
        """Returns the expected costs under other probabilities, by a cost matrix of their own."""
        if isinstance(self.layer, ExpectedCost):
            return self.layer(probabilities, log_costs=self.costs)
        assert self.layer is not None
        if self.costs is None:
            return copied_decision(self.layer)(probabilities)
        return self.layer(probabilities, self.costs)


def copied_decision(decision: BayesDecision) -> BayesDecision:
    """Returns a layer with a cost matrix of its own, so that one model's can be set alone."""
    copy = BayesDecision.from_config(decision.get_config())
    copy.build((None, decision.num_classes))
    copy.set_weights(decision.get_weights())
    return copy


def costs_ending(model: keras.Model) -> CostsEnding | None:
    """Returns the end of a model of expected costs, also of a nested one; `None` for others."""
    if not has_structure(model) or len(model.outputs) != 1:
        return None
    # A layer that several models share has several inputs; the history has this model's.
    return _ending(model.outputs[0])


def _ending(output: Tensor) -> CostsEnding | None:
    layer, sources = layer_of(output), sources_of(output)
    if isinstance(layer, (BayesDecision, ExpectedCost)):
        probabilities, *costs = sources
        return CostsEnding(layer, probabilities, costs[0] if costs else None)
    if isinstance(layer, keras.layers.Average):
        found = [_ending(end) for end in sources]
        ends = [part.probabilities for part in found if part is not None]
        # A mean of expected costs under one matrix is that under the mean probabilities.
        mean = type(layer)(dtype=layer.dtype_policy)(ends) if len(ends) == len(found) else None
        return None if mean is None else CostsEnding(None, mean, None)
    inner = costs_ending(layer)
    if inner is None:
        return None

    # The tensors of the nested model as those of the model around it.
    outside = {id(own): given for own, given in zip(layer.inputs, sources, strict=True)}
    # Without the input of costs, if there is one, on which probabilities do not depend.
    kept = [own for own in layer.inputs if own is not inner.costs]
    ends = [
        end for end in (inner.probabilities, inner.costs) if id(end) not in {*outside, id(None)}
    ]
    # One part, since Keras loads no file of several that share layers.
    values = keras.Model(kept, ends)([outside[id(own)] for own in kept])
    outside |= {id(end): value for end, value in zip(ends, values, strict=True)}
    return CostsEnding(inner.layer, outside[id(inner.probabilities)], outside.get(id(inner.costs)))


def adjusted_to(probabilities: Tensor) -> list[np.ndarray]:
    """Returns the class frequencies that symbolic probabilities have been adjusted to.

    There are none, one, or one for each model of a mean.
    """
    layer = layer_of(probabilities)
    if isinstance(layer, PriorAdjustment):
        return [layer.to_priors]
    if isinstance(layer, keras.Model):
        return adjusted_to(inner_output(probabilities))
    if not isinstance(layer, _KEEPING_PRIORS):
        return []
    return [priors for part in sources_of(probabilities) for priors in adjusted_to(part)]


def split_inputs(model: keras.Model, ending: CostsEnding | None) -> tuple[Any, Tensor | None]:
    """Returns a model's inputs without that of its costs, and that, which most models lack."""
    inputs = inputs_of(model)
    costs = None if ending is None else ending.costs
    if costs is None or not any(costs is end for end in model.inputs):
        return inputs, None
    if isinstance(inputs, dict):
        return {name: end for name, end in inputs.items() if end is not costs}, costs
    kept = [end for end in inputs if end is not costs]
    return kept[0] if len(kept) == 1 else kept, costs


def probability_model(model: Classifier, output: str | None = None) -> keras.Model | None:
    """Returns the part of a classifier that outputs class probabilities, sharing its layers.

    That is the model itself if it outputs probabilities; of a model of expected costs the part
    before its costs; `None` for a model that estimates costs without probabilities. `output` is as
    in `csdl_keras.output_kind`.
    """
    if not isinstance(model, keras.Model):
        return None
    if output_kind(model, output) == "probability":
        return model
    if model not in _PARTS:
        ending = costs_ending(model)
        if ending is None:
            return None
        name = f"{model.name}_probabilities"
        part = keras.Model(split_inputs(model, ending)[0], ending.probabilities, name=name)
        _PARTS[model] = with_data(part, model)
    return _PARTS[model]
