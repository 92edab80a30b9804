"""Inputs of the estimator: arrays, and data frames with categories and missing values."""

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data

from csdl_keras._utils.frames import Columns, as_table, is_frame
from csdl_keras._utils.types import ArrayLike

Estimator = TypeVar("Estimator", bound=BaseEstimator)
P = ParamSpec("P")
Fit = Callable[Concatenate[Estimator, P], Estimator]


def keeps_state(fit: Fit[Estimator, P]) -> Fit[Estimator, P]:
    """Makes a `fit` that raises leave its estimator as it was, fitted or not."""

    @functools.wraps(fit)
    def keeping(self: Estimator, *args: P.args, **kwargs: P.kwargs) -> Estimator:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return keeping


def fitted_inputs(estimator: BaseEstimator, X: Any, y: ArrayLike) -> tuple[Any, np.ndarray]:  # noqa: N803
    """Returns the inputs and labels of `fit`; data frames that are not all numbers as a `Table`."""
    table = as_table(X)
    if table is None or not (table.columns.categorical or np.isnan(table.rows).any()):
        return validate_data(estimator, X, y, dtype="float32", allow_nd=True)
    validate_data(estimator, X, skip_check_array=True)  # names and number of columns
    labels = column_or_1d(y)
    check_consistent_length(table.rows, labels)
    for label in labels.tolist():
        if label is None or label != label:
            raise ValueError(f"Expected `y` without missing labels; received {label!r}.")
    return table, labels


def encoded(columns: Columns, X: Any) -> np.ndarray:  # noqa: N803
    """Returns the rows of a data frame as the numbers that the estimator was fitted on."""
    if not is_frame(X):
        raise ValueError(
            f"Expected a data frame with the columns {list(columns.names)}, as in `fit`; received "
            f"{type(X).__name__}."
        )
    return columns.encode(X).astype("float32")
