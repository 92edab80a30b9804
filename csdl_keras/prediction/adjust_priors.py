"""Adjusts classifiers and probabilities to class frequencies that differ from training."""

from typing import Any

import keras
import numpy as np

from csdl_keras._utils.keras_private import layer_of, sources_of
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.priors import LEAST_PROBABILITY, class_shares, prior_ratios
from csdl_keras.evaluation.calibration_error import probabilities_by_class
from csdl_keras.layers import PriorAdjustment
from csdl_keras.prediction.bayes_classifier import adjusted_to
from csdl_keras.prediction.calibrate import probability_part, with_probabilities


def adjust_priors(
    model_or_probabilities: keras.Model | ArrayLike,
    from_priors: ArrayLike,
    to_priors: ArrayLike,
    from_logits: bool = False,
    classes: Any = None,
) -> Any:
    """Adjusts a classifier, or its probabilities, to other class frequencies.

    `P'(y|x) = w_y P(y|x) / sum_k w_k P(k|x)` with `w_y = to_priors[y] / from_priors[y]`. This is
    exact if the examples of each class look as they did in training, and if the probabilities are
    right under its frequencies, see `csdl_keras.calibrate`. Nothing is trained.

    Args:
        model_or_probabilities: probabilities `(N, K)`, or `(N,)` or `(N, 1)` of class 1; or a
            model, as for `csdl_keras.calibrate`.
        from_priors: `(K,)` class frequencies of training, above 0, as shares or counts. For a model
            that has been adjusted, those that it was adjusted to.
        to_priors: `(K,)` class frequencies of use, at least 0, such as those of
            `csdl_keras.evaluation.estimate_priors`.
        from_logits: whether a classifier's output is logits. Defaults to False.
        classes: the labels, or the model or estimator that has them, which determine the order of
            series and of a data frame of probabilities. `None` (default) uses those of the model.

    Returns:
        A float64 array `(N, K)` of probabilities; or a functional `keras.Model` with the same kind
        of output, where a single unit becomes `(batch, 2)` probabilities.

    Raises:
        ValueError: if the model has been adjusted to frequencies that differ from `from_priors`.

    References:
        - [Saerens, Latinne, Decaestecker: Adjusting the outputs of a classifier to new a priori
          probabilities, Neural Computation 2002](https://doi.org/10.1162/089976602753284446)

    Example:

    >>> adjust_priors([[0.5, 0.5]], from_priors=[1, 1], to_priors=[9, 1])
    array([[0.9, 0.1]])
    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, "softmax")])
    >>> adjust_priors(model, from_priors=[1, 1], to_priors=[9, 1]).output_shape
    (None, 2)
    """
    if isinstance(model_or_probabilities, keras.Model):
        model = model_or_probabilities
        _, probabilities, ending = probability_part(model, from_logits)
        number = int(probabilities.shape[-1])
        known = model if classes is None else classes
        layer = layer_of(probabilities)
        again = isinstance(layer, PriorAdjustment)
        before = class_shares("from_priors", from_priors, number, not again, known)
        for adjusted in adjusted_to(probabilities):
            # Frequencies that were rounded for reading differ by less.
            if not np.allclose(before, adjusted, rtol=0.02, atol=0):
                raise ValueError(
                    f"The model has been adjusted to the shares {adjusted.round(6).tolist()}, but "
                    f"`from_priors` are {before.round(6).tolist()}. Pass the former."
                )
        if again:
            before, probabilities = layer.from_priors, sources_of(probabilities)[0]
        after = class_shares("to_priors", to_priors, number, False, known)
        weighted = PriorAdjustment(before, after)(probabilities)
        return with_probabilities(model, ending, weighted, "adjusted")
    rows = probabilities_by_class(model_or_probabilities, classes=classes)
    before = class_shares("from_priors", from_priors, rows.shape[1], classes=classes)
    after = class_shares("to_priors", to_priors, rows.shape[1], False, classes)
    weighted = np.maximum(rows, LEAST_PROBABILITY) * prior_ratios(before, after)
    return weighted / weighted.sum(axis=1, keepdims=True)
