"""Checks of what a search is given, before its first trial trains anything."""

from typing import Any

import numpy as np
from keras_tuner.errors import FatalValueError

from csdl_keras.costs import check_cost_vectors
from csdl_keras.costs._tensors import tensor_or_labels


def check_search_data(hyper_model: Any, x: Any, y: Any, fit_arguments: dict[str, Any]) -> None:
    """Raises an error that stops a search; any other would only fail a trial."""
    try:
        _check_validation(hyper_model, fit_arguments)
        if y is not None:
            _check_arrays(hyper_model, x, y)
    except ValueError as error:
        raise FatalValueError(str(error)) from error


def _check_validation(hyper_model: Any, fit_arguments: dict[str, Any]) -> None:
    validation = fit_arguments.get("validation_data")
    if validation is None and not fit_arguments.get("validation_split"):
        raise ValueError(
            "Expected `validation_data` or `validation_split` in tuner.search(...), since trials "
            "are compared by 'val_average_cost'; received neither."
        )
    if isinstance(validation, (tuple, list)) and len(validation) > 1:
        _check_arrays(hyper_model, *validation[:2])


def _check_arrays(hyper_model: Any, x: Any, y: Any) -> None:
    inputs, targets = np.asarray(x), np.asarray(y)
    if inputs.shape[1:] != hyper_model.input_shape or len(inputs) != len(targets):
        raise ValueError(
            f"Expected inputs of shape (N, {str(hyper_model.input_shape)[1:]} and N targets; "
            f"received shapes {inputs.shape} and {targets.shape}."
        )
    if inputs.dtype.kind not in "iuf" or not np.isfinite(inputs).all():
        raise ValueError("Expected inputs of finite real numbers; received others.")
    if hyper_model.bounded and (inputs.min() < 0 or inputs.max() > 1):
        raise ValueError(
            "Expected inputs in [0, 1], as the cross-entropy of pre-training demands; received "
            f"values from {inputs.min():.6g} to {inputs.max():.6g}. Scale them, or pass "
            "reconstruction='squared_error'."
        )
    if hyper_model.cost_matrix is None:
        check_cost_vectors(targets, hyper_model.num_classes)
    else:
        tensor_or_labels(targets, hyper_model.num_classes)
