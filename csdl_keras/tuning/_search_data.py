"""Checks the data of a search before its first trial trains anything."""

from typing import Any

import numpy as np
from keras_tuner.errors import FatalValueError

from csdl_keras._utils.arrays import (
    check_entries,
    check_example_shape,
    check_range,
    check_rows,
    number_array,
)
from csdl_keras.costs import check_cost_vectors
from csdl_keras.costs._tensors import tensor_or_labels


def check_search_data(hyper_model: Any, x: Any, y: Any, fit_arguments: dict[str, Any]) -> None:
    """Raises a FatalValueError, which stops a search; other errors would only fail a trial."""
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
    targets, inputs = np.asarray(y), number_array("x", x, "(N, ...)")
    check_example_shape("`x`", inputs, hyper_model.input_shape, "the `input_shape`")
    check_entries("x", inputs, np.isfinite(inputs), "finite")
    check_rows("y", targets, len(inputs), "inputs")
    if hyper_model.bounded:
        reason = ", which the cross-entropy of pre-training needs"
        hint = " Scale them, or pass reconstruction='squared_error'."
        check_range("inputs", inputs, 0, 1, reason, hint)
    if hyper_model.cost_matrix is None:
        check_cost_vectors(targets, hyper_model.num_classes)
    else:
        tensor_or_labels(targets, hyper_model.num_classes)
