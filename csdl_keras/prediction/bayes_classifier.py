"""Makes classifiers decide at the lowest expected cost."""

from typing import Any

import keras
import numpy as np

from csdl_keras._utils.checks import check_bool
from csdl_keras._utils.data_model import DataModel, with_data
from csdl_keras._utils.structure import inputs_of
from csdl_keras._utils.types import ArrayLike, Tensor
from csdl_keras.layers import BayesDecision, ClassProbabilities, TemperatureScaling
from csdl_keras.outputs.kind import describe_output


@keras.saving.register_keras_serializable(package="csdl_keras")
class BayesClassifier(DataModel):
    """Functional model that `bayes_classifier` returns, whose `predict` raises on NaN."""

    def predict(self, x: Any, **kwargs: Any) -> np.ndarray:
        """Returns `(N, D)` expected costs, as `keras.Model.predict` does.

        Raises:
            ValueError: if a row of the classifier's outputs is not a distribution.
        """
        costs = super().predict(x, **kwargs)
        wrong = int(np.isnan(costs).any(axis=1).sum())
        if wrong:
            raise ValueError(
                "Expected the classifier's rows to be probabilities that sum to 1; "
                f"received {wrong} of {len(costs)} rows that do not (or hold NaN). If they "
                "are logits, pass from_logits=True to bayes_classifier."
            )
        return costs


def bayes_classifier(
    model: keras.Model, cost_matrix: ArrayLike, from_logits: bool = False, mean_costs: bool = False
) -> BayesClassifier:
    """Makes any classifier decide at the lowest expected cost.

    The returned model outputs `r_k(x) = sum_y P(y|x) C[y, k]`, the expected
    cost of each decision, and shares the layers of `model`. Nothing is trained.

    Args:
        model: a classifier whose output is `(batch, K)` probabilities (or
            logits), or `(batch, 1)`, the probability (or logit) of class 1.
        cost_matrix: array-like `(K, D)`, `C[true, decision]`; `K = 2` for one unit.
        from_logits: whether the output is logits. Defaults to False.
        mean_costs: whether the matrix holds mean costs by class, as
            `csdl_keras.costs.class_means` returns; then right decisions may have a
            cost. Defaults to False.

    Returns:
        A `keras.Model`, the same inputs to `(batch, D)` expected costs.

    Raises:
        ValueError: if the matrix fails its check or does not fit the output; if
            the output layer's activation shows that rows do not sum to 1 and
            `from_logits` is False, or that they do and it is True. Where the
            structure does not tell, `predict` raises on rows that do not.

    References:
        - Chung, Lin, Yang, IJCAI 2016, equation (4)

    Example:

    >>> import numpy as np
    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, "softmax")])
    >>> careful = bayes_classifier(model, [[0, 1], [100, 0]])
    >>> careful.output_shape
    (None, 2)
    """
    check_classifier(model, from_logits)
    classes = max(int(model.outputs[0].shape[-1]), 2)
    decision = BayesDecision(
        cost_matrix, num_classes=classes, mean_costs=mean_costs, name="bayes_decision"
    )
    costs = decision(class_probabilities(model, from_logits))
    return with_data(BayesClassifier(inputs_of(model), costs, name=f"{model.name}_bayes"), model)


def class_probabilities(model: keras.Model, from_logits: bool) -> Tensor:
    """Returns the symbolic output of a classifier as `(batch, max(K, 2))` rows that sum to 1."""
    output = model.outputs[0]
    if isinstance(output._keras_history.operation, (ClassProbabilities, TemperatureScaling)):
        return output
    return ClassProbabilities(from_logits, name="class_probabilities")(output)


def check_classifier(model: keras.Model, from_logits: bool) -> None:
    """Raises unless the model may be a classifier, as far as its structure tells."""
    check_bool("from_logits", from_logits)
    inputs_of(model)
    if len(model.outputs) != 1 or len(model.outputs[0].shape) != 2:
        raise ValueError(
            "Expected one output of shape (batch, K); received "
            f"{[tuple(output.shape) for output in model.outputs]}."
        )
    kind, layer = describe_output(model)
    if kind == "cost":
        raise ValueError(
            f"Expected a classifier, whose outputs are class probabilities or logits; received "
            f"{model.name!r}, which outputs costs: it ends in {layer}."
        )
    if kind == "probability" and from_logits:
        raise ValueError(
            f"Expected a classifier that outputs logits with from_logits=True; received "
            f"{model.name!r}, which outputs probabilities: it ends in {layer}."
        )
    if kind in ("other", "score") and not from_logits:
        raise ValueError(
            "Expected a classifier whose rows are probabilities that sum to 1; received "
            f"{model.name!r}, which ends in {layer}. If that outputs logits, pass "
            "from_logits=True."
        )
