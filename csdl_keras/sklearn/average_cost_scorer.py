"""A scorer for scikit-learn that counts costs."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRequest

from csdl_keras._utils.checks import check_bool
from csdl_keras.costs import check_cost_matrix
from csdl_keras.evaluation import average_cost
from csdl_keras.prediction.decide import decisions
from csdl_keras.sklearn._labels import (
    check_other_decisions,
    decision_labels,
    positions,
    true_costs,
)


class AverageCostScorer:
    """What `average_cost_scorer` returns: `scorer(estimator, X, y, costs=None)`."""

    def __init__(
        self,
        cost_matrix: Any = None,
        bayes: bool = False,
        other_decisions: Sequence[Any] | None = None,
    ):
        check_bool("bayes", bayes)
        if other_decisions is not None:
            check_other_decisions(other_decisions)
        if bayes and cost_matrix is None:
            raise ValueError(
                "Expected a `cost_matrix` to decide by with bayes=True; received None."
            )
        self.cost_matrix = (
            None if cost_matrix is None else check_cost_matrix(cost_matrix, square=False)
        )
        self.bayes = bayes
        self.other_decisions = other_decisions
        self._request = MetadataRequest(owner=self)

    def __call__(self, estimator: Any, X: Any, y: Any, costs: Any = None) -> float:  # noqa: N803
        """Minus the average cost of the estimator's decisions.

        Args:
            estimator: a fitted classifier.
            X: inputs.
            y: labels `(N,)`.
            costs: `(N, D)`, what decisions cost for each example; `None`
                (default) takes the row of the cost matrix.
        """
        needed = ["classes_", "predict_proba" if self.bayes else "predict"]
        if not all(hasattr(estimator, name) for name in needed):
            raise ValueError(
                f"Expected a fitted classifier with {' and '.join(needed)}; received {estimator!r}."
            )
        classes = np.asarray(estimator.classes_)
        if self.cost_matrix is not None:
            check_cost_matrix(self.cost_matrix, len(classes), square=False)
        vectors = true_costs(y, classes, self.cost_matrix, costs)
        if self.bayes:
            chosen = decisions(estimator.predict_proba(X) @ self.cost_matrix, "cost")
        else:
            known = decision_labels(classes, vectors.shape[1], self.other_decisions)
            chosen = positions("predictions", estimator.predict(X), known)
        return -average_cost(vectors, chosen)

    def set_score_request(self, *, costs: bool | str | None) -> Self:
        """Asks for the costs of each example wherever scikit-learn calls the scorer.

        Args:
            costs: `True`, or the name under which they are handed to
                `cross_validate` and the like.

        Raises:
            RuntimeError: unless metadata routing is enabled.
        """
        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "Expected metadata routing to be enabled: "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        self._request.score.add_request(param="costs", alias=costs)
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """What it asks for, in scikit-learn's terms."""
        return self._request


def average_cost_scorer(
    cost_matrix: Any = None,
    bayes: bool = False,
    other_decisions: Sequence[Any] | None = None,
) -> AverageCostScorer:
    """Scores anybody's classifier by minus the average cost of its decisions.

    `-1/N sum_n C[y_n, d_n]`, for `scoring=` of `cross_val_score`, `GridSearchCV`
    and the like, where greater is better. Rows of the matrix are in the order of
    the classifier's `classes_`, whatever the labels are.

    Args:
        cost_matrix: `(K, D)`, `C[true, decision]`. `None` (default) only where
            each example has `costs` of its own, `(N, D)`: they reach the scorer
            by metadata routing, `scorer.set_score_request(costs=True)`, and take
            the place of the matrix's rows.
        bayes: whether to score the decisions of the lowest expected cost,
            `argmin(predict_proba(X) @ C)`, instead of `predict`. Defaults to
            False.
        other_decisions: labels that `predict` gives to decisions that are no
            class, `D > K`; `None` (default) expects those of
            `CostSensitiveClassifier`.

    Returns:
        A scorer, called with `(estimator, X, y, costs=None)`.

    Raises:
        ValueError: if an argument fails its check; when called, if the matrix
            does not fit the classes, or there are labels or predictions that
            the classifier has no class for.

    Example:

    >>> from sklearn.naive_bayes import GaussianNB
    >>> x, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"]
    >>> model = GaussianNB().fit(x, y)
    >>> matrix = [[0, 1], [5, 0]]  # to say "no" where "yes" is true costs 5
    >>> [average_cost_scorer(matrix, bayes)(model, x, y) for bayes in (False, True)]
    [-1.5, -0.5]
    """
    return AverageCostScorer(cost_matrix, bayes, other_decisions)
