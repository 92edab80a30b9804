"""Calibrates class probabilities on held-out examples."""

from typing import Any

import keras
import numpy as np
from keras import layers

from csdl_keras._utils.arrays import check_sample_weight
from csdl_keras._utils.checks import check_choice, check_number
from csdl_keras._utils.data_model import with_data
from csdl_keras._utils.keras_private import layer_of, sources_of
from csdl_keras._utils.labels import own_classes, positions
from csdl_keras._utils.streams import as_stream, joined_labels
from csdl_keras._utils.structure import check_inputs, inputs_of
from csdl_keras._utils.types import ArrayLike, Tensor
from csdl_keras.costs.checks import labels_of_rank
from csdl_keras.layers import (
    BiasCorrectedTemperatureScaling,
    ClassProbabilities,
    MatrixScaling,
    TemperatureScaling,
)
from csdl_keras.layers.probabilities import LEAST_KNOWN, SMALLEST_PROBABILITY
from csdl_keras.prediction.bayes_classifier import (
    BayesModel,
    CostsEnding,
    check_classifier,
    class_probabilities,
    costs_ending,
    split_inputs,
)

_METHODS = ("matrix", "bias_corrected", "temperature")
#: The standard deviation of `V`'s prior, relative to the other priors: this on the diagonal, and
#: this divided by `K` elsewhere. Chosen by cost on the sets of `benchmarks/calibration_maps.py`.
_MATRIX_SPREAD = 0.3
_ROWS = 2**18

# Layers that may end in one logistic unit for each example, time or pixel.
_ENDS = (layers.Activation, layers.Dense, layers.Conv1D, layers.Conv2D, layers.Conv3D)


