"""Makes scikit-learn classifiers decide for the lowest expected cost."""

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from csdl_keras._utils.checks import check_choice
from csdl_keras._utils.labels import label_array, positions
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.known import CostsLike, KnownCosts
from csdl_keras.sklearn._cost_decisions import CostDecisions, check_not_one_hot
from csdl_keras.sklearn._matrix_calibration import MatrixCalibratedClassifier


class BayesClassifier(MetaEstimatorMixin, CostDecisions):
    """Makes a scikit-learn classifier decide for the lowest expected cost.

    The decision is `d_n = argmin_k sum_y P(y|x_n) C[n, y, k]`, with the classifier's probabilities
    calibrated on held-out folds: by matrix scaling, as in `csdl_keras.calibrate`, or by
    `sklearn.calibration.CalibratedClassifierCV`. Pass a fitted classifier as
    `sklearn.frozen.FrozenEstimator(classifier)`; `fit` then only calibrates it, and needs examples
    on which it was not fitted.

    Args:
        estimator: a classifier with `predict_proba`, or with `decision_function` if it is
            calibrated.
        cost_matrix: `(K, D)`, `C[true, decision]`, in the order of `classes_`, or a pandas
            data frame with rows and columns named after the classes. `None` (default) is 0/1 costs,
            with a warning, unless `fit` or `predict` gets costs.
        calibration: `"matrix"` (default), matrix scaling with a prior for few examples;
            `"isotonic"`, `"sigmoid"`, `"temperature"`, which does not correct wrong class
            frequencies, or `None` for uncalibrated probabilities.
        cv: number of folds, or any other `cv` of `CalibratedClassifierCV`. Defaults to 5.
        other_decisions: labels of decisions other than classes, as in `CostSensitiveClassifier`.

    Attributes:
        classes_: `(K,)` the labels, sorted, or in the order of a frozen classifier.
        decisions_: `(D,)` the label that `predict` returns for each column of costs.
        cost_matrix_: `(K, D)`; if examples have their own costs, their mean.
        estimator_: the fitted classifier, calibrated unless `calibration` is `None`.
        n_features_in_: as in scikit-learn, if the classifier has it.
        feature_names_in_: as in scikit-learn, if the classifier has them.

    Raises:
        ValueError: in `fit`, if an argument or array fails its check, or, except with `"matrix"`,
            if a class has fewer examples than there are folds.

    References:
        - [Berta, Holzmüller, Jordan, Bach: Structured matrix scaling for multi-class calibration,
          2025](https://arxiv.org/abs/2511.03685)
        - Zadrozny, Elkan: Transforming classifier scores into accurate multiclass
          probability estimates, KDD 2002

    Example:

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from csdl_keras.costs import AffineCosts
    >>> from csdl_keras.sklearn import BayesClassifier
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(200, 3)), np.arange(200) % 10 == 0
    >>> model = BayesClassifier(LogisticRegression(), cost_matrix=[[0, 1], [9, 0]]).fit(x, y)
    >>> model.predict_cost(x[:2]).shape
    (2, 2)
    >>> # Blocking a payment costs 5, missing a fraud costs its amount.
    >>> costs = AffineCosts([3.0, 900.0], per_unit=[[0, 0], [1, 0]], fixed=[[0, 5], [0, 5]])
    >>> model.predict(x[:2], costs=costs)
    array([False,  True])
    """

    def __init__(
        self,
        estimator: Any,
        cost_matrix: ArrayLike | None = None,
        calibration: str | None = "matrix",
        cv: Any = 5,
        other_decisions: Sequence[object] | None = None,
    ):
        self.estimator = estimator
        self.cost_matrix = cost_matrix
        self.calibration = calibration
        self.cv = cv
        self.other_decisions = other_decisions

    def fit(
        self,
        X: ArrayLike,  # noqa: N803
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        costs: CostsLike | None = None,
    ) -> Self:
        """Fits and calibrates the classifier.

        Args:
            X: inputs that the classifier accepts.
            y: labels `(N,)` of any type that the classifier accepts.
            sample_weight: weights `(N,)` of the examples for the classifier and the calibration.
            costs: costs of each example, to decide by their means if `predict` gets none: cost
                vectors `(N, D)`, or costs known when deciding, `(N, K, D)` or
                `csdl_keras.costs.AffineCosts`.
        """
        estimator = clone(self.estimator)
        frozen = isinstance(estimator, FrozenEstimator)
        if self.calibration is not None:
            methods = ("matrix", "isotonic", "sigmoid", "temperature")
            check_choice("calibration", self.calibration, methods)
        if self.calibration == "matrix":
            estimator = MatrixCalibratedClassifier(estimator, self.cv)
        elif self.calibration is not None:
            if frozen and not np.array_equal(estimator.classes_, np.unique(estimator.classes_)):
                estimator = FrozenEstimator(_SortedClasses(estimator.estimator))
            estimator = CalibratedClassifierCV(estimator, method=self.calibration, cv=self.cv)
        check_not_one_hot(y)
        check_consistent_length(X, y)
        targets = label_array("y", column_or_1d(y, warn=True))
        check_classification_targets(targets)
        self.classes_ = np.asarray(self.estimator.classes_) if frozen else np.unique(targets)
        labels = positions("y", targets, self.classes_)
        self._set_costs(labels, costs)
        ascending = np.unique(self.classes_)
        if self.calibration == "temperature":
            # scikit-learn's temperature scaling treats labels that are not strings as indices.
            targets = positions("y", targets, ascending)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = estimator.fit(X, targets, **weights)
        columns = ascending if self.calibration == "temperature" else self.estimator_.classes_
        self._columns = positions("classes_", self.classes_, columns)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict_proba(self, X: ArrayLike) -> np.ndarray:  # noqa: N803
        """Returns class probabilities `(N, K)`, in the order of `classes_`."""
        return self._probabilities(self._check_inputs(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _check_inputs(self, X: ArrayLike) -> ArrayLike:  # noqa: N803
        check_is_fitted(self)
        return X

    def _probabilities(self, x: ArrayLike) -> np.ndarray:
        return self.estimator_.predict_proba(x)[:, self._columns]

    def _decide(self, x: ArrayLike, known: KnownCosts | None) -> np.ndarray:
        if known is None and self.cost_matrix is None and not self._costs_vary:
            warnings.warn(
                "BayesClassifier was given no costs and decides for the most probable class. Pass "
                "BayesClassifier(..., cost_matrix=...), or `costs=` to `fit` or `predict`.",
                stacklevel=3,
            )
        return super()._decide(x, known)


class _SortedClasses(ClassifierMixin, BaseEstimator):
    """A fitted classifier, such as CatBoost's, with its classes in scikit-learn's sorted order."""

    def __init__(self, estimator: Any):
        self.estimator = estimator
        self.classes_ = np.unique(estimator.classes_)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:  # noqa: N803
        return self.estimator.predict(X)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:  # noqa: N803
        order = positions("classes_", self.classes_, self.estimator.classes_)
        return self.estimator.predict_proba(X)[:, order]

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)
