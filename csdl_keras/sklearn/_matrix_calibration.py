"""Matrix scaling of any classifier's probabilities on held-out examples."""

from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_validate

from csdl_keras._utils.labels import positions
from csdl_keras._utils.types import ArrayLike
from csdl_keras.layers.probabilities import LEAST_KNOWN
from csdl_keras.prediction.calibrate import fit_scaling


class MatrixCalibratedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier fitted to all examples, with probabilities calibrated by matrix scaling."""

    def __init__(self, estimator: Any, cv: Any = 5):
        self.estimator = estimator
        self.cv = cv

    def fit(self, X: ArrayLike, y: np.ndarray, sample_weight: Any = None) -> Self:  # noqa: N803
        weights = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
        self.estimator_ = clone(self.estimator).fit(X, y, **weights)
        self.classes_ = np.asarray(self.estimator_.classes_)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        held_out, places = [], np.arange(len(y))
        if isinstance(self.estimator, FrozenEstimator):
            held_out.append(self._probabilities(self.estimator_, X))
        else:

            def hold_out(fitted: Any, x: Any, labels: Any) -> float:
                held_out.append(self._probabilities(fitted, x))
                return 0.0

            options = {"return_indices": True, "error_score": "raise", "params": weights}
            found = cross_validate(self.estimator, X, y, cv=self.cv, scoring=hold_out, **options)
            places = np.concatenate(found["indices"]["test"])
        rows, labels = np.concatenate(held_out), positions("y", y[places], self.classes_)
        own = weights.get("sample_weight", np.ones(len(y)))[places]
        # An example of weight 2 counts like two examples, also relative to the prior.
        spread = float(np.sqrt(own.mean()))
        self.matrix_, self.bias_ = fit_scaling(rows, labels, "matrix", spread, own)
        return self

    def predict_proba(self, X: ArrayLike) -> np.ndarray:  # noqa: N803
        rows = np.maximum(self._probabilities(self.estimator_, X), LEAST_KNOWN)
        return softmax(np.log(rows) @ self.matrix_ + self.bias_, axis=1)

    def _probabilities(self, fitted: Any, x: ArrayLike) -> np.ndarray:
        """Returns the probabilities of all classes, 0 for classes that were not in a fold."""
        if hasattr(fitted, "predict_proba"):
            rows = fitted.predict_proba(x)
        else:
            scores = fitted.decision_function(x)
            if scores.ndim == 1:  # These are scores of the second class only.
                scores = np.stack([np.zeros(len(scores)), scores], axis=1)
            rows = softmax(scores, axis=1)
        found = np.zeros((len(rows), len(self.classes_)))
        found[:, positions("classes_", fitted.classes_, self.classes_)] = rows
        return found