def calibrate(
    model: keras.Model,
    x_val: Any,
    y_val: Any = None,
    method: str = "temperature",
    from_logits: bool = False,
    batch_size: int | None = None,
    spread: float | None = 1.0,
    sample_weight: ArrayLike | None = None,
) -> keras.Model:
    """Calibrates a classifier's probabilities on examples it was not trained on.

    It minimises the negative log-likelihood of the validation labels,
    `-sum_n ln softmax(ln(p_n) (I + V) / T + b)[y_n]`, over a temperature `T` and, depending on
    `method`, a bias `b` for each class and a matrix `V`. Normal priors add
    `(ln(T)^2 + |b|^2 + |V / S|^2) / (2 spread^2)` to that sum, where `S` is 0.3 on the diagonal and
    `0.3 / K` elsewhere. They keep the minimum finite, and `V` near 0, on few examples.

    Args:
        model: a classifier, as for `csdl_keras.bayes_classifier`; or a model of expected costs from
            there or from `ExpectedCostModel.cost_model`, whose costs stay the same. Its layers are
            shared, but a last logistic unit and a cost matrix are copied.
        x_val: inputs that were not trained on, as for `csdl_keras.decide`, without costs.
        y_val: labels `(N,)`, or `(N, ...)` for each pixel: integers, or values of `model.classes`.
            For the path of a Parquet file, the name of the column of labels; `None` (default) for
            a data set of batches `(inputs, labels)`.
        method: `"temperature"` (default), which keeps the argmax; `"bias_corrected"` fits a
            temperature and biases, and `"matrix"` all three, of probabilities of at least 1e-4.
        from_logits: whether a classifier's output is logits. Defaults to False.
        batch_size: as in `keras.Model.predict`.
        spread: standard deviation of priors, 1e-6 to 1e6; `None` for no priors. Defaults to 1.
        sample_weight: weights of the shape of `y_val`, relative to their mean. Defaults to `None`.

    Returns:
        A functional `keras.Model` that outputs calibrated probabilities
        `(batch, ..., max(K, 2))`, or expected costs if `model` does.

    References:
        - [Guo et al.: On calibration of modern neural networks, ICML
          2017](https://proceedings.mlr.press/v70/guo17a.html)
        - [Berta, Holzmüller, Jordan, Bach: Structured matrix scaling for multi-class calibration,
          2025](https://arxiv.org/abs/2511.03685)

    Example:

    >>> import csdl_keras
    >>> classifier = csdl_keras.models.mlp((4,), num_classes=3, hidden_units=(5,))
    >>> x, y = np.random.default_rng(0).normal(size=(50, 4)), np.arange(50) % 3
    >>> calibrated = calibrate(classifier, x, y)
    >>> csdl_keras.output_kind(calibrated), calibrated.output_shape
    ('probability', (None, 3))
    """
    check_choice("method", method, _METHODS)
    if spread is not None:
        check_number("spread", spread, 1e-6, 1e6)
    inputs, probabilities, ending = probability_part(model, from_logits)
    classes = int(probabilities.shape[-1])
    # `predict` of a BayesModel raises on rows that are not distributions.
    part, outputs = BayesModel(inputs, probabilities), None
    if (stream := as_stream(x_val, y_val)) is not None:
        found, given = [], []
        for block, its_labels in stream:
            rows = check_inputs(part, block)
            found.append(part.predict(rows, batch_size=batch_size or 1024, verbose=0))
            given.append(its_labels)
        outputs, y_val = np.concatenate(found), joined_labels(given)
    known = getattr(model, "classes", None)
    if known is not None and own_classes("y_val", y_val) is not None:
        y_val = positions("y_val", y_val, known)
    labels = labels_of_rank(y_val, classes, len(probabilities.shape) - 1)
    if sample_weight is not None:
        sample_weight = check_sample_weight(sample_weight, labels.shape).ravel()
    if outputs is None:
        outputs = part.predict(check_inputs(part, x_val), batch_size=batch_size, verbose=0)
    if labels.shape != outputs.shape[:-1]:
        raise ValueError(
            f"Expected `y_val` of shape {outputs.shape[:-1]}, a label for each row of outputs; "
            f"received shape {labels.shape}."
        )
    by_class = outputs.reshape(-1, classes)
    matrix, bias = fit_scaling(by_class, labels.ravel(), method, spread, sample_weight)
    # No layer has this name, even if a loaded model is calibrated again.
    name = f"{model.name}_{method}"
    if method == "matrix":
        scaling: Any = MatrixScaling(matrix, bias, name=name)
    elif method == "bias_corrected":
        scaling = BiasCorrectedTemperatureScaling(1.0 / matrix[0, 0], bias, name=name)
    else:
        scaling = TemperatureScaling(1.0 / matrix[0, 0], name=name)
    return with_probabilities(model, ending, scaling(probabilities), "calibrated")


def with_temperature(model: keras.Model, temperature: float) -> keras.Model:
    """Returns a classifier whose probabilities `p` are `softmax(ln(p) / temperature)`."""
    _, probabilities, ending = probability_part(model, from_logits=False)
    scaled = TemperatureScaling(temperature, name=f"{model.name}_temperature")(probabilities)
    return with_probabilities(model, ending, scaled, "calibrated")


def probability_part(
    model: keras.Model, from_logits: bool
) -> tuple[Any, Tensor, CostsEnding | None]:
    """Returns a model's inputs without costs, its class probabilities and its end in costs."""
    ending = costs_ending(model)
    if ending is not None and ending.layer is not None:
        return split_inputs(model, ending)[0], _of_logit(ending.probabilities), ending
    check_classifier(model, from_logits)
    return inputs_of(model), _of_logit(class_probabilities(model, from_logits)), None


def with_probabilities(
    model: keras.Model, ending: CostsEnding | None, probabilities: Tensor, name: str
) -> keras.Model:
    """Returns a model with the end of `model`, whose cost matrix, if there is one, is copied."""
    inputs, name = inputs_of(model), f"{model.name}_{name}"
    if ending is None:
        return with_data(keras.Model(inputs, probabilities, name=name), model)
    return with_data(BayesModel(inputs, ending.costs_of(probabilities), name=name), model)


