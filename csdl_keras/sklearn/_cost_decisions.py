"""The base class of estimators that decide and score by costs."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import _num_samples

from csdl_keras._utils.arrays import check_rows, check_sample_weight
from csdl_keras._utils.labels import decision_labels, label_array, one_hot_hint, positions
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import check_cost_matrix, check_cost_vectors, class_means, zero_one
from csdl_keras.costs.checks import check_probabilities
from csdl_keras.costs.known import (
    AffineCosts,
    CostsLike,
    KnownCosts,
    check_known_costs,
    expected_costs,
    mean_matrix,
    vectors_of_labels,
)
from csdl_keras.costs.named_matrix import by_class
from csdl_keras.evaluation.scores import chosen_costs
from csdl_keras.prediction.decide import decisions


def given_costs(
    costs: CostsLike, num_examples: int, classes: np.ndarray, num_decisions: int | None = None
) -> tuple[KnownCosts | None, np.ndarray | None]:
    """Returns costs known when deciding or `None`, and cost vectors `(N, D)` or `None`."""
    given: Any = costs
    if not isinstance(costs, AffineCosts):
        given = by_class("costs", costs, "(N, D) or (N, K, D)", classes, of_examples=True)
    if len(given.shape) == 3:
        return check_known_costs(given, num_examples, len(classes)), None
    vectors = check_cost_vectors(given, num_decisions)
    check_rows("costs", vectors, num_examples)
    return None, vectors


def true_costs(
    y: ArrayLike, classes: np.ndarray, cost_matrix: np.ndarray | None, costs: CostsLike | None
) -> tuple[np.ndarray, KnownCosts | None]:
    """Returns the costs `(N, D)` of decisions, and the costs known when deciding or `None`."""
    labels, known, vectors = label_array("y", column_or_1d(y)), None, None
    if costs is not None:
        decisions = None if cost_matrix is None else cost_matrix.shape[1]
        known, vectors = given_costs(costs, len(labels), classes, decisions)
    if vectors is not None:
        return vectors, None
    matrix = cost_matrix if known is None else known
    if matrix is None:
        raise ValueError(
            "Without a cost matrix, `costs` of each example are needed; received None. If "
            "scikit-learn calls this, request them: set_score_request(costs=True)."
        )
    return vectors_of_labels(positions("y", labels, classes), matrix), known


def check_not_one_hot(y: ArrayLike) -> None:
    """Raises an error for one-hot rows, with a hint that scikit-learn's error lacks."""
    array = np.asarray(y)
    if hint := one_hot_hint("y", array):
        raise ValueError(f"`y` must be labels (N,); received shape {array.shape}.{hint}")


class CostDecisions(ClassifierMixin, BaseEstimator):
    """Decides by class probabilities and costs; a subclass calls `_set_costs` in `fit`."""

    classes_: np.ndarray
    cost_matrix: ArrayLike | None
    other_decisions: Sequence[object] | None
    #: Returns checked inputs of a fitted estimator.
    _check_inputs: Callable[[Any], Any]
    #: Returns class probabilities `(N, K)` of checked inputs.
    _probabilities: Callable[[Any], np.ndarray]

    def predict(self, X: ArrayLike, costs: CostsLike | None = None) -> np.ndarray:  # noqa: N803
        """Returns the label of the decision for each example, `(N,)`.

        Args:
            X: inputs.
            costs: costs known when deciding, which replace those of `fit`: a matrix for each
                example, `(N, K, D)`, `csdl_keras.costs.AffineCosts`, or one matrix `(K, D)`; `None`
                (default) decides by the costs of `fit`. In a pipeline, request them with
                `set_predict_request(costs=True)`.

        Raises:
            ValueError: if the costs fail their check, or there are no class probabilities.
        """
        x = self._check_inputs(X)
        known = self._check_known(x, costs)
        labels = self.decisions_
        if known is not None and known.shape[-1] != len(labels):
            labels = decision_labels(self.classes_, known.shape[-1], self.other_decisions)
        return labels[self._decide(x, known)]

    def predict_cost(self, X: ArrayLike, costs: CostsLike | None = None) -> np.ndarray:  # noqa: N803
        """Returns the expected cost of each decision, `(N, D)`; arguments as in `predict`."""
        x = self._check_inputs(X)
        return self._costs(x, self._check_known(x, costs))

    def score(
        self,
        X: ArrayLike,  # noqa: N803
        y: ArrayLike,
        costs: CostsLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Returns minus the average cost of the decisions, `-1/N sum_n C[y_n, d_n]`.

        Args:
            X: inputs.
            y: labels `(N,)`.
            costs: costs of each example instead of the matrix: costs known when deciding, `(N, K,
                D)` or `AffineCosts`, are used to decide and to score; cost vectors `(N, D)` only
                to score. Required if `fit` got costs of examples. In cross-validation, request
                them with `set_score_request(costs=True)`.
            sample_weight: weights `(N,)` of the examples in the average. Defaults to equal weights.
        """
        x = self._check_inputs(X)
        matrix = None if self._costs_vary and costs is None else self.cost_matrix_
        vectors, known = true_costs(y, self.classes_, matrix, costs)
        known = self._check_known(x, known)
        paid = chosen_costs(vectors, self._decide(x, known))
        if sample_weight is not None:
            sample_weight = check_sample_weight(sample_weight, paid.shape)
        return -float(np.average(paid, weights=sample_weight))

    def _set_costs(
        self, labels: np.ndarray, costs: CostsLike | None
    ) -> tuple[KnownCosts | None, np.ndarray | None]:
        """Sets `cost_matrix_` and `decisions_`; returns known costs, and cost vectors."""
        size, others, matrix = len(self.classes_), self.other_decisions, self.cost_matrix
        known, vectors = None, None
        if size < 2:
            raise ValueError(f"`y` needs at least 2 classes; received one class, {self.classes_}.")
        if costs is not None and matrix is not None:
            raise ValueError("Pass either `costs` or a `cost_matrix`; received both.")
        if matrix is not None:
            self.cost_matrix_ = check_cost_matrix(matrix, size, square=False, classes=self.classes_)
        elif costs is None:
            # Costs given to `predict` later may have decisions other than classes.
            self.cost_matrix_, others = zero_one(size), None
        else:
            known, vectors = given_costs(costs, len(labels), self.classes_)
            if vectors is not None:
                self.cost_matrix_ = class_means(labels, vectors)
            if known is not None:
                self.cost_matrix_ = mean_matrix(known)
        self.decisions_ = decision_labels(self.classes_, self.cost_matrix_.shape[1], others)
        self._decides_by_mean, self._costs_vary = known is not None, costs is not None
        return known, vectors

    def _check_known(self, x: Any, costs: CostsLike | None) -> KnownCosts | None:
        """Returns checked costs known when deciding; `None` for the estimator's own decision."""
        if costs is not None:
            size = len(self.classes_)
            return check_known_costs(costs, _num_samples(x), size, self.classes_)
        return self.cost_matrix_ if self._decides_by_mean else None

    def _costs(self, x: Any, known: KnownCosts | None) -> np.ndarray:
        """Returns the expected costs of decisions, by `known` costs or else those of `fit`."""
        by = self.cost_matrix_ if known is None else known
        return expected_costs(check_probabilities(self._probabilities(x)), by)

    def _decide(self, x: Any, known: KnownCosts | None) -> np.ndarray:
        return decisions(self._costs(x, known), "cost")
