"""Turns classifiers into models of expected costs, and finds the probabilities inside these."""

import weakref
from typing import Any, NamedTuple

import keras
import numpy as np

from csdl_keras._utils.checks import check_bool
from csdl_keras._utils.data_model import DataModel, with_data
from csdl_keras._utils.keras_private import inner_output, layer_of, sources_of
from csdl_keras._utils.structure import has_structure, inputs_of, output_of
from csdl_keras._utils.tensors import float_dtype
from csdl_keras._utils.types import ArrayLike, Classifier, Shape, Tensor
from csdl_keras.costs.named_matrix import by_class
from csdl_keras.layers import (
    BayesDecision,
    ClassProbabilities,
    ExpectedCost,
    InverseLink,
    MatrixScaling,
    PriorAdjustment,
    TemperatureScaling,
    ViewMean,
)
from csdl_keras.prediction.kind import MEANING, check_loss, describe_output, output_kind

#: Name of the input for costs.
COST_MATRIX = "cost_matrix"
# Parts are kept, so that Keras does not compile their `predict` again.
_PARTS: weakref.WeakKeyDictionary[keras.Model, keras.Model] = weakref.WeakKeyDictionary()
#: Layers that do not change the class frequencies under which probabilities are right.
_KEEPING_PRIORS = (
    *(ClassProbabilities, MatrixScaling, TemperatureScaling),
    *(ViewMean, keras.layers.Average),
)


# Models that earlier versions saved use this name.
@keras.saving.register_keras_serializable(package="csdl_keras", name="BayesClassifier")
class BayesModel(DataModel):
    """Functional model that `bayes_classifier` returns; its `predict` raises on NaN."""

    def set_cost_matrix(self, cost_matrix: ArrayLike) -> None:
        """Replaces the costs by which the model decides; nothing is trained or compiled again.

        `cost_matrix` is array-like `(K, D)`, `C[true, decision]`, of the shape of the model's own;
        mean costs by class if the model has mean costs.
        """
        matrix = by_class("cost_matrix", cost_matrix, "(K, D)", self)
        layer_of(self.outputs[0]).set_cost_matrix(matrix)

    def predict(self, x: Any, **kwargs: Any) -> np.ndarray:
        """Returns `(N, ..., D)` expected costs, as `keras.Model.predict` does; raises on NaN."""
        costs = super().predict(x, **kwargs)
        wrong = np.isnan(costs).any(axis=-1)
        if wrong.any():
            raise ValueError(
                f"{wrong.sum()} of {wrong.size} rows of the classifier are not probabilities that "
                "sum to 1, or costs that are inputs are not finite and at least 0. If its outputs "
                "are logits, pass from_logits=True to bayes_classifier."
            )
        return costs


def bayes_classifier(
    model: keras.Model,
    cost_matrix: ArrayLike | None = None,
    from_logits: bool = False,
    mean_costs: bool = False,
    cost_input: bool = False,
    num_decisions: int | None = None,
) -> BayesModel:
    """Makes any classifier decide at the lowest expected cost.

    The returned model outputs `r_k(x) = sum_y P(y|x) C[y, k]`, the expected cost of each decision
    (equation (4) of the paper), and shares the layers of `model`. Nothing is trained.

    Args:
        model: a classifier whose output is `(batch, ..., K)` probabilities (or logits), or
            `(batch, ..., 1)`, the probability (or logit) of class 1.
        cost_matrix: array-like `(K, D)`, `C[true, decision]`; `K = 2` for one unit. A data frame
            is put into the order of `model.classes`, if the model has them. May be `None` (default)
            only with `cost_input=True`.
        from_logits: whether the output is logits. Defaults to False.
        mean_costs: whether the matrix contains mean costs by class, `csdl_keras.costs.class_means`;
            then right decisions may have a cost. Defaults to False.
        cost_input: whether costs of each example, `(batch, K, D)`, are an input, `"cost_matrix"`,
            instead of a matrix inside. Defaults to False.
        num_decisions: `D` with `cost_input=True`; `None` (default) is one for each class.

    Returns:
        A `BayesModel` from the same inputs to expected costs `(batch, ..., D)`. With
        `cost_input=True`, costs are the last input, as in `[x, costs]`, or a dict's entry.

    Raises:
        ValueError: if the matrix is invalid, or the last layer or the compiled loss shows a
            different kind of output. Otherwise, `predict` raises on rows that do not sum to 1.

    Example:

    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, "softmax")])
    >>> careful = bayes_classifier(model, [[0, 1], [100, 0]])
    >>> careful.output_shape
    (None, 2)
    """
    check_classifier(model, from_logits)
    if cost_matrix is None and not cost_input:
        raise ValueError("Pass a `cost_matrix`, or cost_input=True for costs of each example.")
    classes, inputs = max(int(model.outputs[0].shape[-1]), 2), inputs_of(model)
    given: list[Tensor] = [class_probabilities(model, from_logits)]
    if cost_matrix is not None:
        cost_matrix = by_class("cost_matrix", cost_matrix, "(K, D)", model)
    if check_bool("cost_input", cost_input):
        num_decisions = classes if num_decisions is None else num_decisions
        given.append(input_of_costs((None, classes, num_decisions)))
        if isinstance(inputs, dict):
            inputs = {**inputs, COST_MATRIX: given[1]}
        else:
            inputs = [*(inputs if isinstance(inputs, (list, tuple)) else [inputs]), given[1]]
    decision = BayesDecision(
        cost_matrix, classes, num_decisions, mean_costs=mean_costs, name="bayes_decision"
    )
    return with_data(BayesModel(inputs, decision(*given), name=f"{model.name}_bayes"), model)