def _of_logit(probabilities: Tensor) -> Tensor:
    """Returns probabilities, of a logistic unit from its logit, as it rounds to 1 above 17."""
    ends = layer_of(probabilities)
    if not isinstance(ends, ClassProbabilities) or ends.from_logits:
        return probabilities
    output = sources_of(probabilities)[0]
    layer = layer_of(output)
    logistic = getattr(layer, "activation", None) is keras.activations.sigmoid
    if output.shape[-1] != 1 or not logistic or not isinstance(layer, _ENDS):
        return probabilities
    config = {**layer.get_config(), "activation": "linear", "name": f"{layer.name}_logit"}
    twin = type(layer).from_config(config)
    logit = twin(sources_of(output)[0])
    twin.set_weights(layer.get_weights())
    return ClassProbabilities(from_logits=True, name="class_probabilities")(logit)


def fit_scaling(
    probabilities: np.ndarray,
    labels: np.ndarray,
    method: str,
    spread: float | None = 1.0,
    sample_weight: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the matrix `(K, K)` and bias `(K,)` that make the labels `(N,)` most likely.

    The matrix is that of `MatrixScaling`; for other methods it is the identity divided by `T`.
    """
    from scipy.optimize import minimize  # This is slow to import.
    from scipy.special import log_softmax

    with_bias, with_matrix = method != "temperature", method == "matrix"
    floor = LEAST_KNOWN if with_matrix else SMALLEST_PROBABILITY
    logs = np.log(np.maximum(np.asarray(probabilities, "float64"), floor))
    size, classes = logs.shape
    identity = np.eye(classes)
    # A constant added to all logits of an example changes no probability, so it is removed.
    centring = identity - 1.0 / classes
    logs -= logs.mean(axis=1, keepdims=True)
    shares = np.ones(size) if sample_weight is None else sample_weight
    shares = shares / shares.sum()
    spreads = [np.ones(1 + classes * with_bias)]
    if with_matrix:
        spreads.append(_MATRIX_SPREAD * np.where(identity, 1.0, 1.0 / classes).ravel())
    deviations = np.concatenate(spreads)
    weights = 0.0 if spread is None else 1.0 / ((spread * deviations) ** 2 * size)

    def parts(values: np.ndarray) -> tuple[float, Any, Any]:
        bias = values[1 : 1 + classes] if with_bias else 0.0
        more = values[1 + classes :].reshape(classes, classes) if with_matrix else None
        return float(np.exp(-values[0])), bias, more

    def likelihood(values: np.ndarray) -> tuple[float, np.ndarray]:
        sharpness, bias, more = parts(values)
        total, gradient = 0.5 * np.sum(weights * values**2), weights * values
        for start in range(0, size, _ROWS):  # All rows at once would need several times the memory.
            own = slice(start, start + _ROWS)
            sharpened = sharpness * (logs[own] if more is None else logs[own] + logs[own] @ more)
            found = log_softmax(sharpened + bias, axis=1)
            error, chosen = np.exp(found), (np.arange(len(found)), labels[own])
            total -= shares[own] @ found[chosen]
            error[chosen] -= 1.0
            error *= shares[own, None]
            gradients = [[-np.sum(error * sharpened)]]
            if with_bias:
                gradients.append(error.sum(axis=0))
            if with_matrix:
                gradients.append(sharpness * (logs[own].T @ error).ravel())
            gradient = gradient + np.concatenate(gradients)
        return total, gradient

    # No data need larger values, whose exponentials could overflow.
    bounds = [(-20.0, 20.0)] + [(None, None)] * (len(deviations) - 1)
    # If classes are separable, the likelihood is so flat that the default tolerances stop early.
    options = {"ftol": 0.0, "gtol": 1e-10}
    start = np.zeros(len(deviations))
    values = minimize(
        likelihood, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    ).x
    sharpness, bias, more = parts(values)
    matrix = sharpness * (identity if more is None else centring @ (identity + more))
    return matrix, bias if with_bias else np.zeros(classes)
