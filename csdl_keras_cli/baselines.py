"""Builds the baselines: scikit-learn classifiers and boosted trees from other packages."""

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from csdl_keras_cli.columns import Columns

#: Scikit-learn's boosting accepts at most this many categories in a column.
_MOST_CATEGORIES = 255


def baseline(name: str, columns: Columns | None, seed: int) -> Any:
    """Returns an unfitted baseline by its name; without `columns`, one for images."""
    return _MADE[name](columns, seed)


def _logistic(columns: Columns | None, seed: int) -> Any:
    regression = LogisticRegression(max_iter=300)
    if columns is None:  # Pixels all have the same scale.
        return regression
    categories = list(columns.categorical)
    numbers = [place for place in range(columns.width) if place not in categories]
    filled = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    encoded = make_column_transformer(
        (make_pipeline(filled, StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore"), categories),
    )
    return make_pipeline(encoded, regression)


def _boosting(columns: Columns | None, seed: int) -> Any:
    sizes = {} if columns is None else columns.categorical
    few = [place for place, size in sizes.items() if size <= _MOST_CATEGORIES]
    boosting = HistGradientBoostingClassifier(categorical_features=few or None, random_state=seed)
    return make_pipeline(_FilledColumns(), boosting)


class _FilledColumns(TransformerMixin, BaseEstimator):
    """Fills columns that have no values with zeros, since boosting cannot bin them."""

    def fit(self, X: Any, y: Any = None) -> "_FilledColumns":  # noqa: N803
        self.empty_ = np.isnan(X).all(axis=0)
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        return np.where(self.empty_, 0.0, X)


def _other(module: str, name: str, columns: Columns | None, seed: int, **arguments: Any) -> Any:
    """Returns a classifier from an optional package."""
    return getattr(importlib.import_module(module), name)(random_state=seed, **arguments)


_MADE: dict[str, Callable[..., Any]] = {
    "logistic": _logistic,
    "boosting": _boosting,
    "forest": lambda _, seed: RandomForestClassifier(n_jobs=-1, random_state=seed),
    "lightgbm": functools.partial(_other, "lightgbm", "LGBMClassifier", verbosity=-1),
    "xgboost": functools.partial(_other, "xgboost", "XGBClassifier"),
    "catboost": functools.partial(
        _other, "catboost", "CatBoostClassifier", verbose=0, allow_writing_files=False
    ),
}