def input_of_costs(shape: Shape) -> Tensor:
    """Returns an input for costs; `shape` begins with the batch."""
    return keras.Input(batch_shape=tuple(shape), dtype=float_dtype(), name=COST_MATRIX)


def class_probabilities(model: keras.Model, from_logits: bool) -> Tensor:
    """Returns the output of a classifier as `(batch, ..., max(K, 2))` rows that sum to 1."""
    output = model.outputs[0]
    proper = (ClassProbabilities, MatrixScaling, PriorAdjustment, TemperatureScaling)
    if isinstance(layer_of(output), proper):
        return output
    return ClassProbabilities(from_logits, name="class_probabilities")(output)


def check_classifier(model: keras.Model, from_logits: bool) -> None:
    """Raises if the structure of the model shows that it is not a classifier."""
    check_bool("from_logits", from_logits)
    output_of(model)
    kind, layer = describe_output(model)
    if kind not in ("unknown", *(("other", "score") if from_logits else ("probability",))):
        wanted = "logits" if from_logits else "probabilities that sum to 1"
        raise ValueError(
            f"With from_logits={from_logits}, a classifier outputs {wanted}. {model.name!r} ends "
            f"in {layer}, so it {MEANING[kind]}."
        )
    check_loss(model, "logits" if from_logits else "probability")


class CostsEnding(NamedTuple):
    """The end of a model that turns class probabilities into expected costs."""

    #: The last layer; `None` for a mean of several models.
    layer: BayesDecision | ExpectedCost | None
    probabilities: Tensor
    #: The layer's second input; `None` if it has a matrix.
    costs: Tensor | None

    def costs_of(self, probabilities: Tensor) -> Tensor:
        """Returns the expected costs under other probabilities, from a copy of the matrix."""
        if isinstance(self.layer, ExpectedCost):
            return self.layer(probabilities, log_costs=self.costs)
        assert self.layer is not None
        if self.costs is not None:
            return self.layer(probabilities, self.costs)
        # The layer is copied, so that each model's matrix can be set separately.
        copy = BayesDecision.from_config(self.layer.get_config())
        costs = copy(probabilities)
        copy.set_weights(self.layer.get_weights())
        return costs


def costs_ending(model: keras.Model) -> CostsEnding | None:
    """Returns the end of a model of expected costs, even if nested; `None` for other models."""
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

    # This maps tensors of the nested model to those of the model around it.
    outside = {id(own): given for own, given in zip(layer.inputs, sources, strict=True)}
    # Probabilities do not depend on the input of costs, if there is one.
    kept = [own for own in layer.inputs if own is not inner.costs]
    ends = [
        end for end in (inner.probabilities, inner.costs) if id(end) not in {*outside, id(None)}
    ]
    # They form one part, since Keras cannot load files of several models that share layers.
    values = keras.Model(kept, ends)([outside[id(own)] for own in kept])
    outside |= {id(end): value for end, value in zip(ends, values, strict=True)}
    return CostsEnding(inner.layer, outside[id(inner.probabilities)], outside.get(id(inner.costs)))


def adjusted_to(probabilities: Tensor) -> list[np.ndarray]:
    """Returns the frequencies that probabilities, of each model of a mean, are adjusted to."""
    layer = layer_of(probabilities)
    if isinstance(layer, PriorAdjustment):
        return [layer.to_priors]
    if isinstance(layer, keras.Model):
        return adjusted_to(inner_output(probabilities))
    if not isinstance(layer, _KEEPING_PRIORS):
        return []
    return [priors for part in sources_of(probabilities) for priors in adjusted_to(part)]


def split_inputs(model: keras.Model, ending: CostsEnding | None) -> tuple[Any, Tensor | None]:
    """Returns a model's inputs for examples, and its input for costs or `None`."""
    inputs = inputs_of(model)
    costs = None if ending is None else ending.costs
    if costs is None or not any(costs is end for end in model.inputs):
        return inputs, None
    if isinstance(inputs, dict):
        return {name: end for name, end in inputs.items() if end is not costs}, costs
    kept = [end for end in inputs if end is not costs]
    return kept[0] if len(kept) == 1 else kept, costs


def probability_model(model: Classifier, output: str | None = None) -> keras.Model | None:
    """Returns the part of a model that outputs class probabilities, or `None` if none does."""
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


def cost_estimator(model: keras.Model, link: str = "log", cost_scale: float = 1.0) -> keras.Model:
    """Turns a model that outputs logarithms or logits of costs into one that outputs costs.

    Decisions stay the same. Ensembles and comparisons with the cost of abstaining need costs.

    Args:
        model: a model trained with `PoissonCostLoss` (link `"log"`) or
            `LogisticCostLoss` (link `"logit"`). Its layers are shared.
        link: `"log"` (default) or `"logit"`.
        cost_scale: `cost_scale` of that loss. Defaults to 1.

    Returns:
        A functional `keras.Model` from the same inputs to `(batch, ..., D)` costs.

    Example:

    >>> import csdl_keras
    >>> network = csdl_keras.models.mlp((4,), 3, (5,), output="cost")
    >>> network.compile("sgd", csdl_keras.losses.PoissonCostLoss(cost_scale=0.1))
    >>> csdl_keras.output_kind(cost_estimator(network, "log", cost_scale=0.1))
    'cost'
    """
    inputs = inputs_of(model)
    costs = InverseLink(link, cost_scale, name="costs")(output_of(model))
    return with_data(keras.Model(inputs, costs, name=f"{model.name}_costs"), model)
