"""What anybody would try first: classifiers of scikit-learn, and boosted trees of others."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

#: Most categories of a column that boosting of scikit-learn takes as such.
_MOST_CATEGORIES = 255


def baseline(name: str, categories: Mapping[int, int], seed: int) -> Any:
    """Returns an unfitted classifier of encoded rows, NaN where missing.

    Args:
        name: one of `choices.BASELINES`.
        categories: the numbers of categories by the indices of columns that have some.
        seed: seed of everything random.
    """
    return _MADE[name](categories, seed)


def _logistic(categories: Mapping[int, int], seed: int) -> Any:
    def is_number(rows: np.ndarray) -> list[int]:
        return [place for place in range(rows.shape[1]) if place not in categories]

    numbers = make_pipeline(
        SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True),
        StandardScaler(),
    )
    coded = OneHotEncoder(handle_unknown="ignore")
    encoded = make_column_transformer((numbers, is_number), (coded, list(categories)))
    return make_pipeline(encoded, LogisticRegression(max_iter=300))


def _boosting(categories: Mapping[int, int], seed: int) -> Any:
    few = [place for place, size in categories.items() if size <= _MOST_CATEGORIES]
    return HistGradientBoostingClassifier(
        categorical_features=few or None, early_stopping=True, random_state=seed
    )


def _forest(categories: Mapping[int, int], seed: int) -> Any:
    return RandomForestClassifier(n_jobs=-1, random_state=seed)


def _other(module: str, name: str, **arguments: Any) -> Callable[[Mapping[int, int], int], Any]:
    """Returns what makes a classifier of a package that is not required."""

    def make(categories: Mapping[int, int], seed: int) -> Any:
        return getattr(importlib.import_module(module), name)(random_state=seed, **arguments)

    return make


_MADE: dict[str, Callable[[Mapping[int, int], int], Any]] = {
    "logistic": _logistic,
    "boosting": _boosting,
    "forest": _forest,
    "lightgbm": _other("lightgbm", "LGBMClassifier", verbosity=-1),
    "xgboost": _other("xgboost", "XGBClassifier"),
    "catboost": _other("catboost", "CatBoostClassifier", verbose=0, allow_writing_files=False),
}
